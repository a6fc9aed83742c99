package study

import (
	"strings"
	"testing"
	"time"

	"sixnines/internal/gofast"
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
