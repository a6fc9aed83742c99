package selftest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// refusal makes the broker or the client refuse half of the messages, and requires that
// they rank above every latency.
func refusal(ctx context.Context, b *Bench) (*Outcome, error) {
	const rate, window = 1000, time.Second
	var figures []Figure
	for _, by := range []string{"nack", "reject"} {
		b.Say("half of the messages refused: %s", by)
		run, err := b.RunText(ctx, fmt.Sprintf(`
phases: {warmup: 100ms, duration: %s, drain: 1s}
target: {driver: mem, options: {ack: broker, %s: %d, every: 2}}
workload: {rate: %d/s}`, window, by, rate/2, rate), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", by, err)
		}
		for _, m := range []result.Metric{result.DeliveryResponse, result.PublishResponse} {
			d := run.Summary.Histograms[m]
			if d == nil || d.Succeeded == nil {
				return nil, fmt.Errorf("%s: %s has no refused messages", by, m)
			}
			name := by + ": " + string(m)
			figures = append(figures, Exactly(name+", refused", int64(rate/2), d.Refusals),
				Exactly(name+", percentiles printed refused", "75 90 95 99 max", refused(d)),
				Exactly(name+", those that succeeded", int64(rate/2), d.Succeeded.Total()))
		}
		var outcomes []string
		run.Summary.Verdict = result.Verdict{Status: result.Valid} // this trial does not judge what else happened on this machine
		for _, text := range []string{"delivery.response p99 < 1h", "publish.response max < 1h", "availability > 40%"} {
			o, err := scenario.ParseObjective(text)
			if err != nil {
				return nil, err
			}
			outcomes = append(outcomes, string(judge.Decide(run, o).Outcome))
		}
		share := "none"
		if a := run.Summary.Availability; a != nil {
			share = fmt.Sprintf("%d of %d", a.Answered, a.Of)
		}
		figures = append(figures, Exactly(by+": objectives on p99, max and availability", "missed missed met", strings.Join(outcomes, " ")),
			Exactly(by+": answered in time", fmt.Sprintf("%d of %d", rate/2, rate), share))
	}
	return Conclude("half of the messages were refused; a refused message must count as slower than any latency, and objectives on latencies must fail", figures...), nil
}

// refused lists the percentiles that refused messages reach, in the order of reports.
func refused(d *result.Distribution) string {
	var out []string
	for _, p := range append(result.Percentiles(), result.Maximum) {
		if x, _ := d.At(p); x.Refused {
			out = append(out, string(p))
		}
	}
	return strings.Join(out, " ")
}

// giveUp makes acknowledgements time out early in a run, and requires that their lower
// bounds are the time-out and not the rest of the run.
func giveUp(ctx context.Context, b *Bench) (*Outcome, error) {
	const rate, after = 1000, 100 * time.Millisecond
	window := 4 * time.Second
	if b.Short {
		window = 2 * time.Second
	}
	lost := int64(rate*window.Seconds()) / 50
	run, err := b.RunText(ctx, fmt.Sprintf(`
phases: {warmup: 100ms, duration: %s, drain: 500ms}
target: {driver: mem, options: {ack: broker, lose: %d, every: 49, give_up: %s}}
workload: {rate: %d/s, pattern: publish}`, window, lost, after, rate), nil)
	if err != nil {
		return nil, err
	}
	x, d := run.Metrics[result.PublishResponse], run.Summary.Histograms[result.PublishResponse]
	if x == nil || x.Censored == nil || d == nil {
		return nil, fmt.Errorf("none of %s was given up", spell.Plural(lost, "message"))
	}
	least, most := time.Duration(x.Censored.Min()), time.Duration(x.Censored.Max())
	bound := func(what string, v time.Duration) Figure {
		f := Figure{What: what, Expected: Time(after), Found: Time(v), Tolerance: "1 % below, 100 % above", Verdict: Passed}
		if v < after*99/100 || v > 2*after {
			f.Verdict = Failed
		}
		return f
	}
	return Conclude(fmt.Sprintf("one acknowledgement in fifty was given up after %s; nothing more is known about it, however long the run lasts", spell.Period(after)),
		Exactly("given up", lost, d.Censored), Exactly("p99 is a lower bound", true, d.Figures["99"].AtLeast),
		bound("the least bound", least), bound("the largest bound", most)), nil
}

// forgotten makes the senders silently drop messages of the schedule, and requires that
// the accounts no longer add up.
func forgotten(ctx context.Context, b *Bench) (*Outcome, error) {
	const rate, every = 3000, 500
	window := time.Second
	b.Say("the senders drop one message in %d", every)
	run, err := b.RunText(ctx, fmt.Sprintf(`
phases: {warmup: 100ms, duration: %s, drain: 500ms}
target: {driver: mem, options: {ack: broker}}
workload: {rate: %d/s, producers: 2}`, window, rate), func(c *engine.Config) { c.DropEvery = every })
	if err != nil {
		return nil, err
	}
	v, c := run.Summary.Verdict, run.Counters
	says := func(yes bool) string {
		if yes {
			return "yes"
		}
		return "no"
	}
	return Conclude(fmt.Sprintf("the senders dropped one message in %d silently; the accounts must no longer add up", every),
		Exactly("messages in no account", int64(rate/every), c.Scheduled-c.NotSent-c.Taken),
		Exactly("verdict", string(result.Invalid), string(v.Status)),
		Exactly("the verdict says so", "yes", says(slices.ContainsFunc(v.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonConservation }))),
		Exactly("verify says so", "yes", says(slices.ContainsFunc(judge.Verify(run, run.Header.Tool), func(p judge.Problem) bool { return p.Where == "counters" })))), nil
}
