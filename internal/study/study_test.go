package study

import (
	"os"
	"strings"
	"testing"

	"sixnines/scenario"
)

// Every study that is built in can be decoded, and all its references and scenarios
// are right: Parse checks them. What is exported of a cell is the scenario that is run.
func TestList(t *testing.T) {
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, length := range []string{Quick, Default, Full} {
			cells, err := s.Cells(length)
			if err != nil || len(cells) == 0 {
				t.Errorf("%s, %s: %d cells, %v", s.Name, length, len(cells), err)
			}
			for _, c := range cells {
				if _, ok := c.Bench(); ok {
					continue
				}
				want, err := c.Scenario(nil)
				if err != nil {
					t.Fatal(err)
				}
				text, err := c.YAML()
				if err != nil {
					t.Fatal(err)
				}
				got, err := scenario.Parse(c.Name, text)
				if err != nil {
					t.Fatalf("%s, %s: %v", length, c.Name, err)
				}
				one, err := got.Encode()
				other, wrong := want.Encode()
				if err != nil || wrong != nil || string(one) != string(other) {
					t.Errorf("%s, %s: what is exported is\n%s\nand not\n%s (%v, %v)", length, c.Name, one, other, err, wrong)
				}
			}
		}
	}
	if _, err := Find("mesage-queue-latency"); err == nil || !strings.Contains(err.Error(), "did you mean message-queue-latency?") {
		t.Error(err)
	}
}

// The page about studies lists each of them.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/studies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if !strings.Contains(string(text), "\n| `"+name+"` |") {
			t.Errorf("docs/studies.md does not list %s", name)
		}
	}
}
