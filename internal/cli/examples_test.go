//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// examplesDir holds the scenarios that users copy.
var examplesDir = filepath.Join("..", "..", "examples", "scenarios")

// cmdTried: tried SCENARIO ARG… runs a scenario for a moment. What it shows in so
// short a time decides nothing: exit codes 0, 3 and 4 are good ones.
func cmdTried(ts *testscript.TestScript, _ bool, args []string) {
	args = append([]string{"run"}, args...)
	code := run(ts, append(args, "--set", "phases.warmup=0s", "--set", "phases.duration=250ms",
		"--quiet", "--out", filepath.Join(ts.Getenv("WORK"), "results")))
	if code != exitOK && code != exitThreshold && code != exitInvalid {
		ts.Fatalf("exit code %d", code)
	}
}

// TestExamplesAreTried: the script examples.txt names every example, and every
// example says in its first line what it answers.
func TestExamplesAreTried(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "script", "examples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(examplesDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if !strings.Contains(string(script), " "+name) {
			t.Errorf("examples.txt does not try %s", name)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); !strings.HasPrefix(first, "# ") || !strings.HasSuffix(first, "?") {
			t.Errorf("%s does not begin with the question that it answers: %s", name, first)
		}
	}
}
