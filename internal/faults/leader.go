package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/result"
)

// Provisioned notes what names the destinations of a workload. It is an engine.Config.Provisioned. Leaders
// are those of the first destination of the first workload that has any.
func (t *Target) Provisioned(_ string, d driver.DestinationNamer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.namers = append(t.namers, d)
}

// destination returns what leaders are asked for; the zero value where the broker has no such thing.
func (t *Target) destination() (d brokers.Destination) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.namers {
		if all := n.Destinations(); len(all) > 0 {
			return brokers.Destination{Name: all[0].Name, Partition: all[0].Partition}
		}
	}
	return d
}

// asked is how long before an act's instant its leader is asked for, and electing how long an election
// that is under way is waited for.
const (
	asked    = time.Second
	electing = 10 * time.Second
)

// placement asks which node leads, and which follow. It waits for an election.
func (t *Target) placement(ctx context.Context) (brokers.Placement, error) {
	limit := clock.Now() + int64(electing)
	for {
		p, err := t.Cluster.Leader(ctx, t.destination())
		if !errors.Is(err, brokers.ErrNoLeader) || clock.Now() > limit {
			return p, err
		}
		if err := until(ctx, clock.Now()+int64(50*time.Millisecond)); err != nil {
			return p, err
		}
	}
}

// transfer moves leadership to another node, as planned.
type transfer struct {
	*nodes
	moved brokers.Transferred
}

// Do implements actions.Doer. It returns when another node leads.
func (x *transfer) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := x.ready(ctx, at); err != nil {
		return 0, err
	}
	if x.moved, err = x.target.Cluster.Transfer(ctx, x.target.destination()); err != nil {
		return 0, err
	}
	return x.changed(brokers.Change{At: x.moved.At, Complete: x.moved.Complete}, nil)
}

// Undo implements actions.Undoer: it restores nothing, and says when the other node led.
func (x *transfer) Undo(context.Context) (happened int64, err error) {
	x.release()
	return x.moved.Complete, nil
}

// Describe implements actions.Describer.
func (x *transfer) Describe(e *result.Event) {
	x.nodes.Describe(e)
	e.Action.Nodes = []int{x.moved.From, x.moved.To}
	e.Detail += fmt.Sprintf(" from node %d to node %d", x.moved.From, x.moved.To)
}
