package rabbitmq

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// streams is a connection with one channel that notes from where streams are consumed,
// and counts what is acknowledged.
type streams struct {
	connection
	handler wire.Handler
	from    map[string]any
	acks    int
}

func (s *streams) open(_ context.Context, h wire.Handler) (channel, error) {
	s.handler = h
	return streamsChannel{of: s}, nil
}

type streamsChannel struct {
	channel
	of *streams
}

func (c streamsChannel) Prefetch(context.Context, uint16) error { return nil }
func (c streamsChannel) Ack(uint64, bool, bool) error {
	c.of.acks++
	return nil
}
func (c streamsChannel) Consume(_ context.Context, queue string, _ uint16, _ bool, args wire.Table) error {
	c.of.from[queue] = args[offsetHeader]
	return nil
}

// Offsets are of one stream: a consumer of two goes on in each where it was there.
func TestEachStreamGoesOnWhereItWas(t *testing.T) {
	o := DefaultOptions()
	o.QueueType = stream
	s, err := newSession(driver.Target{URL: "amqp://host", Run: "r"}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	c := &consumer{session: s, queues: []string{"t0", "t1"}, offsets: make([]atomic.Int64, 2), every: 1,
		gate: kit.NewGate(nil), deliver: func(driver.Message) {}}
	for _, want := range []map[string]any{
		{"t0": int64(0), "t1": int64(0)},
		{"t0": int64(10_000), "t1": int64(500)}, // after the connection was lost
	} {
		to := &streams{from: map[string]any{}}
		if err := c.Attach(t.Context(), &rabbit.Wire[connection]{Conn: to}); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(to.from, want) {
			t.Errorf("consumed from %v, want %v", to.from, want)
		}
		for i, offset := range []int64{9_999, 499} {
			to.handler.Deliver(wire.Delivery{Consumer: uint16(i), Tag: uint64(i + 1), Properties: wire.Received(map[string]any{offsetHeader: offset}, "")})
		}
	}
}

// What a slow consumer has not been handed when its connection is lost the stream sends
// again: it comes once, and both are acknowledged.
func TestWhatWaitedIsDeliveredOnce(t *testing.T) {
	o := DefaultOptions()
	o.QueueType = stream
	s, err := newSession(driver.Target{URL: "amqp://host", Run: "r"}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	got := 0
	c := &consumer{session: s, queues: []string{"t0"}, offsets: make([]atomic.Int64, 1), every: 1,
		gate: kit.NewGate(nil), deliver: func(driver.Message) { got++ }}
	before, after := &streams{from: map[string]any{}}, &streams{from: map[string]any{}}
	for _, to := range []*streams{before, after} {
		if err := c.Attach(t.Context(), &rabbit.Wire[connection]{Conn: to}); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []*streams{before, after} {
		for i := range 3 {
			c.catchUp(delivery{to.handler.(*receiver), wire.Delivery{Tag: uint64(i + 1), Properties: wire.Received(map[string]any{offsetHeader: int64(i)}, "")}})
		}
	}
	if got != 3 || before.acks != 3 || after.acks != 3 {
		t.Errorf("%d of 3 messages were delivered, %d and %d acknowledged", got, before.acks, after.acks)
	}
}
