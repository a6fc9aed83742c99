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
	"sixnines/internal/spell"
	"sixnines/internal/vitals"
	"sixnines/result"
)

// The load of the trial. The pause is so large a part of the window that it determines
// p99, which is then invalid.
const (
	stopRate      = 1000 // a second
	stopTolerance = 0.10 // of its length
)

// saysPaused reports whether a reason says that the tool itself was paused.
func saysPaused(r result.Reason) bool {
	return has(result.ReasonFrozen, result.ReasonSelfInflicted)(r)
}

// errNoStopping says that this system cannot stop and continue processes.
var errNoStopping = errors.New("a process cannot be stopped and continued on " + runtime.GOOS + "; run this on Linux")

// selfFreeze stops the tool while it measures: the tool must report that. Then it stops
// the broker for as long: the tool must not report that as its own pause.
func selfFreeze(ctx context.Context, b *Bench) (*Outcome, error) {
	window, length := 3*time.Second, 700*time.Millisecond
	if b.Short {
		window, length = 2*time.Second, 400*time.Millisecond
	}
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	text := fmt.Sprintf("target: {driver: \"null\", url: %q}\nphases: {warmup: 300ms, duration: %s, drain: 5s}\nworkload: {rate: %d/s}\nrecord: {interval: 100ms}",
		broker.URLFor("null"), window, stopRate)

	b.Say("the tool stopped for %s", spell.Period(length))
	self, stopped, err := b.stoppedRun(ctx, text, func(c *Child) (stop, cont func() error) {
		return func() error { return suspend(c.Process()) }, func() error { return resume(c.Process()) }
	}, length)
	if errors.Is(err, errNoStopping) || errors.Is(err, brokers.ErrUnavailable) {
		return Skip(err.Error()), nil
	}
	if err != nil {
		return nil, err
	}
	b.Say("the broker stopped for %s", spell.Period(length))
	other, frozen, err := b.stoppedRun(ctx, text, func(*Child) (stop, cont func() error) {
		return func() error { _, err := broker.Freeze(ctx); return err }, func() error { _, err := broker.Thaw(ctx); return err }
	}, length)
	if err != nil {
		return nil, err
	}
	due := int64(window / (time.Second / stopRate))
	return Conclude(fmt.Sprintf("when it is stopped for %s during a run, the tool calls the p99 of its own result INVALID and says why; when the broker is stopped for %s, it attributes the latency to the broker",
		Time(stopped), Time(frozen)), append(judgeSelf(self, stopped, due), judgeOther(other, frozen, due)...)...), nil
}

// stoppedRun runs the scenario in a process of its own and, in the window, calls stop
// and, after length, cont. It returns the actual length.
func (b *Bench) stoppedRun(ctx context.Context, text string, what func(*Child) (stop, cont func() error), length time.Duration) (*result.Run, time.Duration, error) {
	s, err := b.Scenario(text)
	if err != nil {
		return nil, 0, err
	}
	child, err := b.Child(ctx, s, nil)
	if err != nil {
		return nil, 0, err
	}
	defer child.Kill()
	if err := child.Measuring(ctx); err != nil {
		return nil, 0, err
	}
	stop, cont := what(child)
	if err := stop(); err != nil {
		return nil, 0, err
	}
	from := clock.Now()
	clock.SleepUntilBlocking(from + int64(length))
	if err := cont(); err != nil {
		return nil, 0, err
	}
	stopped := time.Duration(clock.Now() - from)
	run, err := child.Wait()
	return run, stopped, err
}

// judgeSelf judges the result of a run whose own process was stopped for d.
func judgeSelf(run *result.Run, d time.Duration, due int64) []Figure {
	figures := survived("the tool stopped", run, d, due)
	// An INVALID run makes all of its percentiles invalid.
	p99, v := result.Status(""), run.Summary.Verdict
	if p99 = v.Limit(result.DeliveryResponse).Of("99"); v.Status == result.Invalid {
		p99 = v.Status
	}
	figures = append(figures, Exactly("the tool stopped: p99 is said to be", result.Invalid, p99))
	reasons := Figure{What: "the tool stopped: reasons that say so", Expected: "at least one", Found: codesThat(run, saysPaused), Verdict: Passed}
	if reasons.Found == noCodes {
		reasons.Verdict = Failed
	}
	figures = append(figures, reasons)
	longest := longestFreeze(run)
	stop := Figure{What: "the tool stopped: the longest pause that it noticed", Expected: Time(d), Found: Time(longest),
		Tolerance: fmt.Sprintf("%.0f %%", 100*stopTolerance), Verdict: Passed}
	if math.Abs(float64(longest-d)) > stopTolerance*float64(d) {
		stop.Verdict = Failed
	}
	return append(figures, stop)
}

// judgeOther judges the result of a run whose broker was stopped for d.
func judgeOther(run *result.Run, d time.Duration, due int64) []Figure {
	figures := survived("the broker stopped", run, d, due)
	figures = append(figures, Exactly("the broker stopped: reasons that attribute it to the tool", "none", codesThat(run, saysPaused)))
	longest := longestFreeze(run)
	f := Figure{What: "the broker stopped: the longest pause of the tool", Expected: "less than half of " + Time(d), Found: Time(longest), Verdict: Passed}
	if longest >= d/2 {
		f.Verdict = Failed
	}
	return append(figures, f)
}

// survived judges what must hold in both cases: the schedule continues, no message is
// lost, and the pause is in the latencies.
func survived(subject string, run *result.Run, d time.Duration, due int64) []Figure {
	figures := []Figure{
		Exactly(subject+": messages that were due", due, run.Counters.Scheduled),
		Exactly(subject+": messages that arrived, once", due, run.Counters.Received),
	}
	slowest := Figure{What: subject + ": the longest delivery.response", Expected: "at least " + Time(d), Found: "none",
		Tolerance: fmt.Sprintf("%.0f %%", 100*stopTolerance), Verdict: Failed}
	if h := run.Summary.Histograms[result.DeliveryResponse]; h != nil {
		slowest.Found = Time(time.Duration(h.Max))
		if float64(h.Max) >= (1-stopTolerance)*float64(d) {
			slowest.Verdict = Passed
		}
	}
	return append(figures, slowest)
}

// longestFreeze returns the longest time for which both hiccup meters were paused.
func longestFreeze(run *result.Run) time.Duration {
	var pauses []vitals.Pause
	for _, p := range run.Pauses {
		pauses = append(pauses, vitals.Pause{Start: p.Start, End: p.End, Source: p.Source})
	}
	var longest time.Duration
	for _, f := range vitals.Freezes(pauses) {
		longest = max(longest, f.Length())
	}
	return longest
}
