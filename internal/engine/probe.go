package engine

import (
	"context"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/result"
	"sixnines/scenario"
)

// probe sends to every topic until every delivery group has seen something:
// only then can a loss be called one.
func (ld *load) probe(ctx context.Context) error {
	if ld.workload.Pattern == scenario.Publish {
		return nil
	}
	began := clock.Now()
	for round := 0; ; round++ {
		missing := -1
		for t := range ld.layout.topics {
			if ld.seenEverywhere(t) {
				continue
			}
			missing = t
			for _, st := range ld.streams {
				if st.plan.topic == t {
					if err := ld.sendProbe(st); err != nil {
						return fmt.Errorf("first message to topic %s: %w", ld.layout.topics[t], err)
					}
					break
				}
			}
		}
		if missing < 0 {
			break
		}
		// Give the round a moment, longer each time, then ask again.
		patience := time.Now().Add(min(time.Second, 5*time.Millisecond<<min(round, 8)))
		for time.Now().Before(patience) && !ld.seenEverywhere(missing) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: no consumer of topic %s has seen a probe in %v; is something else consuming there, or the broker overloaded?",
					driver.ErrTimeout, ld.layout.topics[missing], time.Duration(clock.Now()-began).Round(time.Millisecond))
			case <-time.After(200 * time.Microsecond):
			}
		}
	}
	ld.cold = append(ld.cold, result.Cold{Name: "first message", Duration: time.Duration(ld.firstTook.Load())})
	ld.cold = append(ld.cold, result.Cold{Name: "until every consumer saw a message", Duration: time.Duration(ld.probeAt.Load() - began)})
	return nil
}

func (ld *load) seenEverywhere(topic int) bool {
	for _, g := range ld.groups {
		for i, t := range g.plan.topics {
			if t == topic && !g.seen[i].Load() {
				return false
			}
		}
	}
	return true
}

func (ld *load) probed(now, sent int64) {
	ld.probeTook.CompareAndSwap(0, max(now-sent, 1))
	if ld.probeAt.Swap(now) == 0 {
		ld.firstTook.Store(now - sent)
	}
}

func (ld *load) sendProbe(st *stream) error {
	sl, index := st.lane.slots.take()
	if sl == nil {
		return fmt.Errorf("%w: the client keeps %d messages", driver.ErrTimeout, len(st.lane.slots.all))
	}
	now := clock.Now()
	if err := st.lane.transmit(st, sl, index, integrity.Probe, now, now, 0, false, nil); err != nil {
		return err
	}
	if st.flusher != nil {
		return st.flusher.Flush()
	}
	return nil
}
