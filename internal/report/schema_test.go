package report

import (
	"bytes"
	"reflect"
	"testing"

	"sixnines/internal/jsonschema/generate"
)

// summarySpec is what the schema of summaries is made of.
func summarySpec() generate.Spec {
	return generate.Spec{
		ID: "urn:sixnines:summary:1", Title: "Sixnines summary, version 1",
		Description: "what sixnines run --json and sixnines report --json print, an object for each workload; all times are in ns",
		Roots:       []reflect.Type{reflect.TypeFor[SummaryObject]()},
		Sources:     []string{".", "../../result"},
		Consts:      map[string]map[string]any{"SummaryObject": {"format": SummaryFormat, "version": SummaryVersion}},
	}
}

func TestSummarySchemaIsPublished(t *testing.T) {
	if err := generate.Published("summary.schema.json", summarySpec(), *update); err != nil {
		t.Error(err)
	}
}

func TestComparisonSchemaIsPublished(t *testing.T) {
	err := generate.Published("comparison.schema.json", generate.Spec{
		ID: "urn:sixnines:comparison:1", Title: "Sixnines comparison, version 1",
		Description: "what sixnines compare --json prints, an object for each workload",
		Roots:       []reflect.Type{reflect.TypeFor[comparisonObject]()},
		Sources:     []string{".", "../compare", "../actioncost", "../stats", "../../result"},
		Consts:      map[string]map[string]any{"comparisonObject": {"format": comparisonFormat, "version": comparisonVersion}},
	}, *update)
	if err != nil {
		t.Error(err)
	}
}

func TestComparisonsConform(t *testing.T) {
	for _, factor := range []float64{1, 1.2} {
		var b bytes.Buffer
		if err := CompareJSON(&b, compareSets(t, 8, factor, nil)); err != nil {
			t.Fatal(err)
		}
		if err := generate.Check(ComparisonSchema(), b.Bytes()); err != nil {
			t.Error(err)
		}
	}
}

// TestSummariesConform: what is printed is as the schema says, and has no key that it
// does not know.
func TestSummariesConform(t *testing.T) {
	stalled, lossy := stalledRun(), openRun()
	lossy.acked, lossy.lost = true, 17
	for _, run := range []synthetic{stalled, lossy} {
		var b bytes.Buffer
		if err := JSON(&b, run.make()); err != nil {
			t.Fatal(err)
		}
		if err := generate.Check(SummarySchema(), b.Bytes()); err != nil {
			t.Error(err)
		}
		if err := generate.Check(SummarySchema(), bytes.Replace(b.Bytes(), []byte(`"counters"`), []byte(`"cuonters"`), 1)); err == nil {
			t.Error("a summary without counters conforms")
		}
	}
}
