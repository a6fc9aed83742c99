package enginetest

import (
	"context"
	"fmt"

	"sixnines/driver"
)

// keeping has driver mem keep messages for consumers that connect late: it subscribes for
// them when topics are made, to all of these, and their first delivery waits until they
// connect. Consumers are numbered, and in groups, as [scenario.Workload] says.
func keeping(e *driver.Entry) {
	e.Capabilities.Keeps = true
	e.Driver = keeper{e.Driver}
}

type keeper struct{ driver.Driver }

// Open implements driver.Driver.
func (k keeper) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := k.Driver.Open(ctx, t)
	return &keepingSession{Session: s}, err
}

// keepingSession is a session whose consumers subscribe before they connect.
type keepingSession struct {
	driver.Session
	late []*lateConsumer // by number; empty: they come in time
}

// lateConsumer is a consumer that has subscribed and takes nothing before it connects.
type lateConsumer struct {
	driver.Consumer
	deliver   driver.Deliver
	connected chan struct{}
	left      chan struct{}
}

// Provision implements driver.Session.
func (s *keepingSession) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	late := t.Late
	t.Late = false
	semantics, err := s.Session.Provision(ctx, t)
	if err != nil || !late {
		return semantics, err
	}
	for i := range t.Consumers {
		c := &lateConsumer{connected: make(chan struct{}), left: make(chan struct{})}
		spec := driver.ConsumerSpec{ID: i, Topics: t.Topics}
		if n := len(t.Groups); n > 0 {
			spec.Group = t.Groups[i%n]
		}
		c.Consumer, err = s.Session.Consumer(ctx, spec, func(m driver.Message) {
			select {
			case <-c.connected:
				c.deliver(m)
			case <-c.left:
			}
		})
		if err != nil {
			return semantics, err
		}
		s.late = append(s.late, c)
	}
	return semantics, nil
}

// Consumer implements driver.Session.
func (s *keepingSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if len(s.late) == 0 {
		return s.Session.Consumer(ctx, spec, deliver)
	}
	if spec.ID >= len(s.late) {
		return nil, fmt.Errorf("mem: consumer %d of %d: %w", spec.ID, len(s.late), driver.ErrUnsupported)
	}
	c := s.late[spec.ID]
	c.deliver = deliver
	close(c.connected)
	return c, nil
}

// Close implements driver.Session.
func (s *keepingSession) Close(ctx context.Context) error {
	for _, c := range s.late {
		select {
		case <-c.left:
		default:
			close(c.left)
		}
	}
	return s.Session.Close(ctx)
}
