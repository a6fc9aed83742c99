package engine

import (
	"context"
	"fmt"
	"time"

	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/send"
)

// meet waits for the run's peers before a step of the setup, or after the last one: nobody uses topics before one
// process has made them, sends before all consumers are there, or begins before messages have come to all of these.
func (r *run) meet(ctx context.Context, step int) (err error) {
	p := r.config.Peers
	if p == nil {
		return nil
	}
	switch step {
	case 0:
		if !p.First {
			err = p.Reach(ctx, plan.PointProvisioned)
		}
	case 1:
		if p.First {
			err = p.Reach(ctx, plan.PointProvisioned)
		}
	case 2:
		err = p.Reach(ctx, plan.PointConnected)
	default:
		err = r.arrive(ctx)
	}
	if why := r.RefusedEarly(); why != nil {
		return why
	}
	if err != nil && context.Cause(ctx) != nil {
		return fmt.Errorf("%w before the load began", plan.ErrAborted)
	}
	return err
}

// arrive waits until messages have come to all consumers of all peers. Producers send until then: a broker may
// pass nothing on yet to consumers that it has just accepted.
func (r *run) arrive(ctx context.Context) error {
	reached := make(chan error, 1)
	go func() { reached <- r.config.Peers.Reach(ctx, plan.PointArrived) }()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		select {
		case err := <-reached:
			return err
		case <-time.After(wait):
		}
		for _, ld := range r.loads {
			for _, st := range ld.sending.Streams {
				// Where the client still has all payloads, one of the messages before will do.
				if err := ld.sending.SendReadiness(st); err != nil && err != send.ErrKept {
					return fmt.Errorf("first message to topic %s: %w", ld.Layout.Topics[st.Plan.Topic], err)
				}
			}
		}
	}
}

// part waits until all peers have closed their clients, so that what was provisioned can be removed. Those that died are
// not waited for longer than the caller does.
func (r *run) part() {
	if p := r.config.Peers; p != nil {
		_ = p.Reach(context.Background(), plan.PointClosed) // what was provisioned is removed all the same
	}
}
