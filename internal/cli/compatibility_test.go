package cli

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// testdata/compatibility is frozen: results that earlier versions wrote, the commands
// and flags of one of them, and the keys of its scenarios. What docs/compatibility.md
// promises of them holds here. Files are added; none is changed.

func frozenLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "compatibility", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestCommandsAndFlagsStay(t *testing.T) {
	have := map[string]bool{}
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		path := c.CommandPath()
		have[path] = true
		flag := func(f *pflag.Flag) { have[path+" --"+f.Name] = true }
		c.Flags().VisitAll(flag)
		c.InheritedFlags().VisitAll(flag)
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	add(root)
	for _, want := range frozenLines(t, "commands.txt") {
		if !have[want] {
			t.Errorf("%s is gone", want)
		}
	}
}

func TestScenarioKeysStay(t *testing.T) {
	code, out, errs := invoke(t, Env{}, "schema")
	if code != exitOK {
		t.Fatal(errs)
	}
	type node struct {
		Ref        string           `json:"$ref"`
		Defs       map[string]*node `json:"$defs"`
		AnyOf      []*node          `json:"anyOf"`
		OneOf      []*node          `json:"oneOf"`
		AllOf      []*node          `json:"allOf"`
		Properties map[string]*node `json:"properties"`
		Items      *node            `json:"items"`
		Additional json.RawMessage  `json:"additionalProperties"`
	}
	root := &node{}
	if err := json.Unmarshal([]byte(out), root); err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	var walk func(n *node, path string, depth int)
	walk = func(n *node, path string, depth int) {
		if n == nil || depth > 12 {
			return
		}
		if n.Ref != "" {
			n = root.Defs[n.Ref[strings.LastIndex(n.Ref, "/")+1:]]
		}
		for _, alternative := range slices.Concat(n.AnyOf, n.OneOf, n.AllOf) {
			walk(alternative, path, depth+1)
		}
		for key, value := range n.Properties {
			p := strings.TrimPrefix(path+"."+key, ".")
			have[p] = true
			walk(value, p, depth+1)
		}
		walk(n.Items, path+"[]", depth+1)
		var values *node // additionalProperties is a schema or a boolean
		if json.Unmarshal(n.Additional, &values) == nil {
			walk(values, path+".*", depth+1)
		}
	}
	walk(root, "", 0)
	for _, want := range frozenLines(t, "scenario-keys.txt") {
		if !have[want] {
			t.Errorf("%s is gone", want)
		}
	}
}

// figures are what a summary says of percentiles and counters.
type figures struct {
	Histograms map[string]struct {
		Percentiles map[string]int64 `json:"percentiles"`
	} `json:"histograms"`
	Counters map[string]int64 `json:"counters"`
}

// summaryOf is the summary that a result file ends with.
func summaryOf(t *testing.T, path string) (f figures) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found := false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var record struct {
			Type string `json:"type"`
			figures
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		if record.Type == "summary" {
			f, found = record.figures, true
		}
	}
	if !found || lines.Err() != nil || len(f.Histograms) == 0 {
		t.Fatalf("%s has no summary: %v", path, lines.Err())
	}
	return f
}

// TestResultsOfEarlierVersionsAreRead: every format shows them, with the percentiles and
// counts that they had.
func TestResultsOfEarlierVersionsAreRead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "compatibility", "*.jsonl"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		for _, format := range []string{"html", "svg", "csv", "markdown", "openmetrics", "hgrm", "hlog", "csv-time", "csv-tail"} {
			args := []string{"report", path, "--format", format, "--out", filepath.Join(t.TempDir(), "out")}
			if code, _, errs := invoke(t, Env{}, args...); code != exitOK && code != exitInvalid && code != exitThreshold {
				t.Errorf("%s as %s: exit code %d: %s", name, format, code, errs)
			}
		}
		code, out, errs := invoke(t, Env{}, "report", path, "--format", "json")
		var now figures
		if err := json.Unmarshal([]byte(out), &now); err != nil {
			t.Fatalf("%s: exit code %d: %s%v", name, code, errs, err)
		}
		was := summaryOf(t, path)
		for metric, x := range was.Histograms {
			if !maps.Equal(x.Percentiles, now.Histograms[metric].Percentiles) {
				t.Errorf("%s: %s was %v, is %v", name, metric, x.Percentiles, now.Histograms[metric].Percentiles)
			}
		}
		for counter, n := range was.Counters {
			if got, ok := now.Counters[counter]; n != got || !ok {
				t.Errorf("%s: %s was %d, is %d", name, counter, n, got)
			}
		}
		if code, out, errs := invoke(t, Env{}, "report", path, "--full"); code == exitUsage || !strings.Contains(out, "p50") && !strings.Contains(out, "/s") {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
		// Rules changed since: verify says so, and reads everything.
		if code, out, errs := invoke(t, Env{}, "verify", path); code == exitUsage || strings.Contains(errs+out, "panic") || out == "" {
			t.Errorf("%s: verify: exit code %d: %s%s", name, code, out, errs)
		}
	}
	for _, kind := range []string{"paced", "unpaced"} {
		a := filepath.Join("testdata", "compatibility", "2026-11-21-"+kind+".jsonl")
		b := filepath.Join("testdata", "compatibility", "2026-11-26-"+kind+".jsonl")
		if code, out, errs := invoke(t, Env{}, "compare", a, b); code == exitUsage || !strings.Contains(out, "1 run") {
			t.Errorf("compare %s: exit code %d: %s%s", kind, code, out, errs)
		}
	}
}
