package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/stream"
	"sixnines/internal/engine/window"
)

const (
	// trialPatience is how long the setup waits for the broker's answers to the first messages.
	// It goes on without those that are missing then: the load shows what is wrong.
	trialPatience = 2 * time.Second
	// trialAgain is how long a broker may go on refusing first messages in a way that may
	// change.
	trialAgain = time.Second
)

// tries reports whether messages that are no part of the load are sent before it. Where the broker keeps
// messages for later it would keep these, too.
func (ld *load) tries() bool {
	w := ld.Workload
	return w.Existing == "" && !w.Retains() && !ld.Flow.Consumes && !ld.Flow.Listens && len(ld.receiving.Late.Consumers) == 0
}

// try sends a message by each producer to each of its topics, and returns when the broker
// has taken them, as far as it says so. The error is what it refuses: a load would fail in the same way.
func (ld *load) try(ctx context.Context) error {
	limit := time.Now().Add(trialPatience)
	var since time.Time // a refusal
	pending := ld.sending.Streams
	for round := 0; len(pending) > 0; round++ {
		var asked, kept []*stream.Stream
		for _, st := range pending {
			switch err := ld.sending.SendReadiness(st); {
			case err == send.ErrKept:
				kept = append(kept, st) // the client still has all payloads: it is sent in the next round
			case err != nil:
				return fmt.Errorf("first message to topic %s: %w", ld.Layout.Topics[st.Plan.Topic], err)
			default:
				asked = append(asked, st)
			}
		}
		again, why, err := ld.awaitTrials(ctx, asked, limit)
		if err != nil {
			return err
		}
		if why == nil {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) >= trialAgain {
			return fmt.Errorf("first message: %w", why)
		}
		if why == nil && time.Now().After(limit) {
			break
		}
		if pending = append(again, kept...); why != nil || len(kept) > 0 {
			if !pause(ctx, min(100*time.Millisecond, 5*time.Millisecond<<min(round, 8))) {
				return context.Cause(ctx)
			}
		}
	}
	return ld.syncTrials(ctx, limit)
}

// pause waits; false: ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// awaitTrials waits until limit for the answers to what was sent by the streams, and returns the streams
// whose message was refused, and why. err is the context's.
func (ld *load) awaitTrials(ctx context.Context, streams []*stream.Stream, limit time.Time) (again []*stream.Stream, why, err error) {
	if !ld.Flow.Acked {
		return nil, nil, nil
	}
	for _, st := range streams {
		for !st.Trial.Passed.Load() && time.Now().Before(limit) {
			if refused := st.Trial.Refused.Swap(nil); refused != nil {
				again, why = append(again, st), *refused
				break
			}
			if !pause(ctx, 200*time.Microsecond) {
				return nil, nil, context.Cause(ctx)
			}
			ld.Quiesce(window.OrderRun)
		}
	}
	return again, why, nil
}

// awaitAnswers waits until the broker has acknowledged what was sent before the load, so that the load
// finds every credit and every payload free. It gives up after trialPatience.
func (ld *load) awaitAnswers(ctx context.Context) {
	for limit := time.Now().Add(trialPatience); ld.Flow.Acked && ld.sending.Lent() && time.Now().Before(limit); {
		if !pause(ctx, 200*time.Microsecond) {
			return
		}
		ld.Quiesce(window.OrderRun)
	}
}

// syncTrials waits for a round trip by each connection: by its end the broker has answered what was
// sent on the connection before, if it answers. It does nothing where messages are acknowledged.
func (ld *load) syncTrials(ctx context.Context, limit time.Time) error {
	if ld.Flow.Acked {
		return nil
	}
	limited, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	errs := make([]error, len(ld.sending.Lanes))
	var trips sync.WaitGroup
	for i, l := range ld.sending.Lanes {
		if len(l.Streams) == 0 {
			continue
		}
		if s, ok := l.Streams[len(l.Streams)-1].Producer.(driver.Syncer); ok {
			trips.Go(func() { errs[i] = s.Sync(limited) })
		}
	}
	trips.Wait()
	for _, err := range errs {
		if driver.Final(err) {
			return fmt.Errorf("first message: %w", err)
		}
	}
	return context.Cause(ctx)
}
