package resptest

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// Side is a session with a producer and a consumer of topic t0.
type Side struct {
	Name      string // by which errors tell it from others
	Key       string // the stream or channel
	Session   driver.Session
	acks, got sessiontest.Counter
	producer  driver.Producer
	sent      uint64       // the number of the last message, which is its token, too
	last      uint64       // that arrived; the consumer's
	disorder  atomic.Int64 // how many arrived behind a later one
}

// deliver counts a message and looks at its number.
func (on *Side) deliver(m driver.Message) {
	if n := binary.BigEndian.Uint64(m.Payload); n > on.last {
		on.last = n
	} else {
		on.disorder.Add(1)
	}
	on.got.Deliver(m)
}

// send sends the next message, unless it is not connected.
func (on *Side) send() (ok bool) {
	payload := binary.BigEndian.AppendUint64(nil, on.sent+1)
	if on.producer.Send(on.sent+1, payload) != nil {
		return false
	}
	on.sent++
	return true
}

// NewSide opens a session with the target, whose consumer is on its own.
func NewSide(t testing.TB, name string, e driver.Entry, target driver.Target) *Side {
	t.Helper()
	return NewSideOf(t, name, e, target, driver.ConsumerSpec{})
}

// NewSideOf opens a session with the target and a consumer.
func NewSideOf(t testing.TB, name string, e driver.Entry, target driver.Target, spec driver.ConsumerSpec) *Side {
	t.Helper()
	var groups []string
	if spec.Group != "" {
		groups = []string{spec.Group}
	}
	s := sessiontest.Open(t, e.Driver, target)
	ctx, cancel := context.WithTimeout(context.Background(), sessiontest.Patience)
	defer cancel()
	if _, err := s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, Groups: groups, Producers: 1, Consumers: 1}); err != nil {
		t.Fatal(err)
	}
	on := &Side{Name: name, Session: s, Key: s.(driver.DestinationNamer).Destinations()[0].Name}
	sessiontest.Consume(t, s, spec, on.deliver)
	on.producer = sessiontest.Produce(t, s, &on.acks)
	return on
}

// Flow sends until a message has arrived.
func (on *Side) Flow(t testing.TB) {
	t.Helper()
	before := on.got.Count()
	sessiontest.Until(t, "a message arrives through "+on.Name, func() bool {
		on.send()
		time.Sleep(time.Millisecond) // between two messages
		return on.got.Count() > before
	})
}

// FailsOver kills, and then freezes, the master of sessions whose messages it has all of. Messages go on at another master.
func FailsOver(t *testing.T, c *brokers.Cluster, sides ...*Side) {
	t.Helper()
	flow := func() {
		t.Helper()
		for _, on := range sides {
			on.Flow(t)
		}
	}
	flow()
	at := brokers.Destination{Name: sides[0].Key}
	p, err := c.Leader(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Kill(t.Context(), p.Leader); err != nil {
		t.Fatal(err)
	}
	flow()
	ctx, cancel := context.WithTimeout(t.Context(), sessiontest.Patience)
	defer cancel()
	if after, err := c.Leader(ctx, at); err != nil || after.Leader == p.Leader {
		t.Errorf("after node %d was killed: %+v, %v", p.Leader, after, err)
	}
	if _, err := c.Resume(ctx, p.Leader); err != nil {
		t.Error(err)
	}
	flow()
	// A master that is frozen keeps its connections open. Messages go on when another one is the master, while it is frozen.
	if p, err = c.Leader(ctx, at); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Freeze(ctx, p.Leader); err != nil {
		t.Fatal(err)
	}
	flow()
	if _, err := c.Thaw(ctx, p.Leader); err != nil {
		t.Error(err)
	}
}
