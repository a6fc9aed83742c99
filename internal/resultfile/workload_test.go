package resultfile

import (
	"errors"
	"path/filepath"
	"testing"

	"sixnines/result"
)

// A file of several workloads is read back as a run for each, with the events of
// all.
func TestSeveralWorkloadsInOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(file)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Header(result.Header{ID: "1", Workload: "a", Window: 100}))
	must(w.Header(result.Header{ID: "1", Workload: "b", Window: 60, From: 40, Background: true}))
	if err := w.Header(result.Header{ID: "1", Workload: "b"}); !errors.Is(err, errOrder) {
		t.Errorf("a second header of b: %v", err)
	}
	must(w.Interval(result.Interval{Workload: "a", Phase: result.PhaseMeasure, End: 50, Counters: result.Counters{Sent: 3}}))
	must(w.Interval(result.Interval{Workload: "b", Phase: result.PhaseMeasure, End: 10, Counters: result.Counters{Sent: 5}}))
	must(w.Event(result.Event{At: 50, Kind: "of all"}))
	must(w.Event(result.Event{At: 60, Kind: "of b", Workload: "b"}))
	must(w.Summary(result.Summary{Workload: "b", End: 60}))
	must(w.Event(result.Event{At: 70, Kind: "late"}))
	must(w.Summary(result.Summary{Workload: "a", End: 100}))
	if err := w.Event(result.Event{At: 80}); !errors.Is(err, errOrder) {
		t.Errorf("an event after the last summary: %v", err)
	}
	must(w.Close())

	run, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Parts()) != 2 || run.Summary != nil || len(run.Metrics) != 0 || run.Counters.Sent != 0 {
		t.Fatalf("%+v", run)
	}
	a, b := run.Parts()[0], run.Parts()[1]
	if a.Header.Workload != "a" || a.Header.Version != result.VersionWorkloads || a.Counters.Sent != 3 || a.Summary == nil || a.Summary.End != 100 || a.Path != file || len(a.Events) != 2 {
		t.Errorf("%+v", a)
	}
	if !b.Header.Background || b.Counters.Sent != 5 || b.Summary == nil || b.Summary.End != 60 || len(b.Events) != 3 || b.Events[0].At != 10 || b.Events[1].At != 20 {
		t.Errorf("%+v", b)
	}
	one := &result.Run{}
	if parts := one.Parts(); len(parts) != 1 || parts[0] != one {
		t.Errorf("%+v", parts)
	}
}
