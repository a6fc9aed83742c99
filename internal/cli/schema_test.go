//go:build unix

package cli

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/internal/jsonschema/generate"
	"sixnines/internal/report"
)

// schemaSpecs are what the schemas of this package are made of, by file.
func schemaSpecs() map[string]generate.Spec {
	return map[string]generate.Spec{
		"set.schema.json": {
			ID: "urn:sixnines:set:1", Title: "Sixnines set, version 1",
			Description: "what sixnines run --repeat --json prints; all times are in ns",
			Roots:       []reflect.Type{reflect.TypeFor[setObject]()},
			Sources:     []string{".", "../report", "../actioncost", "../../result"},
			Consts: map[string]map[string]any{"setObject": {"format": setFormat, "version": setVersion},
				"SummaryObject": {"format": report.SummaryFormat, "version": report.SummaryVersion}},
			Raw: map[string]map[string]reflect.Type{"setRun": {"summary": reflect.TypeFor[report.SummaryObject]()}},
		},
		"sweep.schema.json": {
			ID: "urn:sixnines:sweep:1", Title: "Sixnines sweep, version 1", Description: "what sixnines sweep --json prints",
			Roots:   []reflect.Type{reflect.TypeFor[sweepObject]()},
			Sources: []string{".", "../sweep", "../actioncost", "../stats", "../../result"},
			Consts:  map[string]map[string]any{"sweepObject": {"format": sweepFormat, "version": sweepVersion}},
		},
		"capacity.schema.json": {
			ID: "urn:sixnines:capacity:1", Title: "Sixnines capacity, version 1", Description: "what sixnines capacity --json prints; rates are in messages a second",
			Roots:   []reflect.Type{reflect.TypeFor[capacityObject]()},
			Sources: []string{"."},
			Consts:  map[string]map[string]any{"capacityObject": {"format": capacityFormat, "version": capacityVersion}},
		},
		"shrink.schema.json": {
			ID: "urn:sixnines:shrink:1", Title: "Sixnines shrink, version 1", Description: "what sixnines chaos shrink --json prints",
			Roots:   []reflect.Type{reflect.TypeFor[shrinkObject]()},
			Sources: []string{"."},
			Consts:  map[string]map[string]any{"shrinkObject": {"format": shrinkFormat, "version": shrinkVersion}},
		},
		"check.schema.json": {
			ID: "urn:sixnines:check:1", Title: "Sixnines check, version 1", Description: "what sixnines check --json prints",
			Roots: []reflect.Type{reflect.TypeFor[checkObject]()}, Sources: []string{".", "../vitals"},
		},
		"clean.schema.json": {
			ID: "urn:sixnines:clean:1", Title: "Sixnines clean, version 1", Description: "what sixnines clean --json prints",
			Roots: []reflect.Type{reflect.TypeFor[cleanObject]()}, Sources: []string{"."},
		},
		"doctor.schema.json": {
			ID: "urn:sixnines:doctor:1", Title: "Sixnines doctor, version 1", Description: "what sixnines doctor --json prints",
			Roots: []reflect.Type{reflect.TypeFor[doctorObject]()}, Sources: []string{".", "../vitals"},
		},
		"brokers.schema.json": {
			ID: "urn:sixnines:brokers:1", Title: "Sixnines brokers, version 1", Description: "what sixnines broker list --json prints",
			Roots: []reflect.Type{reflect.TypeFor[[]brokerRow]()}, Sources: []string{"."},
		},
		"fleet.schema.json": {
			ID: "urn:sixnines:fleet:1", Title: "Sixnines fleet, version 1", Description: "what sixnines fleet list --json prints",
			Roots: []reflect.Type{reflect.TypeFor[[]agentRow]()}, Sources: []string{"."},
		},
		"fleetdoctor.schema.json": {
			ID: "urn:sixnines:fleetdoctor:1", Title: "Sixnines fleet doctor, version 1", Description: "what sixnines fleet doctor --json prints",
			Roots: []reflect.Type{reflect.TypeFor[fleetDoctorObject]()}, Sources: []string{".", "../vitals"},
		},
		"version.schema.json": {
			ID: "urn:sixnines:version:1", Title: "Sixnines version, version 1", Description: "what sixnines version --json prints",
			Roots: []reflect.Type{reflect.TypeFor[versionObject]()}, Sources: []string{"."},
		},
	}
}

func TestSchemasArePublished(t *testing.T) {
	for file, spec := range schemaSpecs() {
		if err := generate.Published(file, spec, *update); err != nil {
			t.Error(err)
		}
	}
}

// cmdConforms: conforms FORMAT FILE holds each line of the file to the schema.
func cmdConforms(ts *testscript.TestScript, _ bool, args []string) {
	for _, s := range schemas() {
		if s.name != args[0] {
			continue
		}
		for i, line := range bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile(args[1]))), []byte("\n")) {
			if err := generate.Check(s.schema(), line); err != nil {
				ts.Fatalf("%s, line %d: %v", args[1], i+1, err)
			}
		}
		return
	}
	ts.Fatalf("no format is called %s", args[0])
}
