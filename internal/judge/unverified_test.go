package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/reference.md lists exactly the fields that verify cannot check.
func TestUnverifiedIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "### What verify cannot check\n")
	if section, _, _ = strings.Cut(section, "\n## "); !found {
		t.Fatal("there is no such section")
	}
	var rows, want []string
	for row := range strings.Lines(section) {
		if strings.HasPrefix(row, "| `") {
			rows = append(rows, strings.TrimSpace(row))
		}
	}
	for _, u := range Unverified() {
		row := "| `" + u.Path + "` | "
		if u.Small {
			row += "a small change; "
		}
		want = append(want, row+u.Why+" |")
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("docs/reference.md has another list; write\n%s", strings.Join(want, "\n"))
	}
}

func TestFree(t *testing.T) {
	for _, tt := range []struct {
		field string
		small bool
		want  bool
	}{
		{"header/clock/read_ns", false, true},
		{"header/clock", false, true},
		{"header/size", false, false},
		{"header/size", true, false},
		{"interval/levels/*/at", true, true},
		{"interval/levels/*/at", false, false},
		{"summary/throughput/per_second", true, false},
		{"event/", false, true},
		{"header/scenario/target/options/*", false, true},
		{"header/scenario/workload/rate", false, false},
	} {
		if got := Free(tt.field, tt.small); got != tt.want {
			t.Errorf("%s, small %v: %v", tt.field, tt.small, got)
		}
	}
}
