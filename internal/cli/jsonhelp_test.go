package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The help of --json says whether one object or an array is printed, with the flags that make
// a difference.
func TestJSONIsWhatItsHelpSays(t *testing.T) {
	paced := filepath.Join("testdata", "compatibility", "2026-11-26-paced.jsonl")
	other := filepath.Join("testdata", "compatibility", "2026-11-23-paced.jsonl")
	for _, c := range []struct {
		line  string
		array bool
		with  string // flag that makes it an array
	}{
		{"version", false, ""},
		{"drivers list", true, ""},
		{"drivers show kafka", false, ""},
		{"drivers show kafka --permissions", true, "--permissions"},
		{"study list", true, ""},
		{"study run message-queue-latency --dry-run", true, "--dry-run"},
		{"selftest --list", true, "--list"},
		{"broker list", true, ""},
		{"nines 99", false, ""},
		{"history --by day " + paced, false, ""},
		{"compare " + other + " " + paced, false, ""},
		{"report " + paced, false, ""},
		{"verify " + paced, false, ""},
		{"doctor", false, ""},
	} {
		words := strings.Fields(c.line)
		_, out, errs := invoke(t, Env{Dir: ".", Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}, append(words, "--json")...)
		var v any
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&v); err != nil {
			t.Errorf("%s --json: %v\n%s", c.line, err, errs)
			continue
		}
		if _, array := v.([]any); array != c.array {
			t.Errorf("%s --json is an array: %v", c.line, array)
		}
		command := words[:1]
		if len(words) > 1 && (words[0] == "drivers" || words[0] == "study" || words[0] == "broker") {
			command = words[:2]
		}
		_, help, _ := invoke(t, Env{}, append(command, "--help")...)
		_, about, _ := strings.Cut(help, "\n      --json ")
		about, _, _ = strings.Cut(about, "\n      --")
		about = strings.Join(strings.Fields(about), " ")
		switch before, after, array := strings.Cut(about, "array"); {
		case !strings.HasPrefix(about, "print") && !strings.HasPrefix(about, "the same"):
			t.Errorf("%s: the help of --json is %q", c.line, about)
		case c.array && (!array || c.with != "" && !strings.Contains(before, "with "+c.with)):
			t.Errorf("%s prints an array, and its help says %q", c.line, about)
		case !c.array && array && !strings.Contains(before, "object"):
			t.Errorf("%s prints an object, and its help says %q, %q", c.line, before, after)
		}
	}
}
