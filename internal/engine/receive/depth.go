package receive

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
	"sixnines/result"
)

const (
	// depthPeriod is the least time between two questions to a broker how much it holds, and
	// depthPatience how long the answers of one round may take.
	depthPeriod   = 200 * time.Millisecond
	depthPatience = 2 * time.Second
	// depthMost bounds the queues that are asked about each time: one for each topic of
	// each group.
	depthMost = 64
)

// depth is how much the broker says that it holds for the load's consumers. It is asked
// where they connect late or pause, or consume what another run left. The asking goroutine stores the
// answers, which do not change afterwards.
type depth struct {
	specs  []driver.ConsumerSpec        // a consumer of each group; fixed once consumers have connected
	Newest atomic.Pointer[result.Depth] // the newest answer since the last interval; the collector swaps it for nil
	Last   atomic.Pointer[result.Depth] // the newest answer; nil before the first
}

// add adds a consumer of a delivery group, unless the group has one already. Groups come in order.
func (d *depth) add(spec driver.ConsumerSpec, group int) {
	if group == len(d.specs) { // its first
		d.specs = append(d.specs, spec)
	}
}

// StartDepth has start run what asks the broker in periods, until the run is over or the driver says
// that it cannot tell. After any other error it asks again: a consumer may not have connected yet, and a
// broker may be away for a while. Where there is nothing to ask, start is not called.
func (r *Receiving) StartDepth(start func(func())) {
	teller, ok := r.Session.Main.(driver.DepthTeller)
	if !ok || !r.Interrupted && r.Workload.Existing == "" {
		return
	}
	queues := 0
	for _, spec := range r.Depth.specs {
		queues += len(spec.Topics)
	}
	if queues > depthMost {
		r.Event(result.Event{At: clock.Now(), Kind: result.EventDepth, Detail: "there are too many queues to ask the broker for the depth of each", Count: int64(queues)})
		return
	}
	start(func() {
		ctx, cancel := r.Context()
		defer cancel()
		for r.SleepUntil(clock.Now() + int64(depthPeriod)) {
			r.Quiesce(window.OrderLoad)
			d, err := r.askDepth(ctx, teller)
			if errors.Is(err, driver.ErrUnsupported) {
				return
			}
			if err == nil {
				r.Depth.Last.Store(&d)
				r.Depth.Newest.Store(&d)
			}
		}
	})
}

// askDepth asks for the depth of all queues, and returns the sums; At is ns from the window's start. The
// error is the driver's.
func (r *Receiving) askDepth(ctx context.Context, teller driver.DepthTeller) (sum result.Depth, err error) {
	ctx, cancel := context.WithTimeout(ctx, depthPatience)
	defer cancel()
	for _, spec := range r.Depth.specs {
		for _, topic := range spec.Topics {
			one, err := teller.Depth(ctx, topic, spec)
			if err != nil {
				return sum, err
			}
			sum.Messages, sum.Unacknowledged = sum.Messages+one.Messages, one.Unacknowledged
		}
	}
	sum.At = clock.Now() - r.Start.Load()
	return sum, nil
}
