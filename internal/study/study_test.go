package study

import (
	"os"
	"strings"
	"testing"
)

// Every study that is built in can be decoded, and all its references and scenarios
// are right: Parse checks them.
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
				text, err := c.YAML()
				if err != nil || !strings.Contains(string(text), "target:") {
					t.Errorf("%s: %v\n%s", c.Name, err, text)
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
