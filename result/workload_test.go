package result

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
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
	must(w.Header(Header{ID: "1", Workload: "a", Window: 100}))
	must(w.Header(Header{ID: "1", Workload: "b", Window: 60, From: 40, Background: true}))
	if err := w.Header(Header{ID: "1", Workload: "b"}); !errors.Is(err, errOrder) {
		t.Errorf("a second header of b: %v", err)
	}
	must(w.Interval(Interval{Workload: "a", Phase: PhaseMeasure, End: 50, Counters: Counters{Sent: 3}}))
	must(w.Interval(Interval{Workload: "b", Phase: PhaseMeasure, End: 10, Counters: Counters{Sent: 5}}))
	must(w.Event(Event{At: 50, Kind: "of all"}))
	must(w.Event(Event{At: 60, Kind: "of b", Workload: "b"}))
	must(w.Summary(Summary{Workload: "b", End: 60}))
	must(w.Event(Event{At: 70, Kind: "late"}))
	must(w.Summary(Summary{Workload: "a", End: 100}))
	if err := w.Event(Event{At: 80}); !errors.Is(err, errOrder) {
		t.Errorf("an event after the last summary: %v", err)
	}
	must(w.Close())

	run, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Parts()) != 2 || run.Summary != nil || len(run.Metrics) != 0 || run.Counters.Sent != 0 {
		t.Fatalf("%+v", run)
	}
	a, b := run.Parts()[0], run.Parts()[1]
	if a.Header.Workload != "a" || a.Header.Version != VersionWorkloads || a.Counters.Sent != 3 || a.Summary == nil || a.Summary.End != 100 || a.Path != file || len(a.Events) != 2 {
		t.Errorf("%+v", a)
	}
	if !b.Header.Background || b.Counters.Sent != 5 || b.Summary == nil || b.Summary.End != 60 || len(b.Events) != 3 || b.Events[0].At != 10 || b.Events[1].At != 20 {
		t.Errorf("%+v", b)
	}
	one := &Run{}
	if parts := one.Parts(); len(parts) != 1 || parts[0] != one {
		t.Errorf("%+v", parts)
	}
}

func TestWorkloadsThatAreNotThere(t *testing.T) {
	const header = `{"type":"header","format":"sixnines-result","version":2,"id":"1","workload":"a"}`
	for _, more := range []string{
		header,
		`{"type":"header","format":"sixnines-result","version":2,"id":"1"}`,
		`{"type":"interval","phase":"measure"}`,
		`{"type":"interval","workload":"b","phase":"measure"}`,
		`{"type":"summary","workload":"b"}`,
		`{"type":"header","format":"sixnines-result","version":2,"id":"2","workload":"b"}`, // of another run
	} {
		if _, err := ReadRun(strings.NewReader(header + "\n" + more + "\n")); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", more, err)
		}
	}
	if _, err := ReadRun(strings.NewReader(strings.Replace(header, `,"workload":"a"`, "", 1) + "\n" + header + "\n")); !errors.Is(err, ErrFormat) {
		t.Errorf("a workload's header after that of a whole run: %v", err)
	}
}
