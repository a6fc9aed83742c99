package engine

import (
	"sixnines/internal/clock"
	"sixnines/result"
)

// Quiet is a run that is a probe beside another one: it does as little as it can
// beside sending and receiving. Nothing of the process or the machine is
// watched, no pacer spins, no file is written and nothing judged: Run returns no
// result. Its methods are called from one goroutine at a time.
type Quiet struct {
	// Begun is called when the load begins.
	Begun func()
	// Interval is called with each interval; its instants are CLOCK_MONOTONIC.
	Interval func(result.Interval)
}

// collectQuietly tells what came in the interval [from, to).
func (r *run) collectQuietly(phase string, from, to int64) error {
	r.rec.Snapshot()
	counters := r.counts()
	metrics, _, err := r.rec.Encode()
	if err != nil {
		return err
	}
	delta := counters
	delta.Sub(r.collected.counters)
	r.collected.counters, r.collected.to, r.collected.level.at = counters, to, to
	r.config.Quiet.Interval(result.Interval{Phase: phase, Start: from, End: to, Metrics: metrics, Counters: delta})
	return nil
}

// finishQuietly tells of what came after the last interval.
func (r *run) finishQuietly() error {
	from := max(r.collected.to, r.start.Load())
	return r.collectQuietly(result.PhaseDrain, from, max(clock.Now(), from+1))
}
