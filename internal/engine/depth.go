package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/result"
)

const (
	// depthPeriod is how often a broker is asked how much it holds, at the most, and
	// depthPatience how long an answer is waited for.
	depthPeriod   = 200 * time.Millisecond
	depthPatience = 2 * time.Second
	// depthMost is how many queues are asked for each time, at the most: a topic for a
	// group each.
	depthMost = 64
)

// depth is what the broker says that it holds for the load's consumers. It is asked
// where they come late or pause.
type depth struct {
	teller driver.DepthTeller
	specs  []driver.ConsumerSpec        // a consumer of each group
	counts string                       // what it counts, one of result's Depth constants; empty: nobody can tell
	newest atomic.Pointer[result.Depth] // told since the last interval; nil: nothing
}

// add adds a consumer of a delivery group, unless there is one.
func (d *depth) add(spec driver.ConsumerSpec, group int) {
	if group == len(d.specs) { // its first
		d.specs = append(d.specs, spec)
	}
}

// planDepth asks for the first time, which tells whether there is an answer.
func (r *receiving) planDepth(ctx context.Context) {
	d := &r.depth
	var ok bool
	if d.teller, ok = r.session.main.(driver.DepthTeller); !ok || !r.workload.Consumer.Interrupted() || r.config.quiet != nil {
		return
	}
	queues := 0
	for _, spec := range d.specs {
		queues += len(spec.Topics)
	}
	if queues > depthMost {
		r.event(result.Event{At: clock.Now(), Kind: "depth", Detail: "there are too many queues to ask the broker for the depth of each"})
		return
	}
	_, unacknowledged, err := r.askDepth(ctx)
	switch {
	case errors.Is(err, driver.ErrUnsupported):
	case err != nil:
		r.event(result.Event{At: clock.Now(), Kind: "depth", Detail: "the broker does not tell how much it holds: " + err.Error()})
	case unacknowledged:
		d.counts = result.DepthUnacknowledged
	default:
		d.counts = result.DepthWaiting
	}
}

// askDepth asks for the depth of all queues.
func (r *receiving) askDepth(ctx context.Context) (messages int64, unacknowledged bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, depthPatience)
	defer cancel()
	for _, spec := range r.depth.specs {
		for _, topic := range spec.Topics {
			one, err := r.depth.teller.Depth(ctx, topic, spec)
			if err != nil {
				return 0, false, err
			}
			messages, unacknowledged = messages+one.Messages, one.Unacknowledged
		}
	}
	return messages, unacknowledged, nil
}

// startDepth asks now and then from now on, until the run is over. What fails once
// is asked again: a broker may be away for a while.
func (r *receiving) startDepth() {
	if r.depth.counts == "" {
		return
	}
	r.sending.senders.Go(func() {
		ctx, cancel := r.life()
		defer cancel()
		for r.sleepUntil(clock.Now() + int64(depthPeriod)) {
			n, _, err := r.askDepth(ctx)
			if err == nil {
				r.depth.newest.Store(&result.Depth{At: clock.Now() - r.start.Load(), Messages: n})
			} else if errors.Is(err, driver.ErrUnsupported) {
				return
			}
		}
	})
}
