package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/histograms"
	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/result"
)

// The stall oracle's tolerance, and its condition: the broker must catch up so fast
// that ρ, the rate divided by the broker's capacity, is small.
const (
	oracleTolerance = 0.03
	oracleRate      = 2000 // a second
	oracleSlack     = 0.10 // the most that ρ may be
)

// oraclePercentiles are those that are compared with the oracle.
func oraclePercentiles() []result.Percentile {
	return []result.Percentile{result.P90, result.P99, result.P999}
}

// stallOracle freezes a broker for D in a window of T. Every message that is due
// meanwhile waits for the end of the freeze, so the latencies follow from D and T
// alone. A closed loop then measures the same stall.
func stallOracle(ctx context.Context, b *Bench) (*Outcome, error) {
	window, freeze := 8*time.Second, 2*time.Second
	if b.Short {
		window, freeze = 2*time.Second, 500*time.Millisecond
	}
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	phases := fmt.Sprintf("phases: {warmup: 300ms, duration: %s, drain: 10s}\nrecord: {interval: 100ms}", window)
	b.Say("an open loop, %s for %s, the broker frozen for %s", spell.Rate(oracleRate), spell.Period(window), spell.Period(freeze))
	open, frozen, err := b.frozenRun(ctx, broker, fmt.Sprintf("%s\nworkload: {rate: %d/s}", phases, oracleRate), window, freeze)
	if errors.Is(err, brokers.ErrUnavailable) {
		return Skip(fmt.Sprintf("a process cannot be frozen on %s; run this on Linux", runtime.GOOS)), nil
	}
	if err != nil {
		return nil, err
	}
	b.Say("a closed loop over the same stall")
	closed, frozenAgain, err := b.frozenRun(ctx, broker, fmt.Sprintf("%s\nworkload: {loop: closed, think: %s}", phases, time.Second/oracleRate), window, freeze)
	if err != nil {
		return nil, err
	}
	figures, kept := judgeStall(open, frozen, window)
	figures = append(figures, judgeClosed(closed, frozenAgain, window)...)
	o := Conclude(fmt.Sprintf("the null broker was paused for D = %s in a window of T = %s; every percentile follows from x_p = D − (1−p)·T·(1−ρ), with 1−ρ = %.3f from the share of messages that were late. A closed loop waits while the broker does and hides most of the stall",
		Time(frozen), Time(window), kept), figures...)
	o.Charts = []report.Picture{oracleChart(open, closed, frozen, window, kept)}
	return o, nil
}

// frozenRun runs the scenario against the broker, which it freezes for about d
// when a fifth of the window is over, and returns how long it was frozen.
func (b *Bench) frozenRun(ctx context.Context, broker *brokers.Cluster, text string, window, d time.Duration) (*result.Run, time.Duration, error) {
	s := &stall{broker: broker, at: window / 5, length: d, done: make(chan struct{})}
	run, err := b.RunText(ctx, fmt.Sprintf("target: {driver: \"null\", url: %q}\n%s", broker.URLFor("null"), text), func(c *engine.Config) {
		At(broker)(c)
		c.Observer = s.observe
	})
	frozen, fault := s.end()
	if err := errors.Join(fault, err); err != nil {
		return nil, 0, err
	}
	return run, frozen, nil
}

// stall freezes a broker once, at a point of the measured window.
type stall struct {
	broker *brokers.Cluster
	at     time.Duration // since the start of the window
	length time.Duration

	begun  bool          // belongs to the observer's goroutine, and to end after the run
	done   chan struct{} // closed when freeze has returned
	frozen time.Duration // may be read only after done is closed
	err    error         // likewise
}

// observe is the engine's observer.
func (s *stall) observe(p engine.Progress) {
	if s.begun || p.Phase != result.PhaseMeasure || p.Elapsed < s.at {
		return
	}
	s.begun = true
	go s.freeze()
}

func (s *stall) freeze() {
	defer close(s.done)
	frozen, err := s.broker.Freeze(context.Background())
	if err != nil {
		s.err = err
		return
	}
	clock.SleepUntilBlocking(frozen.Complete + int64(s.length))
	thawed, err := s.broker.Thaw(context.Background())
	s.frozen, s.err = time.Duration(thawed.Complete-frozen.Complete), err
}

// end waits for the end of the stall and returns its length. Call it after the run.
func (s *stall) end() (time.Duration, error) {
	if !s.begun {
		return 0, errors.New("the window was over before the broker could be frozen")
	}
	<-s.done
	if s.err != nil {
		return 0, fmt.Errorf("freeze the broker: %w", s.err)
	}
	return s.frozen, nil
}

// oracle returns x_p for a stall of d in a window: the latency that the share
// 1−p of the messages exceeds. kept is 1−ρ.
func oracle(p float64, d, window time.Duration, kept float64) time.Duration {
	return time.Duration(math.Round(float64(d) - (1-p)*float64(window)*kept))
}

