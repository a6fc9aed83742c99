package selftest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/spell"
	"sixnines/result"
)

// The load of the trial, and for how long the broker has almost no processor.
const (
	brokerStarvedRate = 1000 // a second
	brokerStarvedFor  = time.Second
)

// brokerStarved starves the broker of its processor for a part of the window, which the
// verdict must name. In a run without starving the verdict must not name it.
func brokerStarved(ctx context.Context, b *Bench) (*Outcome, error) {
	processor, err := lastProcessor()
	if errors.Is(err, errNoStarving) {
		return Skip(err.Error() + "; run this on Linux"), nil
	}
	if err != nil {
		return nil, err
	}
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	window := 4 * time.Second
	if b.Short {
		window = 2 * time.Second
	}
	text := fmt.Sprintf("target: {driver: \"null\"}\nphases: {warmup: 200ms, duration: %s, drain: 5s}\nworkload: {rate: %d/s}\nrecord: {interval: 100ms}", window, brokerStarvedRate)
	b.Say("a broker that has a processor")
	ease, err := b.RunText(ctx, text, At(broker))
	if err != nil {
		return nil, err
	}
	b.Say("the same without one, for %s", spell.Period(brokerStarvedFor))
	starve := func() error {
		if err := bind(broker.Nodes()[0].PID, processor, starvedNice); err != nil {
			return fmt.Errorf("bind the broker to a processor: %w", err)
		}
		stop, err := b.hogs(ctx, hogCount, func(c *exec.Cmd) error { return startBound(c, processor, 0) })
		if err != nil {
			return err
		}
		defer stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(brokerStarvedFor):
			return nil
		}
	}
	var once sync.Once
	done := make(chan error, 1)
	run, err := b.RunText(ctx, text, func(c *engine.Config) {
		At(broker)(c)
		c.Observer = func(p engine.Progress) {
			if p.Phase == result.PhaseMeasure {
				once.Do(func() { go func() { done <- starve() }() })
			}
		}
	})
	once.Do(func() { done <- nil }) // there was no window, and err says why
	if err := errors.Join(err, <-done); err != nil {
		return nil, err
	}
	return Conclude(fmt.Sprintf("a broker that waits for a processor of this machine is distinguished from one that is slow: the second had less than 0.5 %% of a processor for %s", Time(brokerStarvedFor)),
		judgeBrokerStarved(ease, run)...), nil
}

// judgeBrokerStarved judges a run whose broker had a processor, and one whose broker had none.
func judgeBrokerStarved(ease, run *result.Run) []Figure {
	named := Figure{What: "without a processor: reasons that name it", Expected: string(result.ReasonStarved), Found: codesThat(run, has(result.ReasonStarved)), Verdict: Passed}
	if named.Found != named.Expected {
		named.Verdict = Failed
	}
	v := run.Summary.Verdict
	verdict := Figure{What: "without a processor: the verdict", Expected: "SUSPECT, INVALID or VALID to a percentile only", Found: v.String(), Verdict: Failed}
	if v.Status == result.Suspect || v.Status == result.Invalid || v.ValidTo != "" {
		verdict.Verdict = Passed
	}
	figures := []Figure{Exactly("with a processor: reasons that name its lack", "none", codesThat(ease, has(result.ReasonStarved))), named, verdict}
	for _, a := range run.Summary.Attribution {
		for _, c := range a.Causes {
			if c.Named {
				return append(figures, Figure{What: "without a processor: the first cause named, of " + string(a.Metric), Found: c.Source + ": " + c.Text, Verdict: Information})
			}
		}
	}
	return figures
}
