package engine

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/clock"
	"sixnines/internal/clock/clocktest"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// inVirtualTime is measureConfig in virtual time. before makes the run's
// context in its bubble.
func inVirtualTime(t *testing.T, c Config, before ...func(context.Context) context.Context) (r *result.Run) {
	t.Helper()
	c.File = filepath.Join(t.TempDir(), "run.jsonl")
	return judgetest.Verified(t, runVirtually(t, c, before...), c.File)
}

// runVirtually is inVirtualTime without a look at what must hold of every run.
func runVirtually(t *testing.T, c Config, before ...func(context.Context) context.Context) (r *result.Run) {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) {
		c.Virtual = clocktest.New()
		ctx := t.Context()
		for _, first := range before {
			ctx = first(ctx)
		}
		r, err = Run(ctx, c)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// measureVirtually is measure in virtual time.
func measureVirtually(t *testing.T, text string, e driver.Entry) *result.Run {
	t.Helper()
	return inVirtualTime(t, Config{Scenario: parse(t, text), Entry: e})
}

// waits is a driver that takes down how its sessions are to wait.
type waits struct {
	driver.Driver
	wait func(time.Time, <-chan struct{}) bool
}

func (w *waits) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	w.wait = t.Wait
	return w.Driver.Open(ctx, t)
}

// A driver that simulates delays waits by the engine's Target.Wait, which ends when quit is
// closed.
func TestDriversWaitPrecisely(t *testing.T) {
	e := mem.Entry()
	w := &waits{Driver: e.Driver}
	e.Driver = w
	measureVirtually(t, `
workload: {rate: 100/s}
phases: {duration: 100ms, warmup: 0s}
`, e)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !w.wait(began.Add(time.Second), nil) || time.Since(began) != time.Second {
			t.Errorf("waited %s", time.Since(began))
		}
		quit := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(quit) })
		if w.wait(began.Add(time.Hour), quit) || time.Since(began) != 2*time.Second {
			t.Errorf("waited %s", time.Since(began))
		}
	})
}

// Simulated work takes the time that the scenario gives, also where that is much less than the
// precision of Go's timers, and late wake-ups do not add up.
func TestWorkTakesAsLongAsItSays(t *testing.T) {
	const n, work = 2000, 100 * time.Microsecond
	r := measureReally(t, `
target: {options: {queue: 4000}}
workload: {rate: max, messages: 2000, consumer: {work: 100us}}
phases: {warmup: 0s}
`, mem.Entry())
	if took := r.Summary.Throughput.Elapsed; took < (n-1)*work || took > 4*n*work { // by timers 10 times as long
		t.Errorf("%d messages of %s took %s", n, work, took)
	}
}

// Without load the work takes as long in virtual time, and a fifth of a consumer's time is
// no overload.
func TestWorkIsNoOverload(t *testing.T) {
	r := measureVirtually(t, `
workload: {rate: 2000/s, arrivals: poisson, consumer: {work: 100us}}
phases: {duration: 3s, warmup: 0s}
objectives: [delivery.response p90 < 200us]
`, mem.Entry())
	// M/D/1 at 20 %: the mean wait is ρ/(2(1−ρ)) of the work.
	h := r.Summary.Histograms[result.DeliveryResponse]
	if want := 12_500.0; h.Mean < 0.9*want || h.Mean > 1.1*want {
		t.Errorf("mean %v, want %v", h.Mean, want)
	}
	if v := r.Summary.Verdict; v.Status != result.Valid || r.Summary.Objectives[0].Outcome != "met" {
		t.Errorf("%+v %+v", v, r.Summary.Objectives)
	}
}

// A request's work is done by its responder: two of them do twice as much, and the requester
// does none.
func TestRespondersWork(t *testing.T) {
	t.Parallel()
	const text = `
target: {options: {delay: 1ms}}
workload: {rate: 500/s, pattern: request-reply, consumer: {work: 3ms}, consumers: `
	const phases = "}\nphases: {duration: 5s, warmup: 0s, drain: 1s}\n"
	r := measureVirtually(t, text+"2"+phases, mem.Entry())
	h := r.Summary.Histograms[result.RoundTripResponse]
	if h.Count != 2500 || h.Min != int64(4*time.Millisecond) || h.Max != h.Min {
		t.Errorf("%+v", h)
	}
	if v := r.Summary.Verdict; v.Status != result.Valid {
		t.Errorf("%+v", v)
	}
	if v := measureVirtually(t, text+"1"+phases, mem.Entry()).Summary.Verdict; v.Status == result.Valid {
		t.Error("one responder is no bottleneck at 150 % of its time")
	}
}

// Work makes up for a late wake-up with the messages that have waited meanwhile, and with
// no others.
func TestLateWorkIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocktest.New()
		r, err := newRun(Config{Scenario: parse(t, "workload: {rate: 100/s, consumer: {work: 10ms}}"), Entry: mem.Entry(), Virtual: clocktest.New()})
		if err != nil {
			t.Fatal(err)
		}
		w := r.loads[0].receiving.NewWork()
		do := func() time.Duration {
			began := time.Now()
			w.Do(clock.Now())
			return time.Since(began)
		}
		if took := do(); took != 10*time.Millisecond {
			t.Errorf("the first took %s", took)
		}
		w.Until -= int64(3 * time.Millisecond) // as if it had been woken so late
		if took := do(); took != 7*time.Millisecond {
			t.Errorf("one that had waited took %s", took)
		}
		w.Until -= int64(3 * time.Millisecond)
		time.Sleep(time.Millisecond)
		if took := do(); took != 10*time.Millisecond {
			t.Errorf("one that had not waited took %s", took)
		}
	})
}
