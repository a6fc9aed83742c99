package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

func junitOf(t *testing.T, more []JUnitSuite, runs ...*result.Run) []byte {
	t.Helper()
	suites, err := JUnitSuites(runs, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := JUnit(&b, append(suites, more...)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// judgedRun is a run with a verdict and objectives.
func judgedRun(name string, status result.Status, o ...result.Objective) *result.Run {
	return &result.Run{Path: "results/" + name + ".jsonl",
		Header: result.Header{ID: "00f1d2c3b4a59687", Name: name, Driver: "nats", Pattern: "deliver", Mode: result.ModeOpen,
			Started: time.Date(2026, 11, 20, 14, 2, 11, 5e8, time.UTC), Tool: result.Tool{Name: "sixnines", Version: "0.1.0"}},
		Summary: &result.Summary{Resolved: 10_012_500_000, Objectives: o, Verdict: result.Verdict{Status: status,
			Reasons: []result.Reason{{Status: status, Code: "x", Text: "a reason with <angles> & \"quotes\""}}}}}
}

func TestJUnit(t *testing.T) {
	golden(t, "junit.xml", junitOf(t,
		[]JUnitSuite{{Name: "overall", Cases: []JUnitCase{
			{Name: "delivery.response p99 < 5ms", Failure: "missed", Message: "missed in 1 of 3 runs"}, {Name: "run", Error: "no <broker>"}}}},
		judgedRun("good", result.Suspect,
			result.Objective{Text: "delivery.response p99 < 5ms", Outcome: "met", Found: "it is 1ms, and with 95 % confidence 900µs to 1.1ms"}),
		judgedRun("bad", result.Unstable,
			result.Objective{Text: "delivery.response p99 < 5ms", Outcome: "missed", Found: "it is 7ms, and with 95 % confidence 6ms to 8ms"},
			result.Objective{Text: "delivery.response p99.9 < 5ms", Outcome: "undecided", Found: "which holds the limit"},
			result.Objective{Text: "publish.response p50 < 5ms", Outcome: "meaningless", Found: "the run did not measure publish.response"}),
		&result.Run{Header: result.Header{Name: "cut"}}))
}

// What a run leaves at the broker fails the command, and so the file, also if a workload in the background left it.
func TestJUnitOfWhatIsLeft(t *testing.T) {
	for _, background := range []bool{false, true} {
		run := judgedRun("x", result.Valid)
		run.Header.Background = background
		run.Summary.Left = []result.Leftover{{What: "stream", Name: "s", Why: "no right"}, {What: "topic", Name: "t", Why: "no right"}}
		suites, err := JUnitSuites([]*result.Run{run}, true)
		if err != nil || len(suites[0].Cases) != 2 || suites[0].Cases[0].Failure != "" {
			t.Fatalf("%+v, %v", suites, err)
		}
		if c := suites[0].Cases[1]; c.Name != "clean-up" || c.Failure != "left" || !strings.Contains(c.Output, "stream s, ") || !strings.Contains(c.Output, "topic t, ") {
			t.Errorf("%+v", c)
		}
	}
}

// A workload in the background passes, whatever its verdict.
func TestJUnitOfTheBackground(t *testing.T) {
	run := judgedRun("x", result.Unstable)
	run.Header.Workload, run.Header.Background = "traffic", true
	suites, err := JUnitSuites([]*result.Run{run}, false)
	if err != nil || len(suites[0].Cases) != 1 || suites[0].Cases[0].Failure != "" || !strings.Contains(suites[0].Cases[0].Output, "OVERLOADED, a background workload: not judged") {
		t.Errorf("%+v, %v", suites, err)
	}
}

// Whatever a file says, the XML is well-formed and the numbers are those of the
// cases.
func TestJUnitIsWellFormed(t *testing.T) {
	hostile := "</testcase>]]> \x00\x1b[31m \xff \ufffe ]]>&lt;\u202e"
	run := judgedRun(hostile, result.Invalid, result.Objective{Text: hostile, Outcome: "missed", Found: hostile}, result.Objective{Text: "x"})
	run.Summary.Verdict.Reasons[0].Text = hostile
	run.Path = hostile
	text := junitOf(t, nil, run)
	d := xml.NewDecoder(bytes.NewReader(text))
	cases, failures := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "testcase":
				cases++
			case "failure":
				failures++
			case "testsuite":
				if n := attribute(e, "tests") + attribute(e, "failures"); n != "33" {
					t.Errorf("the suite counts %s", n)
				}
			}
		}
	}
	if cases != 3 || failures != 3 || strings.ContainsAny(string(text), "\x00\x1b\u202e") {
		t.Errorf("%d cases, %d failures\n%s", cases, failures, text)
	}
	if _, err := JUnitSuites(nil, false); err == nil {
		t.Error("suites of nothing")
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// A reason is there once, however often the verdict has it.
func TestJUnitRepeatsNoReason(t *testing.T) {
	run := judgedRun("x", result.Invalid)
	reasons := &run.Summary.Verdict.Reasons
	*reasons = append(*reasons, (*reasons)[0])
	if text := string(junitOf(t, nil, run)); strings.Count(text, "a reason with") != 1 {
		t.Error(text)
	}
}

// What is undecided fails, or is skipped where that is allowed; what is missed fails.
func TestJUnitAllowsUndecided(t *testing.T) {
	run := judgedRun("x", result.Valid, result.Objective{Text: "a", Outcome: "met"}, result.Objective{Text: "b", Outcome: "undecided"},
		result.Objective{Text: "c", Outcome: "meaningless"}, result.Objective{Text: "d", Outcome: "missed"})
	for allowed, want := range map[bool]string{false: `tests="5" failures="3" errors="0" skipped="0"`, true: `tests="5" failures="1" errors="0" skipped="2"`} {
		suites, err := JUnitSuites([]*result.Run{run}, allowed)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := JUnit(&b, suites); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("undecided allowed: %t, %v: no %s in\n%s", allowed, err, want, b.String())
		}
	}
}
