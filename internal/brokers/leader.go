package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"sixnines/internal/clock"
)

// ErrNoLeader says that a destination has no leader at present: an election is under way, or too few
// nodes are left for one.
var ErrNoLeader = errors.New("no leader")

// ErrNoTransfer says that a product cannot move the leadership of a destination as planned.
var ErrNoTransfer = errors.New("leadership cannot be transferred")

// Destination is what nodes keep together with a leader among them, by the broker's own name.
type Destination struct {
	Name      string // of the topic, the stream or the queue
	Partition int    // Kafka: of the topic
	Consumer  string // JetStream: not the stream is meant but this consumer of it; empty: the stream
}

func (d Destination) String() string {
	switch {
	case d.Consumer != "":
		return fmt.Sprintf("consumer %s of %s", d.Consumer, d.Name)
	case d.Partition > 0:
		return fmt.Sprintf("%s/%d", d.Name, d.Partition)
	}
	return d.Name
}

// Placement says which nodes keep a destination.
type Placement struct {
	Leader    int
	Followers []int // the other nodes that keep it, ascending, whatever their state
	// InSync are those of Followers that the leader counts as up to date; nil: the product does not say.
	InSync []int
}

// roles asks nodes of a product about leaders. Both functions get the nodes' numbers that run, at least one.
type roles struct {
	// placement asks where a destination is. The error wraps ErrNoLeader if it has no leader.
	placement func(ctx context.Context, running []int, d Destination) (Placement, error)
	// transfer asks for another leader than the one in the placement. It may return before that leads.
	// Nil: the product cannot; why says so.
	transfer func(ctx context.Context, running []int, d Destination, p Placement) error
	why      string
}

// Leader asks the broker which node leads the destination, and which keep it beside that. With one node
// nothing is asked: it leads everything. A node that has ended is no leader, although the others may take it
// for one until they notice: that and an election under way are errors that wrap [ErrNoLeader]. Asking takes
// milliseconds; a caller that acts at an instant asks before it.
func (c *Cluster) Leader(ctx context.Context, d Destination) (Placement, error) {
	p, _, err := c.leader(ctx, d)
	if err != nil {
		return Placement{}, fmt.Errorf("brokers: leader of %s at %s: %w", d, c.Product, err)
	}
	return p, nil
}

func (c *Cluster) leader(ctx context.Context, d Destination) (p Placement, running []int, err error) {
	nodes := c.Members()
	for _, n := range nodes {
		if n.State == NodeRunning {
			running = append(running, n.Number)
		}
	}
	switch {
	case len(nodes) == 1:
		return Placement{}, running, nil
	case c.roles.placement == nil:
		return p, nil, fmt.Errorf("sixnines cannot ask %s for leaders; name nodes by number", c.Product)
	case len(running) == 0:
		return p, nil, fmt.Errorf("no node is running that could be asked: %w", os.ErrProcessDone)
	}
	if p, err = c.roles.placement(ctx, running, d); err != nil {
		return p, nil, err
	}
	if n := nodes[p.Leader]; n.State == NodeEnded || n.State == NodeDied {
		return p, nil, fmt.Errorf("%w: the last one was node %d (%s), which is %s", ErrNoLeader, p.Leader, n.Name, n.State)
	}
	slices.Sort(p.Followers)
	slices.Sort(p.InSync)
	return p, running, nil
}

// Transferred says how leadership moved.
type Transferred struct {
	From, To int   // the leaders before and after
	At       int64 // just before the broker was asked to, CLOCK_MONOTONIC as by clock.Now
	Complete int64 // when the broker was first seen to have the new leader
}

// Transfer moves the leadership of a destination to another node as planned, without a failure, and returns
// when that leads. The error wraps [ErrNoTransfer] if the product cannot, or no follower could lead.
func (c *Cluster) Transfer(ctx context.Context, d Destination) (Transferred, error) {
	fail := func(err error) (Transferred, error) {
		return Transferred{}, fmt.Errorf("brokers: transfer the leadership of %s at %s: %w", d, c.Product, err)
	}
	switch {
	case len(c.Members()) == 1:
		return fail(fmt.Errorf("%w: the broker has one node", ErrNoTransfer))
	case c.roles.transfer == nil:
		return fail(fmt.Errorf("%w: %s", ErrNoTransfer, c.roles.why))
	}
	p, running, err := c.leader(ctx, d)
	if err != nil {
		return fail(err)
	}
	if len(p.Followers) == 0 {
		return fail(fmt.Errorf("%w: no other node has a replica", ErrNoTransfer))
	}
	moved := Transferred{From: p.Leader, At: clock.Now()}
	if err := c.roles.transfer(ctx, running, d, p); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	defer cancel()
	err = poll(ctx, nil, func(ctx context.Context) error {
		after, _, err := c.leader(ctx, d)
		if err == nil && after.Leader == moved.From {
			err = fmt.Errorf("node %d still leads", after.Leader)
		}
		moved.To = after.Leader
		return err
	})
	if err != nil {
		return fail(err)
	}
	moved.Complete = clock.Now()
	return moved, nil
}

// transferLimit is how long a transfer of leadership may take.
const transferLimit = 20 * time.Second

// firstOf asks nodes one after the other until one answers, and joins the errors if none does.
func firstOf[A any](nodes []int, ask func(node int) (A, error)) (answer A, err error) {
	var errs []error
	for _, k := range nodes {
		if answer, err = ask(k); err == nil {
			return answer, nil
		}
		errs = append(errs, err)
	}
	return answer, errors.Join(errs...)
}

// without returns the numbers except one.
func without(numbers []int, one int) []int {
	return slices.DeleteFunc(slices.Clone(numbers), func(k int) bool { return k == one })
}
