package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/result"
)

// frozen puts the frozen result, SUSPECT, of eight messages with one lost, into
// a directory, and one that was cut short.
func frozen(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"whole.jsonl", "cut-short.jsonl"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "result", "testdata", "v1", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReportHoldsAgainstObjectives(t *testing.T) {
	dir := frozen(t)
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"whole.jsonl"}, exitOK, ""},
		{[]string{"whole.jsonl", "--slo", "missing <= 1"}, exitOK, ""},
		{[]string{"whole.jsonl", "--slo", "rate >= 99%", "--slo", "lost < 2"}, exitOK, ""},
		{[]string{"whole.jsonl", "--slo", "lost == 0"}, exitThreshold, "objective missed: lost == 0: the count is 1\n"},
		{[]string{"whole.jsonl", "--slo", "missing <= 1", "--slo", "lost == 0"}, exitThreshold, "objective missed: lost == 0"},
		{[]string{"whole.jsonl", "--slo", "delivery.response p99 < 1s"}, exitThreshold, "objective undecided, which does not pass: delivery.response p99 < 1s: 8 messages are too few for an interval of p99, which needs 368\n"},
		{[]string{"whole.jsonl", "--slo", "publish.response p99 < 1s"}, exitThreshold, "objective without meaning, which does not pass: publish.response p99 < 1s: the run did not measure"},
		{[]string{"cut-short.jsonl", "--slo", "lost < 5"}, exitThreshold, "cut-short.jsonl: cut short"},
		{[]string{"whole.jsonl", "cut-short.jsonl", "--slo", "lost < 5"}, exitThreshold, ""},
		{[]string{"whole.jsonl", "--slo", "lots == 0"}, exitUsage, "--slo: nothing is called \"lots\""},
		{[]string{"whole.jsonl", "--slo", "lost"}, exitUsage, "hint: "},
		{[]string{"whole.jsonl", "--junit", "no/such/place.xml"}, exitUsage, "hint: create the directory first"},
		{[]string{"whole.jsonl", "--junit", "."}, exitUsage, ". is a directory"},
	} {
		code, out, errs := invoke(t, Env{Dir: dir}, append([]string{"report"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.stderr) {
			t.Errorf("%q: exit code %d, want %d; stderr\n%s", c.args, code, c.code, errs)
		}
		if (code == exitUsage) != (out == "") {
			t.Errorf("%q: stdout %q", c.args, out)
		}
	}
}

func TestReportJUnit(t *testing.T) {
	dir := frozen(t)
	file := filepath.Join(dir, "junit.xml")
	if err := os.WriteFile(file, []byte("an older one"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs := invoke(t, Env{Dir: dir}, "report", "whole.jsonl", "--slo", "lost == 0", "--slo", "missing < 2", "--junit", "junit.xml")
	text, err := os.ReadFile(file)
	if err != nil || code != exitThreshold {
		t.Fatalf("%v, exit code %d: %s", err, code, errs)
	}
	for _, want := range []string{`tests="3" failures="1" errors="0"`, `<testcase name="verdict"`, `<failure message="lost == 0 is missed: the count is 1" type="missed">`, `name="missing &lt; 2"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if code, _, errs := invoke(t, Env{Dir: dir}, "report", "whole.jsonl", "--junit", "junit.xml"); code != exitOK {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, _ := invoke(t, Env{Dir: dir}, "report", "cut-short.jsonl", "--junit", "junit.xml"); code != exitThreshold {
		t.Errorf("a run that was cut short passes: %d", code)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// The runs that were loaded are not changed, and what a file says of its own
// objectives is not judged again.
func TestWithObjectives(t *testing.T) {
	run := &result.Run{Header: result.Header{Objectives: []string{"lost == 0"}}, Counters: result.Counters{Scheduled: 1, Sent: 1, Received: 1},
		Summary: &result.Summary{Objectives: []result.Objective{{Text: "lost == 0", Outcome: "missed", Found: "as written"}}}}
	more, err := parseObjectives([]string{"lost == 0", "duplicated == 0"})
	if err != nil {
		t.Fatal(err)
	}
	held := withObjectives([]*result.Run{run}, more)[0]
	if len(run.Summary.Objectives) != 1 || len(run.Header.Objectives) != 1 {
		t.Errorf("the run itself is changed: %+v", run.Summary.Objectives)
	}
	if o := held.Summary.Objectives; len(o) != 2 || o[0].Found != "as written" || o[1].Text != "duplicated == 0" || o[1].Outcome != "met" {
		t.Errorf("%+v", o)
	}
}
