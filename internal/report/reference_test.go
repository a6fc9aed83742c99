package report

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sixnines/result"
)

// TestReferenceNamesEverything: docs/reference.md names each metric, each counter
// and each key of the summary as JSON.
func TestReferenceNamesEverything(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range result.Metrics() {
		names = append(names, string(m))
	}
	for _, of := range []reflect.Type{reflect.TypeFor[result.Counters](), reflect.TypeFor[SummaryObject]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/reference.md does not name %s", name)
		}
	}
}
