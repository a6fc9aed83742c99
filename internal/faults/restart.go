package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/result"
)

// restartLimit bounds how long nodes may take until they answer again.
const restartLimit = 2 * time.Minute

// end ends nodes, which stay down.
type end struct {
	*nodes
	by func(ctx context.Context, nodes ...int) (brokers.Change, error)
}

// Do implements actions.Doer.
func (e *end) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := e.ready(ctx, at); err != nil {
		return 0, err
	}
	return e.changed(e.by(ctx, e.chosen...))
}

// restart ends nodes and starts them again.
type restart struct{ end }

// Undo implements actions.Undoer: it starts the nodes again, and returns when they were started. At the end
// of a run they are not needed.
func (r *restart) Undo(ctx context.Context) (happened int64, err error) {
	if r.chosen == nil || actions.Ends(ctx) {
		return 0, nil
	}
	defer r.release()
	return r.changed(r.target.Cluster.Resume(ctx, r.chosen...))
}

// rolling restarts nodes one after the other.
type rolling struct {
	*nodes
	restarted int            // of the chosen nodes, the first ones
	last      brokers.Change // of the node that was started again last
}

// Describe implements actions.Describer: it says which nodes were restarted.
func (r *rolling) Describe(e *result.Event) {
	r.nodes.Describe(e)
	e.Action.Nodes = r.chosen[:r.restarted]
}

// Do implements actions.Doer: it returns when all nodes were restarted. A node that was ended is started
// again if the context ends meanwhile, and the others stay as they are: an error, unless the run was interrupted.
func (r *rolling) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := r.ready(ctx, at); err != nil {
		return 0, err
	}
	c := r.target.Cluster
	for i, k := range r.chosen {
		if i > 0 && until(ctx, clock.Now()+int64(r.act.Rolling.Pause)) != nil {
			if errors.Is(context.Cause(ctx), actions.ErrInterrupted) {
				break
			}
			return happened, fmt.Errorf("the run ended when %d of %d nodes were restarted: lengthen phases.duration, or shorten the pause", i, len(r.chosen))
		}
		// A node that is restarted is so whole: the others need it.
		whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), restartLimit)
		ended, err := c.Terminate(whole, k)
		if i == 0 {
			happened = ended.At
		}
		if err == nil {
			r.last, err = c.Resume(whole, k)
		}
		cancel()
		if err != nil {
			return happened, err
		}
		r.restarted++
	}
	return r.changed(brokers.Change{At: happened, Complete: r.last.Complete}, nil)
}

// Undo implements actions.Undoer: all is restored, and it says since when.
func (r *rolling) Undo(context.Context) (happened int64, err error) {
	r.release()
	r.latest = r.last
	return r.last.Complete, nil
}
