package engine

import (
	"context"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/probe"
	"sixnines/internal/vitals"
	"sixnines/result"
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

// collectQuietly tells what came in the interval [from, to).
func (r *run) collectQuietly(from, to int64) error {
	r.rec.Snapshot()
	counters := r.counts()
	metrics, _, err := r.rec.Encode()
	if err != nil {
		return err
	}
	delta := counters
	delta.Sub(r.collected.counters)
	r.collected.counters, r.collected.to, r.collected.level.at = counters, to, to
	cpu, _ := vitals.ProcessorTime()
	x := probe.Report{From: from, To: to, CPU: cpu, Sent: delta.Sent, Resolved: delta.Received}
	if r.workload.Pattern == scenario.Publish {
		x.Resolved = delta.Acked
	}
	if m := r.serviceMetric(); metrics[m] != nil {
		x.Metrics = map[result.Metric]*result.MetricInterval{m: metrics[m]}
	}
	r.config.quiet.tell(x)
	return nil
}

// finishQuietly tells of what came after the last interval.
func (r *run) finishQuietly() error {
	from := max(r.collected.to, r.start.Load())
	return r.collectQuietly(from, max(clock.Now(), from+1))
}
