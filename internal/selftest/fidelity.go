package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// The load of the trial: the broker delays each message by about ten milliseconds. An
// own lag that is more than a quarter of a percentile is then one that matters.
const (
	fidelityLaw  = "lognormal(median=10ms,sigma=0.2)"
	fidelityRate = 1000 // a second
)

// hogCount is how many hogs the starved run shares its processor with. Its
// niceness of 19 gives it 15 parts of each of their 1024: less than half a
// percent of the processor.
const (
	hogCount      = 8
	starvedNice   = 19
	starvedWindow = 2500 * time.Millisecond
	starvedFor    = 1500 * time.Millisecond
)

// fidelity runs a schedule that the machine can keep, and the same one in a process
// that is starved of its processor, which the verdict must report.
func fidelity(ctx context.Context, b *Bench) (*Outcome, error) {
	broker, err := b.Start(ctx, "null", map[string]string{"delay": fidelityLaw})
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	window := 5 * time.Second
	if b.Short {
		window = 1500 * time.Millisecond
	}
	scenario := func(window time.Duration) string {
		return fmt.Sprintf("target: {driver: \"null\", url: %q}\nphases: {warmup: 500ms, duration: %s, drain: 5s}\nworkload: {rate: %d/s, arrivals: poisson}\nrecord: {raw: true, interval: 250ms}",
			broker.URLFor("null"), window, fidelityRate)
	}
	b.Say("%s, Poisson, for %s", spell.Rate(fidelityRate), spell.Period(window))
	run, err := b.RunText(ctx, scenario(window), At(broker))
	if err != nil {
		return nil, err
	}
	gaps, err := gapsOf(filepath.Join(filepath.Dir(run.Path), run.Header.Raw))
	if err != nil {
		return nil, err
	}
	figures := append(kept(run), gaps.figures(time.Second/fidelityRate)...)
	b.Say("the same in a process without a processor")
	starvedRun, err := starve(ctx, b, scenario(starvedWindow))
	if errors.Is(err, errNoStarving) {
		figures = append(figures, Figure{What: "starved of the processor: the verdict", Expected: "SUSPECT, INVALID or VALID to a percentile only", Found: "not tried", Verdict: NotAssessed, Reason: err.Error()})
	} else if err != nil {
		return nil, fmt.Errorf("the starved run: %w", err)
	} else {
		figures = append(figures, starved(starvedRun)...)
	}
	return Conclude("the schedule is kept where the machine allows it, and otherwise the verdict says so: the second run had less than 0.5 % of a processor for "+Time(starvedFor), figures...), nil
}

// starve runs the scenario in a process bound to one processor, which hogs use for
// starvedFor of the window.
func starve(ctx context.Context, b *Bench, text string) (*result.Run, error) {
	s, err := b.Scenario(text)
	if err != nil {
		return nil, err
	}
	processor, err := lastProcessor()
	if err != nil {
		return nil, err
	}
	child, err := b.child(ctx, s, nil, func(c *exec.Cmd) error { return startBound(c, processor, starvedNice) })
	if err != nil {
		return nil, err
	}
	defer child.Kill()
	if err := child.Measuring(ctx); err != nil {
		return nil, err
	}
	stop, err := b.hogs(ctx, hogCount, func(c *exec.Cmd) error { return startBound(c, processor, 0) })
	if err != nil {
		return nil, err
	}
	defer stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(starvedFor):
	}
	stop()
	return child.Wait()
}

// kept judges a run whose schedule the machine should have let it keep.
func kept(run *result.Run) []Figure {
	c := run.Counters
	figures := []Figure{Exactly("messages due that were sent", c.Scheduled, c.Sent)}
	worst := Figure{What: "sent of what was due in the worst second", Expected: "at least 90 %",
		Found: fmt.Sprintf("%.1f %%", 100*run.Summary.Rate.WorstSecond), Verdict: Passed}
	if run.Summary.Rate.WorstSecond < 0.9 {
		worst.Verdict = Failed
	}
	figures = append(figures, worst)
	d := run.Summary.Histograms[result.DeliveryResponse]
	if d == nil {
		return append(figures, Exactly("messages delivered", "some", "none"))
	}
	for _, p := range []result.Percentile{result.P50, result.P99} {
		x := d.Figures[p]
		f := Figure{What: "own lag in p" + string(p) + " of " + Time(time.Duration(x.Value)), Expected: "at most 25 %", Found: "unknown", Verdict: Failed}
		if own := x.OwnShare; own != nil {
			f.Found = fmt.Sprintf("%.1f %%", 100**own)
			if *own <= 0.25 {
				f.Verdict = Passed
			}
		}
		figures = append(figures, f)
	}
	figures = append(figures, Exactly("reasons of the verdict that name the generator", "none", codesThat(run, byGenerator)))
	if lag := run.Summary.Histograms[result.LagOwn]; lag != nil {
		figures = append(figures, Figure{What: "own lag: p50, p99, max", Verdict: Information, Found: fmt.Sprintf("%s, %s, %s",
			Time(time.Duration(lag.Figures[result.P50].Value)), Time(time.Duration(lag.Figures[result.P99].Value)), Time(time.Duration(lag.Max)))})
	}
	return figures
}

