package sixnines_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// NOTICE names every module that is linked into the program, on any system, and
// no others. What a directory of this tree replaces is not linked.
func TestNoticeNamesWhatIsLinked(t *testing.T) {
	text, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(line, "  ") && strings.Contains(f[0], "/") && external(f[0]) {
			named = append(named, f[0])
		}
	}
	linked := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not (and .Replace (not .Replace.Version))}}{{.Path}}{{end}}{{end}}", "./cmd/sixnines")
		c.Env = append(os.Environ(), "GOOS="+system)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		for _, m := range strings.Fields(string(out)) {
			if m != module {
				linked[m] = true
			}
		}
	}
	for m := range linked {
		if !slices.Contains(named, m) {
			t.Errorf("NOTICE does not name %s", m)
		}
	}
	for _, m := range named {
		if !linked[m] {
			t.Errorf("NOTICE names %s, which is not linked", m)
		}
	}
}
