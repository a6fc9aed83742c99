package engine

import (
	"path/filepath"
	"testing"
	"time"

	"sixnines/drivers/nats"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// The broker never comes back: what could not be sent and what never arrived
// are counted, stay in the distribution as lower bounds, and the run ends by
// itself.
func TestFrozenForGood(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	file := filepath.Join(t.TempDir(), "run.jsonl")
	began := time.Now()
	r, err := Run(t.Context(), Config{Scenario: parse(t, `
phases: {warmup: 200ms, duration: 1s, drain: 500ms}
workload: {rate: 1000/s, size: 64KiB, producers: 3}
`), Entry: nats.Entry(), URL: b.URL, File: file, Observer: func(p Progress) {
		if p.Phase == result.PhaseMeasure && p.Elapsed < 750*time.Millisecond {
			if _, err := b.Freeze(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}})
	took := time.Since(began)
	if _, err := b.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r = judgetest.Verified(t, r, file)
	c := r.Counters
	if c.NotSent == 0 || c.Missing == 0 || c.Scheduled != 1000 || c.Censored != c.NotSent+c.Missing {
		t.Errorf("%+v", c)
	}
	d := r.Summary.Histograms[result.DeliveryResponse]
	if !d.Figures["99"].AtLeast || !d.Figures["90"].AtLeast || d.Figures["99"].Value < int64(time.Second) {
		t.Errorf("%+v", d)
	}
	// The phases take 1.7 s; ending a run on a frozen broker takes as long as
	// the closing calls may.
	if took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Log(took, show(r))
}

// The raw file holds every event of every message: all figures can be computed
// from it, bit for bit.
func TestRawOfEveryPattern(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	for _, workload := range []string{
		"{rate: 2000/s, consumers: 3}",
		"{rate: 2000/s, producers: 3, topics: 2, consumers: 4, groups: 2}",
		"{pattern: request-reply, rate: 1000/s, producers: 2}",
		"{pattern: roundtrip, rate: 1000/s, producers: 2}",
		"{loop: closed, messages: 2000}",
		"{rate: max, messages: 20000}",
	} {
		phases := "phases: {warmup: 50ms, duration: 100ms}"
		if r := parse(t, "workload: "+workload); r.Workload.Messages > 0 {
			phases = "phases: {warmup: 50ms}"
		}
		r := measure(t, phases+"\nrecord: {raw: true}\nworkload: "+workload, nats.Entry(), b.URL)
		if r.Header.Raw == "" || r.Counters.Missing != 0 {
			t.Errorf("%s: raw %q, %+v", workload, r.Header.Raw, r.Counters)
		}
	}
}
