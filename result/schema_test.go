package result

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sixnines/internal/jsonschema/generate"
)

// recordSchema is what the schema of records is made of.
func recordSchema() generate.Spec {
	of := func(kind string) map[string]any { return map[string]any{"type": kind} }
	header := of(typeHeader)
	header["format"] = Format
	return generate.Spec{
		ID: "urn:sixnines:result:2", Title: "Sixnines result file, versions 1 and 2: a record, one on each line",
		Roots:   []reflect.Type{reflect.TypeFor[Header](), reflect.TypeFor[Interval](), reflect.TypeFor[Event](), reflect.TypeFor[Summary]()},
		Sources: []string{".", "../semantics"},
		Consts:  map[string]map[string]any{"Header": header, "Interval": of(typeInterval), "Event": of(typeEvent), "Summary": of(typeSummary)},
	}
}

func TestSchemaIsPublished(t *testing.T) {
	if err := generate.Published("schema.json", recordSchema(), *update); err != nil {
		t.Error(err)
	}
}

// TestRecordsConform: what has been written is as the schema
// says, and has no key that it does not know.
func TestRecordsConform(t *testing.T) {
	for _, file := range []string{"whole.jsonl", "cut-short.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", "v1", file))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			if err := generate.Check(Schema(), line); err != nil && (file != "cut-short.jsonl" || json.Valid(line)) {
				t.Errorf("%s:%d: %v", file, i+1, err)
			}
		}
	}
	if err := generate.Check(Schema(), []byte(`{"type":"event","at":1,"kind":"x","cuont":2}`)); err == nil || !strings.Contains(err.Error(), "cuont") {
		t.Errorf("a key that no record has: %v", err)
	}
}
