package selftest

import (
	"context"
	"fmt"
	"math"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/result"
)

// The load of the trial: enough messages in flight, for a time with a known mean:
// median·e^(σ²/2).
const (
	littleMedian = 20 * time.Millisecond
	littleSigma  = 0.3
	littleRate   = 1000 // a second
)

// littleMean is the mean of the law of delays.
func littleMean() time.Duration {
	return time.Duration(float64(littleMedian) * math.Exp(littleSigma*littleSigma/2))
}

// By which share the mean time in flight may differ from the mean of the broker's
// delays. The mean of some thousand messages varies by half a percent, and a message is
// in flight for its delay plus the way there and back.
const (
	littleBelow = 0.02
	littleAbove = 0.25
)

// littlesLaw compares the number of messages in flight, sampled at random times, with
// the number computed from time stamps, with many and with few messages in flight.
func littlesLaw(ctx context.Context, b *Bench) (*Outcome, error) {
	broker, err := b.Start(ctx, "null", map[string]string{"delay": fmt.Sprintf("lognormal(median=%s,sigma=%g)", littleMedian, littleSigma)})
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	window := 5 * time.Second
	if b.Short {
		window = 1500 * time.Millisecond
	}
	run := func(url, options, workload string) (*result.Run, error) {
		return b.RunText(ctx, fmt.Sprintf("target: {driver: \"null\", url: %q%s}\nphases: {warmup: 300ms, duration: %s, drain: 5s}\nworkload: %s",
			url, options, window, workload), nil)
	}
	var figures []Figure
	for _, tt := range []struct{ name, options, workload string }{
		{"deliveries", "", "{rate: %d/s, arrivals: poisson}"},
		{"acknowledgements", ", options: {ack: broker}", "{pattern: publish, rate: %d/s}"},
	} {
		if tt.options != "" && b.Short {
			continue
		}
		b.Say("%s: %s, each in flight for %s on average", tt.name, spell.Rate(littleRate), Time(littleMean()))
		r, err := run(broker.URLFor("null"), tt.options, fmt.Sprintf(tt.workload, littleRate))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tt.name, err)
		}
		figures = append(figures, lawful(tt.name, r)...)
	}
	quick, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = quick.Stop(context.WithoutCancel(ctx)) }() // nor of this one
	b.Say("almost nothing in flight: 20/s, no delay")
	r, err := run(quick.URLFor("null"), "", "{rate: 20/s}")
	if err != nil {
		return nil, fmt.Errorf("almost nothing in flight: %w", err)
	}
	return Conclude("another thread sampled the in-flight counters at random times, without time stamps; with the rate and the mean time in flight, which come from the time stamps, they must obey Little's law, L = λ·W",
		append(figures, powerless(r))...), nil
}

// lawful judges a run in which the law must hold, by a check that has power.
func lawful(name string, run *result.Run) []Figure {
	c, ok := judge.Little(run)
	if !ok || run.Counters.Sent == 0 {
		return []Figure{Exactly(name+": the check of Little's law", "made", "not made")}
	}
	percent := func(share float64) string { return fmt.Sprintf("±%.2g %%", 100*share) }
	law := Figure{What: name + ": mean in flight, sampled", Expected: fmt.Sprintf("%.4g, from the stamps", c.Expected),
		Found: fmt.Sprintf("%.4g, in %s samples (off by %+.2g %%)", c.Sampled, grouped(c.Samples), 100*c.Off()), Tolerance: percent(c.Tolerance), Verdict: Passed}
	switch {
	case !c.Powered():
		law.Verdict, law.Reason = NotAssessed, "the sampling was too coarse to say anything: run it again while nothing else runs"
	case math.Abs(c.Off()) > c.Tolerance:
		law.Verdict = Failed
	}
	mean, found := littleMean(), time.Duration(c.Sampled*float64(c.Span)/float64(run.Counters.Sent))
	injected := Figure{What: name + ": mean time in flight, from the samples", Expected: Time(mean) + ", as injected", Found: Time(found),
		Tolerance: fmt.Sprintf("−%.0f to +%.0f %%", 100*littleBelow, 100*littleAbove), Verdict: Passed}
	if off := float64(found)/float64(mean) - 1; off < -littleBelow-c.Tolerance || off > littleAbove+c.Tolerance {
		injected.Verdict = Failed
	}
	reasons := 0
	for _, r := range run.Summary.Verdict.Reasons {
		if r.Code == result.ReasonLittle {
			reasons++
		}
	}
	return []Figure{law, injected, Exactly(name+": reasons of the verdict that name the law", 0, reasons)}
}

// powerless judges a run in which the check must report that it has no power.
func powerless(run *result.Run) Figure {
	f := Figure{What: "with almost nothing in flight", Expected: "n/a", Verdict: Failed}
	c, ok := judge.Little(run)
	switch {
	case !ok:
		f.Found, f.Verdict = "n/a", Passed
	case c.Powered():
		f.Found = fmt.Sprintf("%.2g in flight, said to be known to ±%.2g %%", c.Sampled, 100*c.Tolerance)
	default:
		f.Found, f.Verdict = fmt.Sprintf("n/a: %.2g in flight, known to ±%.2g %% only", c.Sampled, 100*c.Tolerance), Passed
	}
	return f
}
