package selftest

import (
	"context"
	"fmt"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// The loads of the trial: one message in fifty is lost, and a consumer takes twice as
// long for a message as the rate allows.
const (
	lossyRate = 2000 // a second
	lossyOf   = 50
	slowRate  = 1000 // a second
	slowWork  = 2 * time.Millisecond
)

// lossy compares a broker that loses unacknowledged messages with one whose consumer
// falls behind: the number of missing messages grows in both, but only the second is
// overloaded.
func lossy(ctx context.Context, b *Bench) (*Outcome, error) {
	window := 4 * time.Second
	if b.Short {
		window = 1500 * time.Millisecond
	}
	run := func(drain time.Duration, options, workload string) (*result.Run, error) {
		return b.RunText(ctx, fmt.Sprintf("phases: {warmup: 200ms, duration: %s, drain: %s}\ntarget: {driver: mem, options: %s}\nworkload: %s\nrecord: {interval: 100ms}",
			window, drain, options, workload), nil)
	}
	due := lossyRate * int64(window) / 1e9
	b.Say("one message in %d lost, none acknowledged", lossyOf)
	losing, err := run(time.Second, fmt.Sprintf("{lose: %d, every: %d}", due, lossyOf), fmt.Sprintf("{rate: %d/s}", lossyRate))
	if err != nil {
		return nil, fmt.Errorf("a lossy broker: %w", err)
	}
	b.Say("a consumer that takes %s for each message at %s", spell.Period(slowWork), spell.Rate(slowRate))
	slow, err := run(250*time.Millisecond, "{queue: 1048576}", fmt.Sprintf("{rate: %d/s, consumer: {work: %s}}", slowRate, slowWork))
	if err != nil {
		return nil, fmt.Errorf("a slow consumer: %w", err)
	}
	return Conclude("messages that a broker loses without having acknowledged them are counted and not attributed; a consumer that is slower than the load is an overload",
		append(judgeLossy(losing, due), judgeSlow(slow)...)...), nil
}

// attributesLoss reports whether a reason attributes missing messages to an overload, a
// broken guarantee or an error of the accounts.
func attributesLoss(r result.Reason) bool {
	return has(result.ReasonBacklog, result.ReasonSteady, result.ReasonMissing, result.ReasonLostAcked, result.ReasonConservation, result.ReasonGeneratorLimit)(r)
}

// judgeLossy judges a run in which one message in lossyOf was lost.
func judgeLossy(run *result.Run, due int64) []Figure {
	const name = "a lossy broker"
	lost := due / lossyOf
	figures := conserved(name, run, map[string]int64{"scheduled": due, "sent": due, "unknown": due, "expected": due,
		"received": due - lost, "missing": lost, "missing_unknown": lost, "censored": lost})
	figures = append(figures, Exactly(name+": reasons of the verdict that attribute them", "none", codesThat(run, attributesLoss)))
	v := run.Summary.Verdict
	verdict := Figure{What: name + ": the verdict", Expected: string(result.Valid), Found: string(v.Status), Verdict: Passed}
	switch {
	case v.Status == result.Valid:
	case v.Status == result.Unstable || v.Status == result.Invalid && codesThat(run, byGenerator) == noCodes:
		verdict.Verdict = Failed
	default:
		verdict.Verdict, verdict.Reason = NotAssessed, "the verdict is about the generator and the machine ("+codesThat(run, anyReason)+"): run it again while nothing else runs"
	}
	return append(figures, verdict)
}

// judgeSlow judges a run whose consumer needs twice the time that it has.
func judgeSlow(run *result.Run) []Figure {
	const name = "a slow consumer"
	closes, problem := run.Counters.Conserved()
	if closes {
		problem = "they add up"
	}
	reasons := Figure{What: name + ": reasons of the verdict", Expected: "backlog among them", Found: codesThat(run, anyReason), Verdict: Passed}
	if codesThat(run, has(result.ReasonBacklog)) == noCodes {
		reasons.Verdict = Failed
	}
	return []Figure{Exactly(name+": the verdict", result.Unstable, run.Summary.Verdict.Status), reasons, Exactly(name+": the accounts", "they add up", problem)}
}
