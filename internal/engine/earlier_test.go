package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/jetstream"
	"sixnines/drivers/nats"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/receive"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// One run fills, others drain: each message is counted once, apart from those of the
// run itself and from their latencies, and what is left over stays or goes.
func TestFillAndDrainBySeveralRuns(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	run := func(format string, args ...any) *result.Run {
		t.Helper()
		return measure(t, fmt.Sprintf(format, args...), jetstream.Entry(), b.URL)
	}
	const n = 3000
	fill := run("{workload: {pattern: publish, rate: max, messages: %d, producers: 2, topics: 2, groups: 1, lifetime: keep}, phases: {warmup: 0s}}", n)
	name := fill.Header.LeftAs
	if fill.Counters.Acked != n || fill.Counters.Expected != 0 || name == "" || fill.Header.Existing != "" {
		t.Fatalf("filled: %+v of %q", fill.Counters, name)
	}

	some := run("{workload: {pattern: consume, topics: 2, groups: 1, messages: 1000, existing: %s}}", name)
	part := some.Counters.Earlier
	if part < 1000 || some.Header.Existing != name || some.Header.LeftAs != name {
		t.Errorf("%d messages came of 1000 asked for, left as %q", part, some.Header.LeftAs)
	}

	// What was under way when the first ended comes again.
	rest := run("{workload: {pattern: consume, consumers: 2, topics: 2, groups: 1, existing: %s}, phases: {duration: 60s}}", name)
	c := rest.Counters
	if c.Earlier < n-part || c.Foreign != 0 || c.Scheduled != 0 || len(rest.Summary.Histograms) != 0 {
		t.Errorf("%d came, then %+v", part, c)
	}
	if rest.Summary.End >= int64(rest.Header.Window) || rest.Header.Mode != result.ModeConsume || rest.Summary.Throughput.Received != c.Earlier {
		t.Errorf("to %d of %d, %+v", rest.Summary.End, rest.Header.Window, rest.Summary.Throughput)
	}

	if strings.HasPrefix(rest.Header.ID, name) {
		t.Errorf("the run is called %s as the one that filled", rest.Header.ID)
	}

	// A consumer on its own has all of it, beside what is sent meanwhile.
	both := run("{workload: {rate: 500/s, topics: 2, consumers: 2, existing: %s, lifetime: run}, phases: {warmup: 100ms, duration: 500ms}}", name)
	c = both.Counters
	if c.Earlier != n || c.EarlierMissing != 0 || c.Received != c.Expected || c.Received == 0 || c.Foreign != 0 || both.Header.LeftAs != "" {
		t.Errorf("beside a load: %+v", c)
	}
	if d := both.Summary.Histograms[result.DeliveryResponse]; d.Count != c.Received {
		t.Errorf("%d latencies of %d messages", d.Count, c.Received)
	}

	_, err := Run(t.Context(), Config{Scenario: parse(t, "workload: {pattern: consume, topics: 2, existing: "+name+"}"), Entry: jetstream.Entry(), URL: b.URL})
	if !errors.Is(err, driver.ErrNoTopic) || !errors.Is(err, plan.ErrUsage) || !strings.Contains(err.Error(), name) {
		t.Errorf("what a run has removed: %v", err)
	}
}

// While a run still sends and consumes, another one reads from the beginning, by the
// name that the first has reported: neither disturbs the accounts of the other.
func TestReplayBesideALiveRun(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	told, enough := make(chan string, 1), make(chan struct{})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var once sync.Once
	config := Config{Scenario: parse(t, "{workload: {rate: 1000/s, lifetime: keep}, phases: {warmup: 0s, duration: 60s}}"),
		Entry: jetstream.Entry(), URL: b.URL, Observer: func(p Progress) {
			if p.LeftAs != "" {
				told <- p.LeftAs
			}
			if p.Counters.Received >= 200 {
				once.Do(func() { close(enough) })
			}
		}}
	type ended struct {
		run *result.Run
		err error
	}
	done := make(chan ended, 1)
	go func() {
		r, err := Run(ctx, config)
		done <- ended{r, err}
	}()
	select {
	case <-enough: // it is reported before
	case first := <-done:
		t.Fatalf("ended: %v", first.err)
	}
	name := <-told
	const n = 300 // more than there are, perhaps: the rest comes live
	replay := measure(t, fmt.Sprintf("workload: {pattern: consume, existing: %s, messages: %d}", name, n), jetstream.Entry(), b.URL)
	end()
	live := <-done
	if live.err != nil {
		t.Fatal(live.err)
	}
	if c := replay.Counters; c.Earlier < n || c.EarlierMissing+c.EarlierDuplicated != 0 || len(replay.Summary.Histograms) != 0 {
		t.Errorf("replayed: %+v", c)
	}
	c := live.run.Counters
	if c.Received != c.Expected || c.Received < n || c.Earlier+c.Foreign+c.Duplicated+c.Missing != 0 || live.run.Header.LeftAs != name {
		t.Errorf("live, left as %q of %q: %+v", live.run.Header.LeftAs, name, c)
	}
}

