package wire

import (
	"errors"
	"fmt"
)

// Point is a place in an agent's run at which it waits for the others.
type Point string

// The points, in their order. An agent may skip some.
const (
	Provisioned Point = "provisioned" // topics and groups are there: one agent makes them, the others come here at once
	Connected   Point = "connected"   // producers and consumers are connected
	Arrived     Point = "arrived"     // each consumer has had a message, where agents receive what others send
	Ready       Point = "ready"       // messages arrive: the start can be given
	Closed      Point = "closed"      // producers and consumers have ended: what was provisioned can be removed
)

// Points returns all points in their order.
func Points() []Point { return []Point{Provisioned, Connected, Arrived, Ready, Closed} }

func (p Point) check() error {
	for _, known := range Points() {
		if p == known {
			return nil
		}
	}
	return fmt.Errorf("%.32q is not a point of a run", string(p))
}

// Go lets an agent go on at a point.
type Go struct {
	Run   string `json:"run"`
	Point Point  `json:"point"`
	// At is, at [Ready], the instant of the start on the agent's own monotonic clock, ns; else 0. Bound is
	// how far, at most, the common instant may be from it.
	At    int64 `json:"at,omitempty"`
	Bound int64 `json:"bound,omitempty"`
}

// Kind implements [Message].
func (*Go) Kind() Kind { return KindGo }
func (*Go) most() int  { return 4 << 10 }

// Check implements [Message].
func (g *Go) Check() error {
	switch {
	case (g.Point == Ready) != (g.At > 0) || g.At < 0:
		return fmt.Errorf("an instant of %d at point %.32q", g.At, string(g.Point))
	case g.Bound < 0:
		return fmt.Errorf("a bound of %d ns", g.Bound)
	}
	return errors.Join(CheckRun(g.Run), g.Point.check())
}

// Stop ends an agent's run: the window ends, and what is in flight is awaited.
type Stop struct {
	Run    string `json:"run"`
	AtOnce bool   `json:"at_once,omitempty"` // nothing is awaited
	Why    string `json:"why,omitempty"`     // for people
}

// Kind implements [Message].
func (*Stop) Kind() Kind { return KindStop }
func (*Stop) most() int  { return 16 << 10 }

// Check implements [Message].
func (s *Stop) Check() error {
	return errors.Join(CheckRun(s.Run), checkText("the reason", s.Why, 0, maxSentence))
}

// Confirm says that all records of an agent are in the result, so that it need not keep them.
type Confirm struct {
	Run string `json:"run"`
	// Records is how many there are. An agent that has more keeps them.
	Records uint64 `json:"records"`
}

// Kind implements [Message].
func (*Confirm) Kind() Kind { return KindConfirm }
func (*Confirm) most() int  { return 4 << 10 }

// Check implements [Message].
func (c *Confirm) Check() error { return CheckRun(c.Run) }

// Ask asks an agent for its [Status].
type Ask struct{}

// Kind implements [Message].
func (*Ask) Kind() Kind { return KindAsk }
func (*Ask) most() int  { return 4 << 10 }

// Check implements [Message].
func (*Ask) Check() error { return nil }

// Pulse says that a run has its coordinator.
type Pulse struct {
	Run string `json:"run"`
}

// Kind implements [Message].
func (*Pulse) Kind() Kind { return KindPulse }
func (*Pulse) most() int  { return 4 << 10 }

// Check implements [Message].
func (p *Pulse) Check() error { return CheckRun(p.Run) }