// starved judges a run that had no processor for a while.
func starved(run *result.Run) []Figure {
	v := run.Summary.Verdict
	verdict := Figure{What: "starved of the processor: the verdict", Expected: "SUSPECT, INVALID or VALID to a percentile only", Found: v.String(), Verdict: Failed}
	if v.Status == result.Suspect || v.Status == result.Invalid || v.ValidTo != "" {
		verdict.Verdict = Passed
	}
	reasons := Figure{What: "starved of the processor: reasons that name the generator", Expected: "at least one", Found: codesThat(run, byGenerator), Verdict: Passed}
	if reasons.Found == noCodes {
		reasons.Verdict = Failed
	}
	figures := []Figure{verdict, reasons}
	if lag := run.Summary.Histograms[result.LagOwn]; lag != nil {
		figures = append(figures, Figure{What: "starved of the processor: the longest own lag", Found: Time(time.Duration(lag.Max)), Verdict: Information})
	}
	for _, a := range run.Summary.Attribution {
		for _, c := range a.Causes {
			if c.Named {
				return append(figures, Figure{What: "starved of the processor: the first cause named, of " + string(a.Metric), Found: c.Source + ": " + c.Text, Verdict: Information})
			}
		}
	}
	return figures
}

// gaps are the times between consecutive instants of a run, ns.
type gaps struct{ intended, sent []float64 }

// gapsOf reads them from a raw file.
func gapsOf(file string) (gaps, error) {
	f, err := os.Open(file)
	if err != nil {
		return gaps{}, err
	}
	defer f.Close() // read only
	r, err := result.NewRawReader(f)
	if err != nil {
		return gaps{}, err
	}
	var intended, sent []int64
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return gaps{}, err
		}
		if row.Kind == result.RawSent {
			intended, sent = append(intended, row.Intended), append(sent, row.Sent)
		}
	}
	return gaps{between(intended), between(sent)}, nil
}

// between returns the differences of consecutive instants, after sorting.
func between(instants []int64) []float64 {
	slices.Sort(instants)
	var all []float64
	for i := 1; i < len(instants); i++ {
		all = append(all, float64(instants[i]-instants[i-1]))
	}
	return all
}

// fitSample is the number of gaps that are compared: with more, Anderson and
// Darling's test rejects any real clock.
const fitSample = 1000

// figures compares the gaps with those of a Poisson process. It is for
// information: at high rates the sent instants always differ; only the size of the
// difference matters.
func (g gaps) figures(mean time.Duration) []Figure {
	var figures []Figure
	for _, x := range []struct {
		name string
		gaps []float64
	}{{"intended", g.intended}, {"sent", g.sent}} {
		fit, ok := stats.FitExponential(x.gaps[:min(len(x.gaps), fitSample)], float64(mean), 1)
		f := Figure{What: "Anderson–Darling on the " + x.name + " instants", Found: "no gaps", Verdict: Information}
		if ok {
			f.Found = fmt.Sprintf("A² = %.2f of %d gaps, exceeded by chance %s; effect max|F̂−F| = %.3f", fit.A2, fit.N, likely(fit.A2), fit.Distance)
		}
		figures = append(figures, f)
	}
	return figures
}

// likely says how often chance alone exceeds A².
func likely(a2 float64) string {
	switch {
	case a2 > stats.AndersonDarling1:
		return "in less than 1 % of cases"
	case a2 > stats.AndersonDarling5:
		return "in 1 to 5 % of cases"
	}
	return "in more than 5 % of cases"
}
