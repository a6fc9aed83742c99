package plan

import (
	"context"
	"fmt"
	"hash/fnv"

	"sixnines/driver"
	"sixnines/internal/engine/flow"
	"sixnines/internal/layout"
	"sixnines/scenario"
)

// Peers are the processes of a run in which messages are sent by one process and received by another.
type Peers struct {
	// Name is the run's, the same in each of them and of no other run. What is at the broker is named after it.
	Name string
	// First says that this process provisions for all, and removes what was provisioned.
	First bool
	// Reach says that this process has come to a point, and returns when all have. It is called from one
	// goroutine at a time. Its error ends the run; at PointClosed it is ignored: what is left is removed then, too.
	Reach func(ctx context.Context, p Point) error
	// Shift, if not nil, is how far this process's clock is ahead of the run's when it reads now, ns, and whether processes have
	// several clocks: messages carry instants of the run's. It is called for each message, from any goroutine; nil: all
	// processes have one clock.
	Shift func(now int64) (ahead int64, several bool)
}

// Shift is how far this process's clock is ahead of that by which messages are stamped, when it reads now, ns, and whether other
// processes have other clocks.
func (s *Settings) Shift(now int64) (ahead int64, several bool) {
	if s.Peers == nil || s.Peers.Shift == nil {
		return 0, false
	}
	return s.Peers.Shift(now)
}

// Point is a point of a run at which processes wait for each other.
type Point string

// The points, in their order.
const (
	PointProvisioned Point = "provisioned" // topics and groups are there
	PointConnected   Point = "connected"   // producers and consumers are connected
	PointArrived     Point = "arrived"     // each group has received a message of each of its topics
	PointClosed      Point = "closed"      // producers and consumers have ended
)

// Role returns what the process does where messages are sent by one process and received by another; empty: it
// receives what it sends.
func (p *Plan) Role() layout.Role {
	if p.Segment == nil {
		return ""
	}
	return layout.Role(p.Segment.Role)
}

// layOutRole lays out what a process with a role has of the workload. Streams and topics keep their numbers, and so do
// the sizes and keys that are drawn by them. Errors wrap ErrUsage.
func (p *Plan) layOutRole() (err error) {
	g := p.Segment
	switch {
	case p.Peers == nil || p.Peers.Name == "" || p.Peers.Reach == nil:
		return fmt.Errorf("%w: a process that is one of the %s of a run needs to know its peers", ErrUsage, g.Role)
	}
	if err := CheckRoles(p.Scenario, p.Entry.Name, p.Entry.With(p.DriverOptions(p.Scenario.Target))); err != nil {
		return err
	}
	if p.share, p.Layout, p.Workload, err = layout.DivideRole(p.Workload, p.Role(), g.Part, g.Parts); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if p.Flow = flow.Of(p.Workload, p.Flow.Ack); p.Role() == layout.Consuming {
		p.Flow.Listen()
	}
	return nil
}

// CheckRoles returns what of a scenario with one workload agents with roles cannot do, by a driver of this name that can do
// this. Errors wrap ErrUsage.
func CheckRoles(s *scenario.Scenario, name string, can driver.Capabilities) error {
	const without = " by agents with roles; leave it out, or leave fleet out, so that each agent has whole topics"
	refuse := func(format string, a ...any) error {
		return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, a...))
	}
	switch err := layout.Crosses(&s.Workload); {
	case err != nil:
		return refuse("%w", err)
	case can.Brokerless || can.Ack == driver.AckKindReply:
		return refuse("driver %s has no broker that takes messages from one agent to another; leave fleet out, so that each agent has whole topics", name)
	case s.Interrupted():
		return refuse("consumers that come late or pause are not accounted for%s", without)
	case s.Phases.ReadBack > 0:
		return refuse("phases.read_back is not compared with what was received%s", without)
	case !s.Phases.Until.IsZero():
		return refuse("phases.until is not waited for%s", without)
	case s.Record.Raw:
		return refuse("record.raw has no rows of both sides, and is not written%s", without)
	}
	return nil
}

// sharedId returns the number of the load in every envelope, which processes with roles have in common; 0: the process
// has none.
func (p *Plan) sharedId() uint32 {
	if p.Role() == "" {
		return 0
	}
	h := fnv.New32a()
	for _, part := range []string{p.Peers.Name, "\x00", p.Part.Name} {
		_, _ = h.Write([]byte(part)) // cannot fail
	}
	return max(1, h.Sum32())
}

// Provisions reports whether the process makes and removes what the load needs at the broker.
func (p *Plan) Provisions() bool { return p.Role() == "" || p.Peers.First }

// Crosses reports whether messages are sent by one process and received by another.
func (p *Plan) Crosses() bool { return p.Role() != "" }
