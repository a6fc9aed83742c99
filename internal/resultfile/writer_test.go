package resultfile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sixnines/result"
)

func create(t *testing.T) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, path
}

func TestCreateNeverOverwrites(t *testing.T) {
	_, path := create(t)
	if _, err := Create(path); !errors.Is(err, os.ErrExist) {
		t.Fatalf("creating a result a second time: %v, want %v", err, os.ErrExist)
	}
}

func TestEveryRecordIsInTheFileAtOnce(t *testing.T) {
	w, path := create(t)
	steps := []func() error{
		func() error { return w.Header(result.Header{Name: "n"}) },
		func() error { return w.Interval(result.Interval{Phase: result.PhaseMeasure}) },
		func() error { return w.Event(result.Event{Kind: "disconnected"}) },
		func() error { return w.Summary(result.Summary{}) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n != i+1 || b[len(b)-1] != '\n' {
			t.Fatalf("after %d records the file holds %d lines", i+1, n)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := result.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if run.Header.Format != result.Format || run.Header.Version != result.Version || run.Header.Name != "n" ||
		len(run.Series) != 1 || len(run.Events) != 1 || run.Summary == nil || run.Path != path {
		t.Fatalf("read back %+v", run)
	}
}

func TestRecordsOutOfOrderAreRefusedWithoutHarm(t *testing.T) {
	w, path := create(t)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, errOrder) {
			t.Errorf("%s: %v, want it refused", what, err)
		}
	}
	refused("interval before the header", w.Interval(result.Interval{}))
	if err := w.Header(result.Header{}); err != nil {
		t.Fatal(err)
	}
	refused("second header", w.Header(result.Header{}))
	if err := w.Summary(result.Summary{}); err != nil {
		t.Fatal(err)
	}
	refused("event after the summary", w.Event(result.Event{}))
	refused("second summary", w.Summary(result.Summary{}))
	if w.err != nil {
		t.Errorf("the writer failed: %v", w.err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	refused("event after Close", w.Event(result.Event{}))
	if _, err := result.Load(path); err != nil {
		t.Fatal(err)
	}
}

func TestFailuresStay(t *testing.T) {
	w, _ := create(t)
	if err := w.Header(result.Header{}); err != nil {
		t.Fatal(err)
	}
	w.file.Close() // as if the disk were gone
	first := w.Interval(result.Interval{})
	if first == nil {
		t.Fatal("writing to a closed file succeeded")
	}
	if err := w.Event(result.Event{}); err != first {
		t.Errorf("after a failure: %v, want the same error", err)
	}
	if err := w.Close(); err != first {
		t.Errorf("Close: %v, want the first failure", err)
	}
}

func TestVitalsThatAreNoNumbersAreLeftOut(t *testing.T) {
	w, path := create(t)
	vitals := map[result.Vital]float64{"a": 1, "b": math.NaN(), "c": math.Inf(1), "d": math.Inf(-1)}
	if err := errors.Join(w.Header(result.Header{}), w.Interval(result.Interval{Vitals: vitals}), w.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := result.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if v := run.Series[0].Vitals; len(v) != 1 || v["a"] != 1 {
		t.Errorf("vitals read back: %v", v)
	}
	if len(vitals) != 4 {
		t.Error("the caller's map was changed")
	}
}

func TestLinesOfConcurrentWritersStayWhole(t *testing.T) {
	w, path := create(t)
	if err := w.Header(result.Header{}); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := w.Event(result.Event{Kind: "k", Detail: strings.Repeat("x", 5000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := result.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Events) != writers*each {
		t.Errorf("%d events read back, want %d", len(run.Events), writers*each)
	}
}
