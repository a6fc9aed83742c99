package engine

import (
	"context"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/probe"
	"sixnines/internal/recorder"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

// quiet is what makes a run a probe beside another one: it does as little as it
// can beside sending and receiving. Nothing of the process or the machine is
// watched, no pacer spins, no file is written and nothing judged: Run returns no
// result.
type quiet struct{ tell func(probe.Report) }

// RunProbe runs the probe's scenario s until ctx ends, and tells what it
// measures. A process of its own is to be made for it, see probe.Serve.
func RunProbe(ctx context.Context, s *scenario.Scenario, e driver.Entry, tell func(probe.Report)) error {
	_, err := Run(ctx, Config{Scenario: s, Entry: e, quiet: &quiet{tell: tell}})
	return err
}

// quietSlice is how long a quiet run sleeps at a time, at most: each timer that
// goes off wakes threads, and then the runtime's monitor for a while.
const quietSlice = 250 * time.Millisecond

// waitQuietly returns when until has come, by some milliseconds at most too late,
// which service times do not see; false if the run is over before.
func (c *control) waitQuietly(until int64) bool {
	if left := until - clock.Now(); left > 0 {
		t := time.NewTimer(time.Duration(left))
		defer t.Stop()
		select {
		case <-c.stop:
		case <-t.C:
		}
	}
	return !c.stopped.Load()
}

// rest sleeps for d ns, or for as long as the collector may before it looks again.
func (c *control) rest(d int64) {
	if c.config.quiet == nil {
		time.Sleep(time.Duration(min(d, stopSlice)))
		return
	}
	c.waitQuietly(clock.Now() + min(d, int64(quietSlice)))
}

// patience is how long untilEnd may sleep before it looks again.
func (c *control) patience() time.Duration {
	if c.config.quiet == nil {
		return 10 * time.Millisecond
	}
	return quietSlice
}

// collectQuietly tells what came in the interval [from, to).
func (c *collector) collectQuietly(from, to int64) error {
	ld := c.run.loads[0] // a probe has one
	ld.recording.rec.Snapshot()
	delta := ld.accounts.sinceLast(ld.accounts.counts())
	c.to, ld.accounts.told.level.at = to, to
	cpu, _ := vitals.ProcessorTime()
	x := probe.Report{From: from, To: to, CPU: cpu, Sent: delta.Sent, Resolved: delta.Received}
	if ld.workload.Pattern == scenario.Publish {
		x.Resolved = delta.Acked
	}
	if id, ok := recorder.IDOf(ld.session.serviceMetric()); ok {
		x.Values = ld.recording.rec.Values(id)
	}
	ld.config.quiet.tell(x)
	return nil
}

// finishQuietly tells of what came after the last interval.
func (c *collector) finishQuietly() error {
	from := max(c.to, c.run.start.Load())
	return c.collectQuietly(from, max(clock.Now(), from+1))
}
