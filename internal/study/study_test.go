package study

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"sixnines/scenario"
)

// Every study that is built in can be decoded, and all its references and scenarios
// are right: Parse checks them. What is exported of a cell is the scenario that is run.
func TestList(t *testing.T) {
	all, err := builtIn()
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

// builtIn reads the built-in studies once: it takes a second.
var builtIn = sync.OnceValues(List)

// Every test of a study can be decided at the default length, or else at the full one: its
// cells have as many rounds as it takes. Two rounds are enough where each run has an interval
// of its own.
func TestLengthsDecide(t *testing.T) {
	all, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, length := range []string{Default, Full} {
			planned, err := s.Cells(length)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.Conclusions {
				for _, x := range c.Tests {
					least := x.rounds()
					wanted := slices.DeleteFunc(append([]string{x.A, x.B}, x.Cells...), func(name string) bool { return name == "" })
					for _, pattern := range wanted {
						found := Select(planned, []string{pattern})
						if len(found) == 0 && length == Full {
							t.Errorf("%s, %s: %s is not in the length %s", s.Name, c.Name, pattern, length)
						}
						for _, cell := range found {
							if cell.Rounds < least {
								t.Errorf("%s, %s: %s has %d rounds in the length %s, and the test takes %d", s.Name, c.Name, cell.Name, cell.Rounds, length, least)
							}
						}
					}
				}
			}
		}
	}
}

// The default length of a study that follows an original makes what its conclusions compare, and
// nothing else: the rest is made under --full.
func TestDefaultServesTheConclusions(t *testing.T) {
	all, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Original == nil {
			continue
		}
		cells, err := s.Cells(Default)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range cells {
			serves := func(x Test) bool { return cell.Name == x.A || cell.Name == x.B || cellMatches(cell.Name, x.Cells) }
			_, bench := cell.Bench()
			shown := bench || s.Disturbed // seconds, or what a section is about
			if !shown && !slices.ContainsFunc(s.Conclusions, func(c Conclusion) bool { return slices.ContainsFunc(c.Tests, serves) }) {
				t.Errorf("%s: no conclusion compares %s, which the default length makes", s.Name, cell.Name)
			}
		}
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
