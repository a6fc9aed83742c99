package study

import (
	"strings"
	"testing"
	"time"

	"sixnines/internal/gofast"
	"sixnines/result"
)

// A benchmark is a cell like others: its figures are read over rounds, and more
// processors than there are decide nothing.
func TestBench(t *testing.T) {
	s, err := Find("so-you-wanna-go-fast")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := s.Cells(Quick)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := Select(cells, []string{"procs-2/ring"})[0].Bench()
	if !ok || b.Name != "ring" || b.Processors != 2 {
		t.Fatalf("%+v, %v", b, ok)
	}
	r, err := b.Run(time.Millisecond)
	if err != nil || r.Processors != 2 || r.PerOp <= 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	c := &CellOutcome{Cell: cells[0]}
	for round := range LeastRounds {
		c.Trials = append(c.Trials, TrialOutcome{Round: round + 1, Bench: &gofast.Result{N: 1, PerOp: float64(10 + round), Processors: 2, CPUs: 2}})
	}
	if o := ReadRounds(c, "bench.op", "", ""); o.Value != 12 || !o.Bounded || o.Blocked != "" {
		t.Errorf("%+v", o)
	}
	c.Trials[0].Bench.CPUs = 1
	if o := ReadRounds(c, "bench.op", "", ""); o.Blocked == "" {
		t.Errorf("two processors of one: %+v", o)
	}
	text := strings.Replace(string(s.Text()), "bench: ring-padded}", "bench: ring-paded}", 1)
	if _, err := Parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "did you mean ring-padded?") {
		t.Error(err)
	}
	text = strings.Replace(string(s.Text()), "at: {processors: 2}", "at: {processors: 0}", 1)
	if _, err := Parse("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "processors") {
		t.Error(err)
	}
}

// A load that stands for several keeps its benchmark, whose name may have the value.
func TestBenchOfRange(t *testing.T) {
	s, err := Find("so-you-wanna-go-fast")
	if err != nil {
		t.Fatal(err)
	}
	const one = `{name: heap, title: "96 bytes on the heap", bench: heap}`
	if !strings.Contains(string(s.Text()), one) {
		t.Fatal("the study has no load " + one)
	}
	s, err = Parse("s.yaml", []byte(strings.Replace(string(s.Text()), one, `{name: "{of}", title: "{of}", bench: "{of}", for: {of: [heap]}}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := s.Cells(Quick)
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := Select(cells, []string{"procs-2/heap"})[0].Bench(); !ok || b.Name != "heap" {
		t.Errorf("%+v, %v", b, ok)
	}
}

// What makes a whole run suspect keeps its rates from deciding, what concerns one
// latency does not.
func TestRateOfSuspectRun(t *testing.T) {
	for _, tt := range []struct {
		reason result.Reason
		unfit  bool
	}{{result.Reason{Status: result.Suspect, Code: "generator-limit"}, true}, {result.Reason{Status: result.Suspect, Code: "steady", Metric: result.DeliveryResponse, Percentile: "50"}, false}} {
		run := spoilt(1, func(s *result.Summary, _ *result.Distribution) {
			s.Rate.Sent = 1000
			s.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{tt.reason}}
		})
		if f := Read(run, "rate.sent", ""); f.Value != 1000 || (f.Unfit != "") != tt.unfit {
			t.Errorf("%+v: %+v", tt.reason, f)
		}
	}
}
