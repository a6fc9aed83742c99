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

func TestSetSchemaIsPublished(t *testing.T) {
	err := generate.Published("set.schema.json", generate.Spec{
		ID: "urn:sixnines:set:1", Title: "Sixnines set, version 1",
		Description: "what sixnines run --repeat --json prints; all times are in ns",
		Roots:       []reflect.Type{reflect.TypeFor[setObject]()},
		Sources:     []string{".", "../report", "../../result"},
		Consts: map[string]map[string]any{"setObject": {"format": setFormat, "version": setVersion},
			"SummaryObject": {"format": report.SummaryFormat, "version": report.SummaryVersion}},
		Raw: map[string]map[string]reflect.Type{"setRun": {"summary": reflect.TypeFor[report.SummaryObject]()}},
	}, *update)
	if err != nil {
		t.Error(err)
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
