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
	// settleRound and settleFewest are how long a round of single messages is, at
	// least, and how many it has.
	settleRound  = 150 * time.Millisecond
	settleFewest = 25
	// settleFall is to what share of the level a round's median must fall to be a new
	// level, and settleHeld for how many rounds in a row a level must hold.
	settleFall = 0.85
	settleHeld = 3
	// settlePatience is how long one message is waited for; settleAtMost, and
	// settleTimes the warm-up, are how long it all may take.
	settlePatience = time.Second
	settleAtMost   = 30 * time.Second
	settleTimes    = 10
)

// settles reports whether the warm-up is preceded by single messages until their
// latency holds: where the broker was started for this run, so that it is cold,
// and the scenario does not say how long to warm up.
func (ld *load) settles() bool {
	return ld.Managed && ld.Flow.Timed && ld.Warmup > 0 &&
		ld.Scenario.DefaultWarmup() && !ld.Flow.Publishes && ld.Workload.Existing == ""
}

// settle sends one message after the other, through all producers in turn, until
// the median of a round has not fallen any more for some rounds: a broker that
// has just been started takes 10 times as long for its first thousand messages.
// They are not recorded. How long it took is a cold figure; that the latency did not
// settle is an event.
func (ld *load) settle(ctx context.Context) {
	began := clock.Now()
	limit := began + int64(min(settleAtMost, settleTimes*ld.Warmup))
	var first, level, last int64
	next := 0
	for held := 0; held < settleHeld; {
		var took []int64
		for from := clock.Now(); len(took) < settleFewest || clock.Now()-from < int64(settleRound); next++ {
			if clock.Now() >= limit {
				ld.Event(result.Event{At: clock.Now(), Kind: result.EventWarmUp, Detail: fmt.Sprintf(
					"the latency of single messages had not settled after %s: p50 fell from %s to %s, and was still falling",
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
		if held++; level == 0 || float64(last) < settleFall*float64(level) {
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
	ld.session.SetupTimes = append(ld.session.SetupTimes, result.SetupTime{Name: fmt.Sprintf("until the p50 of single messages settled, at %s after %s at first",
		spell.Duration(last), spell.Duration(first)), Duration: time.Duration(clock.Now() - began)})
}

// single sends a message and returns how long it took to its first consumer. One
// that does not come counts as long as it was waited for.
func (ld *load) single(ctx context.Context, st *stream.Stream) (took int64, ok bool) {
	began := clock.Now()
	ld.receiving.ReadyTook.Store(0)
	if err := ld.sending.SendProbe(st); err != nil {
		return 0, false
	}
	for ld.receiving.ReadyTook.Load() == 0 {
		if clock.Now()-began > int64(settlePatience) {
			return int64(settlePatience), true
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