// Beside other loads, a load that consumes what an earlier run left takes nothing before its own
// window, and its backlog is timed from the start of that.
func TestDrainBesideALoad(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	const n = 500
	fill := measure(t, fmt.Sprintf("{workload: {pattern: publish, rate: max, messages: %d, groups: 1, lifetime: keep}, phases: {warmup: 0s}}", n), jetstream.Entry(), b.URL)
	r := measure(t, fmt.Sprintf(`
workloads:
  live: {rate: 200/s}
  drain: {pattern: consume, groups: 1, existing: %s, lifetime: run}
  late: {rate: 1000/s, groups: 1, from: 200ms, for: 300ms, consumer: {from: filled}}
phases: {warmup: 300ms, duration: 900ms}
`, fill.Header.LeftAs), jetstream.Entry(), b.URL)
	live, drain := r.Part("live"), r.Part("drain")
	if c := live.Counters; c.Received != c.Expected || c.Received == 0 || c.Earlier != 0 {
		t.Errorf("live: %+v", c)
	}
	if c, rate := drain.Counters, drain.Summary.Throughput; c.Earlier == 0 || c.Foreign != 0 || rate.Received != c.Earlier {
		t.Errorf("drain: %+v, %+v", c, rate)
	}
	i := slices.IndexFunc(drain.Events, func(e result.Event) bool { return e.Kind == result.EventConsumers })
	if i < 0 || drain.Events[i].At < 0 {
		t.Errorf("consumers were not told to connect with the window: %+v", drain.Events)
	}
	if k := r.Part("late").Summary.Backlog; k.Filled != 300 || k.From < int64(250*time.Millisecond) || k.Drained != 300 {
		t.Errorf("late: %+v", k)
	}
}

// Without a broker that keeps messages a run can neither leave messages nor find those of others.
func TestNothingIsKept(t *testing.T) {
	for _, w := range []string{"pattern: publish, lifetime: keep", "pattern: consume, existing: 00c0ffee", "existing: 00c0ffee"} {
		if err := Check(parse(t, "workload: {"+w+"}"), nats.Entry()); !errors.Is(err, plan.ErrUsage) || !strings.Contains(err.Error(), "keeps no messages") {
			t.Errorf("%s: %v", w, err)
		}
	}
}

// Gaps are counted between the first and the last number that came of a stream, for
// each group, run and stream by itself.
func TestGapsAmongEarlierMessages(t *testing.T) {
	var x receive.Earlier
	one, other := &receive.Group{}, &receive.Group{}
	for _, m := range []struct {
		group    *receive.Group
		run      uint32
		sequence uint64
	}{{one, 1, 7}, {one, 1, 5}, {one, 1, 10}, {other, 1, 5}, {one, 2, 100}, {one, 2, 101}} {
		if got := x.Came(m.group, &integrity.Envelope{Run: m.run, Sequence: m.sequence}, 1); got != integrity.New {
			t.Errorf("%+v: %v", m, got)
		}
	}
	if got := x.Came(one, &integrity.Envelope{Run: 1, Sequence: 7}, 2); got != integrity.Duplicate {
		t.Errorf("a second copy: %v", got)
	}
	if n := x.Missing(); n != 3 { // 6, 8 and 9
		t.Errorf("%d are missing", n)
	}
	if x.First.Load() != 1 || x.Last.Load() != 1 {
		t.Errorf("from %d to %d", x.First.Load(), x.Last.Load())
	}
}