// lateness estimates 1−ρ, by which share of the broker's capacity the backlog shrinks
// while the broker catches up. It uses one point of the curve, far below the
// percentiles that are judged: for the share q of messages above v,
// D − v = q·T·(1−ρ).
func lateness(index *histograms.RankIndex, d, window time.Duration) float64 {
	v := d / 20
	q := float64(index.CountAbove(int64(v))) / float64(max(1, index.Count()))
	return float64(d-v) / (q * float64(window))
}

// judgeStall compares an open-loop run over a stall of d with the oracle, and
// returns 1−ρ.
func judgeStall(run *result.Run, d, window time.Duration) ([]Figure, float64) {
	c := run.Counters
	figures := []Figure{
		Exactly("messages due that were sent", c.Scheduled, c.Sent),
		Exactly("messages that arrived, once and in order", c.Expected, c.Received-c.Duplicated-c.Reordered),
	}
	x, distribution := run.Metrics[result.DeliveryResponse], run.Summary.Histograms[result.DeliveryResponse]
	if x == nil || distribution == nil {
		return append(figures, Exactly("deliveries that were timed", "some", "none")), 0
	}
	kept := lateness(histograms.RanksOf(x.Hist), d, window)
	f := Figure{What: "1 − ρ, from the share of messages that were late", Expected: "1", Found: fmt.Sprintf("%.3f", kept),
		Tolerance: fmt.Sprintf("%.2f to %.2f", 1-oracleSlack, 1+oracleTolerance), Verdict: Passed}
	if !(kept >= 1-oracleSlack && kept <= 1+oracleTolerance) {
		f.Verdict = Failed
	}
	figures = append(figures, f)
	for _, label := range oraclePercentiles() {
		want := oracle(share(label), d, window, kept)
		f := Figure{What: "open loop: delivery.response p" + string(label), Expected: Time(want), Tolerance: "3 %", Verdict: Passed}
		x, ok := distribution.At(label)
		have := x.Value
		f.Found = Time(time.Duration(have))
		switch {
		case !ok:
			f.Found, f.Verdict = "n/a", Failed
		case x.AtLeast:
			f.Found, f.Verdict = "≥ "+f.Found, Failed
		case math.Abs(float64(have)-float64(want)) > oracleTolerance*float64(want):
			f.Verdict = Failed
		}
		figures = append(figures, f)
	}
	return figures, kept
}

// judgeClosed judges a closed-loop run over a stall of d. Its wrong percentiles are
// for information: closed loops have them by nature. The result must be marked as one
// of a closed loop.
func judgeClosed(run *result.Run, d, window time.Duration) []Figure {
	figures := []Figure{Exactly("closed loop: marked as one", result.ModeClosed, run.Header.Mode)}
	distribution := run.Summary.Histograms[result.DeliveryResponse]
	if distribution == nil {
		return append(figures, Exactly("closed loop: deliveries that were timed", "some", "none"))
	}
	met := Figure{What: "closed loop: the longest latency, which is the stall that it met", Expected: Time(d),
		Found: Time(time.Duration(distribution.Max)), Tolerance: "10 %", Verdict: Passed}
	if math.Abs(float64(distribution.Max)-float64(d)) > 0.1*float64(d) {
		met.Verdict = Failed
	}
	figures = append(figures, met)
	for _, label := range oraclePercentiles() {
		truth := oracle(share(label), d, window, 1)
		f := Figure{What: "closed loop: what it reports as p" + string(label), Found: "n/a", Verdict: Information}
		if have := distribution.Figures[label].Value; have > 0 {
			f.Found = fmt.Sprintf("%s, %s times too small", Time(time.Duration(have)), trimmed(float64(truth)/float64(have)))
		}
		figures = append(figures, f)
	}
	return figures
}

// share reads a percentile as users write it: "99.9" is 0.999.
func share(label result.Percentile) float64 {
	p, ok := label.Number()
	if !ok {
		panic("selftest: percentile " + string(label)) // they are our own constants
	}
	return p / 100
}

// oracleChart draws what both loops measured, and what was expected.
func oracleChart(open, closed *result.Run, d, window time.Duration, kept float64) report.Picture {
	c := report.Picture{Title: "A stall, as an open and as a closed loop report it",
		Caption: fmt.Sprintf("The broker was paused for %s in a window of %s.", Time(d), Time(window)),
		X:       report.PictureAxis{Label: "percentile", Scale: report.PicturePercentile}, Y: report.PictureAxis{Label: "delivery.response", Scale: report.PictureDuration}}
	theory := report.PictureLine{Name: "expected"}
	for _, label := range result.Percentiles() {
		if x := oracle(share(label), d, window, kept); x > d/20 {
			theory.X, theory.Y = append(theory.X, 100*share(label)), append(theory.Y, float64(x))
		}
	}
	c.Lines = append(c.Lines, theory)
	for _, of := range []struct {
		name string
		run  *result.Run
	}{{"open loop", open}, {"closed loop", closed}} {
		if x := of.run.Metrics[result.DeliveryResponse]; x != nil {
			c.Lines = append(c.Lines, curve(of.name, x))
		}
	}
	return c
}
