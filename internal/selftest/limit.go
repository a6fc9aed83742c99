package selftest

import (
	"context"
	"fmt"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// The conditions of a generator that keeps its schedule ("in time"): it sends the messages
// that are due, in every second and soon, with threads that have time left. They do not
// depend on the broker; its latencies do not count.
const (
	limitSent  = 0.999            // share of the messages due in the window that were sent in it, at least
	limitWorst = 0.9              // the same in the worst second
	limitBusy  = 0.7              // share of time for which the busiest sending thread was busy, at most
	limitLag   = time.Millisecond // own lag, p99, at most
)

// The search for the limit: it doubles the rate from limitFirst on, then halves the
// range between, until its ends differ by a tenth.
const (
	limitFirst = 10_000    // a second
	limitMost  = 2_560_000 // a second; the highest rate tried
	limitExact = 1.1
)

// Limit is the highest rate at which this machine's generator was in time
// against the null broker.
type Limit struct {
	Size        int64   `json:"size"`        // bytes
	Connections int     `json:"connections"` // of producers
	Rate        float64 `json:"rate"`        // messages a second; 0: it was not in time even at the first rate tried
	// Above is the lowest rate tried at which it was not in time; 0: it was in time at
	// all rates tried.
	Above float64 `json:"above,omitempty"`
}

// String describes the limit for users.
func (l Limit) String() string {
	load := fmt.Sprintf("%s/s at %s over %s", grouped(int64(l.Rate)), spell.Size(l.Size), connections(l.Connections))
	if l.Rate == 0 {
		return fmt.Sprintf("less than %s/s at %s over %s", grouped(int64(l.Above)), spell.Size(l.Size), connections(l.Connections))
	}
	switch {
	case l.Above == 0:
		return "at least " + load
	case l.Above > limitExact*l.Rate: // the search ran out of time
		return fmt.Sprintf("%s to %s/s at %s over %s", grouped(int64(l.Rate)), grouped(int64(l.Above)), spell.Size(l.Size), connections(l.Connections))
	}
	return load
}

func connections(n int) string {
	return spell.Plural(n, "connection")
}

// limitLoads are the loads that limits are measured under.
func (b *Bench) limitLoads() []Limit {
	if b.Short {
		return []Limit{{Size: 256, Connections: 1}}
	}
	return []Limit{{Size: 256, Connections: 1}, {Size: 256, Connections: 8}, {Size: 4096, Connections: 1}}
}

// generatorLimits measures the highest rates at which the generator is in time,
// and stores them.
func generatorLimits(ctx context.Context, b *Bench) (*Outcome, error) {
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	warmup, window, patience := 150*time.Millisecond, 700*time.Millisecond, 6*time.Second
	if b.Short {
		warmup, window, patience = 100*time.Millisecond, 400*time.Millisecond, 3*time.Second
	}
	watch, used := startWatch(), brokerCPU(broker)
	var limits []Limit
	var figures []Figure
	var fault error
	for _, l := range b.limitLoads() {
		over := time.Now().Add(patience)
		last := ""
		l.Rate, l.Above = search(func(rate float64) bool {
			b.Say("%s, %s, %s/s", spell.Size(l.Size), connections(l.Connections), grouped(int64(rate)))
			for range 2 { // once may be an accident
				var run *result.Run
				if run, fault = b.limitRun(ctx, broker, l, rate, warmup, window); fault != nil {
					return false
				}
				why := behind(run)
				if why == "" {
					return true
				}
				last = fmt.Sprintf("; at %s/s, tried twice, %s", grouped(int64(rate)), why)
			}
			return false
		}, func() bool { return fault != nil || time.Now().After(over) })
		if fault != nil {
			break
		}
		limits = append(limits, l)
		figures = append(figures, Figure{What: fmt.Sprintf("the highest rate in time, %s over %s", spell.Size(l.Size), connections(l.Connections)), Found: l.String() + last, Verdict: Information})
	}
	disturbed := watch.end(brokerCPU(broker) - used)
	if fault != nil {
		return nil, fault
	}
	if b.KeepLimits != nil && !b.Short { // the short form is too coarse to be stored
		note, err := b.KeepLimits(limits, disturbed)
		if err != nil {
			return nil, err
		}
		figures = append(figures, Figure{What: "kept for later", Found: note, Verdict: Information})
	}
	return Conclude(fmt.Sprintf("a generator is in time where at least %.1f %% of what was due was sent in the window, at least %.0f %% in the worst second, its busiest sending thread was busy for at most %.0f %% and its own lag had a p99 of at most %s; above its limit latencies are the generator's",
		100*limitSent, 100*limitWorst, 100*limitBusy, Time(limitLag)), figures...), nil
}

// limitRun is one measurement at a rate.
func (b *Bench) limitRun(ctx context.Context, broker *brokers.Cluster, l Limit, rate float64, warmup, window time.Duration) (*result.Run, error) {
	return b.RunText(ctx, fmt.Sprintf("target: {driver: \"null\", url: %q}\nphases: {warmup: %s, duration: %s, drain: 500ms}\nworkload: {pattern: publish, rate: %.0f/s, size: %dB, producers: %d}\nrecord: {interval: 100ms}",
		broker.URLFor("null"), warmup, window, rate, l.Size, l.Connections), At(broker))
}

// search returns the highest rate for which inTime is true and the lowest for which it
// is false, 0 if it found none. It ends when they are within limitExact or over is true.
func search(inTime func(rate float64) bool, over func() bool) (rate, above float64) {
	for next := float64(limitFirst); next <= limitMost && !over(); next *= 2 {
		if !inTime(next) {
			above = next
			break
		}
		rate = next
	}
	for rate > 0 && above > limitExact*rate && !over() {
		if next := (rate + above) / 2; inTime(next) {
			rate = next
		} else {
			above = next
		}
	}
	return rate, above
}

// behind says why a run's generator was not in time; empty if it was.
func behind(run *result.Run) string {
	s := run.Summary
	if share, ok := s.Rate.SentShare(); !ok || share < limitSent {
		return fmt.Sprintf("%s of the messages due was sent", spell.ExactShare(share))
	}
	if w := s.Rate.WorstSecond; w < limitWorst {
		return fmt.Sprintf("%s of the messages due was sent in the worst second", spell.ExactShare(w))
	}
	var busy, length float64
	for _, p := range run.Series {
		if v, ok := p.Vitals[result.VitalPacerBusy]; ok && p.Phase == result.PhaseMeasure {
			busy, length = busy+v*float64(p.End-p.Start), length+float64(p.End-p.Start)
		}
	}
	if busy > limitBusy*length {
		return fmt.Sprintf("the busiest sending thread was busy for %s", spell.Share(busy/length))
	}
	if lag := run.Metrics[result.LagOwn]; lag != nil {
		if p99 := time.Duration(histograms.RanksOf(lag.Hist).Percentile(99)); p99 > limitLag {
			return "the own lag had a p99 of " + Time(p99)
		}
	}
	return ""
}
