package study

import (
	"errors"
	"strings"
	"testing"

	"sixnines/scenario"
)

// What is found wrong with a cell's scenario later is said with its place in the study,
// whichever layer it is from.
func TestLocate(t *testing.T) {
	s, err := Parse("small.yaml", []byte(strings.Replace(smallText, "conclusions: [it]", "conclusions: []", 1)))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := s.Cells(Quick)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := cells[0].Scenario(nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, written := range map[string]string{"target.driver": `"null"`, "phases.duration": "duration: "} {
		var all scenario.Errors
		if !errors.As(cells[0].Locate(sc.Wrong(key, "it is wrong", "")), &all) || len(all) != 1 {
			t.Fatal(all)
		}
		e := all[0]
		lines := strings.Split(smallText, "\n")
		if e.File != "small.yaml" || e.Line < 1 || e.Line > len(lines) || !strings.Contains(lines[e.Line-1], written) || e.Column < 2 {
			t.Errorf("%s: %+v", key, e)
		}
	}
}
