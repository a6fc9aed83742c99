package engine

import (
	"context"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/probe"
	"sixnines/internal/recorder"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

// RunProbe runs the probe's scenario s until ctx ends, and reports what it
// measures to tell. It needs a process of its own, see probe.Serve.
func RunProbe(ctx context.Context, s *scenario.Scenario, e driver.Entry, tell func(probe.Report)) error {
	_, err := Run(ctx, Config{Scenario: s, Entry: e, quiet: &quiet{tell: tell}})
	return err
}

// collectQuietly reports what came in the interval [from, to).
func (c *collector) collectQuietly(from, to int64) error {
	ld := c.run.loads[0] // a probe has one
	ld.recording.rec.Snapshot()
	delta := ld.accounts.sinceLast(ld.accounts.counts())
	c.to, ld.accounts.told.level.at = to, to
	cpu, _ := vitals.ProcessorTime()
	x := probe.Report{From: from, To: to, CPU: cpu, Sent: delta.Sent, Resolved: delta.Received}
	if ld.flow.Publishes {
		x.Resolved = delta.Acked
	}
	if id, ok := recorder.IDOf(ld.flow.Main); ok {
		x.Values = ld.recording.rec.Values(id)
	}
	ld.config.quiet.tell(x)
	return nil
}

// finishQuietly reports what came after the last interval.
func (c *collector) finishQuietly() error {
	from := max(c.to, c.run.start.Load())
	return c.collectQuietly(from, max(clock.Now(), from+1))
}
