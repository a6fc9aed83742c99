package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/stream"
	"sixnines/internal/spell"
	"sixnines/result"
)

const (
	// A round of single messages lasts at least stableRound and has at least stableFewest of them.
	stableRound  = 150 * time.Millisecond
	stableFewest = 25
	// A round whose median is below stableFall of the level sets a new level. The latency is stable
	// when the level holds for stableRounds rounds in a row.
	stableFall   = 0.85
	stableRounds = 3
	// stablePatience is how long one message may take. All of it takes at most stableAtMost, and at
	// most stableWarmups times the warm-up.
	stablePatience = time.Second
	stableAtMost   = 30 * time.Second
	stableWarmups  = 10
)

// warmsUntilStable reports whether single messages are sent before the warm-up until their latency
// is stable: if the broker was started for this run, so that it is cold, and the scenario does not
// say how long to warm up.
func (ld *load) warmsUntilStable() bool {
	return ld.Managed && ld.Flow.Timed && ld.Warmup > 0 &&
		ld.Scenario.DefaultWarmup() && !ld.Flow.Publishes && !ld.Flow.Listens && ld.Workload.Existing == ""
}

// warmUntilStable sends one message after the other, through all producers in turn, until the
// median of a round has stopped falling: a broker that has just been started takes 10 times as long
// for its first thousand messages. They are not recorded. The header says how long this took; a
// latency that does not become stable is an event.
func (ld *load) warmUntilStable(ctx context.Context) {
	began := clock.Now()
	limit := began + int64(min(stableAtMost, stableWarmups*ld.Warmup))
	var first, level, last int64
	next := 0
	for held := 0; held < stableRounds; {
		var took []int64
		for from := clock.Now(); len(took) < stableFewest || clock.Now()-from < int64(stableRound); next++ {
			if clock.Now() >= limit {
				ld.Event(result.Event{At: clock.Now(), Kind: result.EventWarmUp, Detail: fmt.Sprintf(
					"the latency of single messages was not stable after %s: p50 fell from %s to %s and was still falling",
					spell.Period(time.Duration(limit-began)), spell.Duration(first), spell.Duration(last))})
				return
			}
			v, ok := ld.single(ctx, ld.sending.Streams[next%len(ld.sending.Streams)])
			if !ok {
				return // the run will report what is wrong
			}
			took = append(took, v)
		}
		slices.Sort(took)
		last = took[(len(took)-1)/2]
		if first == 0 {
			first = last
		}
		if held++; level == 0 || float64(last) < stableFall*float64(level) {
			level, held = last, 0
		}
		now := clock.Now()
		if now-began < int64(time.Second) {
			continue // too short to be shown
		}
		if ld.observer != nil {
			ld.observer(Progress{Phase: "warm-up", Elapsed: time.Duration(now - began), Left: ld.Warmup,
				Settling: true, P50: time.Duration(last)})
		}
	}
	ld.session.SetupTimes = append(ld.session.SetupTimes, result.SetupTime{Name: fmt.Sprintf("until the p50 of single messages was stable, at %s after %s at first",
		spell.Duration(last), spell.Duration(first)), Duration: time.Duration(clock.Now() - began)})
}

// single sends a message and returns how many ns it took to its first consumer. One
// that does not come within stablePatience counts as that. false: it could not be sent, or the run is
// over. The 0 in ReadyTook marks that none has come; the consumer that swaps it notes its time.
func (ld *load) single(ctx context.Context, st *stream.Stream) (took int64, ok bool) {
	began := clock.Now()
	ld.receiving.ReadyTook.Store(0)
	if err := ld.sending.SendReadiness(st); err != nil {
		return 0, false
	}
	for ld.receiving.ReadyTook.Load() == 0 {
		if clock.Now()-began > int64(stablePatience) {
			return int64(stablePatience), true
		}
		select {
		case <-ctx.Done():
			return 0, false
		case <-ld.Refused:
			return 0, false
		case <-ld.Abort:
			return 0, false
		default:
			time.Sleep(50 * time.Microsecond)
		}
	}
	return ld.receiving.ReadyTook.Load(), true
}
