package rabbitmq

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// offsetHeader is where a stream's message carries its place.
const offsetHeader = "x-stream-offset"

// consumer implements driver.Consumer for subscribers and responders.
type consumer struct {
	session *session
	link    *link
	key     kit.Key
	queues  []string
	own     string // the queue that is deleted with it; empty: none
	kept    bool   // the session ends it
	every   int    // acknowledge after this many messages; 0: never
	gate    *kit.Gate
	deliver driver.Deliver         // nil: a responder
	answer  func(to, reply []byte) // nil: not a responder
	respond func(m driver.Message) (reply []byte)
	backlog *kit.Backlog[delivery] // nil: messages are handed over where they are read
	closed  atomic.Bool

	now     atomic.Pointer[receiver]
	offsets []atomic.Int64 // by queue: of the stream's next message
}

// receiver is a consumer's channel on one connection. It implements wire.Handler.
type receiver struct {
	consumer *consumer
	channel  atomic.Pointer[channel]

	// Guarded by the gate's lock.
	count int    // delivered and not acknowledged
	last  uint64 // delivery tag of the last of them
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{deliver: deliver}
	return c, s.consume(ctx, spec, c)
}

// consume subscribes c. After an error c is closed.
func (s *session) consume(ctx context.Context, spec driver.ConsumerSpec, c *consumer) error {
	c.session, c.key, c.gate = s, kit.Key{Role: kit.Consumer, Conn: spec.Conn}, kit.NewGate(nil)
	for _, topic := range spec.Topics {
		if err := s.checkTopic(topic); err != nil {
			return err
		}
	}
	var err error
	if c.every, err = s.ackEvery(spec.Ack); err != nil {
		return err
	}
	if spec.Group != "" || s.options.Exchange == noExchange || s.Target.Given {
		if spec.Group != "" && !s.Target.Given {
			if err := checkName("group", spec.Group); err != nil {
				return err
			}
		}
		for _, topic := range spec.Topics {
			if q := s.topology.groupQueue(topic, spec.Group); !slices.Contains(c.queues, q) { // several keys may lead to one queue
				c.queues = append(c.queues, q)
			}
		}
		if err := s.share(c.queues); err != nil {
			return err
		}
	} else if s.topology.isExisting() {
		return fmt.Errorf("rabbitmq: a consumer on its own of what was kept: %w: its queue would begin empty; set workload.groups to 1", driver.ErrUnsupported)
	} else {
		c.own = s.topology.ownQueue(spec.ID)
		c.queues = []string{c.own}
	}
	c.offsets = make([]atomic.Int64, len(c.queues))
	if c.link, err = s.links.Acquire(ctx, c.key); err != nil {
		return err
	}
	if c.own != "" {
		own := queue{c.own, spec.Topics, s.topology.args(nil)}
		err = s.admin.do(ctx, func(ch *wire.Channel) error { return s.topology.add(ctx, ch, own) })
	}
	if spec.Slow {
		// A slow callback delays the connection's other consumers.
		c.backlog = kit.NewBacklog(c.catchUp)
	}
	if err == nil {
		err = c.link.Join(ctx, c)
	}
	if err == nil {
		_, err = s.Keep(c)
		c.kept = err == nil
	}
	if err != nil {
		c.Close(ctx)
		return wrap(s.Over(err), "subscribe to %q", spec.Topics)
	}
	return nil
}

// ackEvery returns after how many messages to acknowledge; 0: never.
func (s *session) ackEvery(a driver.ConsumerAck) (int, error) {
	every := s.options.AckEvery
	switch a.Mode {
	case driver.AckNone:
		every = 0
	case driver.AckEach:
		every = 1
	case driver.AckEvery:
		every = max(a.Every, 1)
	}
	if s.options.QueueType == stream && every == 0 {
		if a.Mode == driver.AckNone {
			return 0, fmt.Errorf("rabbitmq: consumers that acknowledge nothing: %w: streams want their messages acknowledged", driver.ErrUnsupported)
		}
		every = max(1, s.options.Prefetch/2) // what is needed for the flow to go on
	}
	if p := s.options.Prefetch; p > 0 && every > p {
		return 0, fmt.Errorf("rabbitmq: option \"prefetch\": %w: the broker sends %d messages and waits for acknowledgements, which come after %d", driver.ErrOption, p, every)
	}
	return every, nil
}

// share notes a consumer of queues that others may consume too.
func (s *session) share(queues []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range queues {
		s.sharing[q]++
		if n := s.sharing[q]; n > 1 && s.options.QueueType == stream {
			s.sharing[q]--
			return fmt.Errorf("rabbitmq: a second consumer of %q: %w: each consumer of a stream gets every message, so that a group cannot share one; choose another queue_type", q, driver.ErrUnsupported)
		}
	}
	return nil
}

// Attach implements kit.Member.
func (c *consumer) Attach(ctx context.Context, w *rabbit.Wire[connection]) error {
	in := &receiver{consumer: c}
	ch, err := w.Conn.open(ctx, in)
	if err != nil {
		return wrap(err, "open a channel")
	}
	in.channel.Store(&ch)
	c.now.Store(in)
	o := &c.session.options
	if c.every > 0 && o.Prefetch > 0 {
		err = ch.Prefetch(ctx, uint16(o.Prefetch))
	}
	for i, q := range c.queues {
		if err == nil {
			args := wire.Table{}
			if o.QueueType == stream {
				args[offsetHeader] = c.offsets[i].Load()
			}
			if err = ch.Consume(ctx, q, uint16(i), c.every == 0, args); err != nil {
				err = wrap(err, "consume %q", q)
			}
		}
	}
	if err != nil {
		return wrap(err, "set up a channel")
	}
	return nil
}

// Deliver implements wire.Handler.
func (in *receiver) Deliver(d wire.Delivery) {
	if b := in.consumer.backlog; b != nil {
		// One allocation for both copies.
		all := append(append(make([]byte, 0, len(d.Body)+len(d.Properties)), d.Body...), d.Properties...)
		d.Body, d.Properties = all[:len(d.Body):len(d.Body)], all[len(d.Body):]
		b.Add(delivery{in, d})
		return
	}
	in.deliver(d, false)
}

// delivery is a copy of one, for a slow consumer. How many wait is the broker's
// to say, see Options.Prefetch.
type delivery struct {
	in *receiver
	wire.Delivery
}

// catchUp takes a delivery that had to wait.
func (c *consumer) catchUp(d delivery) {
	if !c.closed.Load() {
		d.in.deliver(d.Delivery, true)
	}
}

// deliver hands a message over and acknowledges what is due, at once if now.
func (in *receiver) deliver(d wire.Delivery, now bool) {
	c := in.consumer
	again := false // it came by the connection before, and waited
	if c.session.options.QueueType == stream {
		if offset, ok := d.Properties.Header(offsetHeader).(int64); ok && int(d.Consumer) < len(c.offsets) {
			next := &c.offsets[d.Consumer]
			if again = offset < next.Load(); !again {
				next.Store(offset + 1)
			}
		}
	}
	m := driver.Message{Payload: d.Body, Redelivered: d.Redelivered}
	c.gate.Lock()
	defer c.gate.Unlock()
	switch {
	case c.gate.IsShut():
		return // a message that must be acknowledged is delivered again to another consumer
	case again: // but this one must be acknowledged, too
	case c.answer == nil:
		c.deliver(m)
	default:
		if reply := c.respond(m); reply != nil {
			c.answer(d.Properties.ReplyTo(), reply)
		}
	}
	if c.every == 0 {
		return
	}
	in.count++
	in.last = d.Tag
	if in.count >= c.every {
		in.ack(now)
	}
}

// ack acknowledges all up to the last message. That it fails means that the
// connection is lost, and messages will come again.
func (in *receiver) ack(now bool) {
	if ch := in.channel.Load(); ch != nil {
		(*ch).Ack(in.last, in.count > 1, now)
	}
	in.count = 0
}

// Confirm implements wire.Handler.
func (*receiver) Confirm(uint64, bool, bool) {}

// Return implements wire.Handler.
func (*receiver) Return(wire.Returned) {}

// End implements wire.Handler.
func (in *receiver) End(why error) {
	in.consumer.now.CompareAndSwap(in, nil)
	if !in.consumer.closed.Load() {
		in.consumer.link.ended(why)
	}
}

// Shut implements kit.Part: it lets nothing be delivered any more. It waits for a running
// Deliver, at most until ctx ends.
func (c *consumer) Shut(ctx context.Context) error {
	if c.backlog != nil {
		defer c.backlog.Stop()
	}
	return wrap(c.gate.Shut(ctx), "close a consumer")
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	first := c.closed.CompareAndSwap(false, true)
	err := c.Shut(ctx)
	if !first {
		return err
	}
	s := c.session
	s.Forget(c)
	if c.own == "" {
		s.mu.Lock()
		for _, q := range c.queues {
			s.sharing[q]--
		}
		s.mu.Unlock()
	}
	if c.link == nil {
		return err
	}
	c.link.Part(c)
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	if in := c.now.Swap(nil); in != nil && err == nil {
		if ch := in.channel.Load(); ch != nil {
			c.gate.Lock()
			if in.count > 0 {
				in.ack(true)
			}
			c.gate.Unlock()
			(*ch).Close(grace) // the connection may go on without it
		}
	}
	if c.own != "" && c.kept && !s.Closed() {
		// It would fill up. If that fails, Deprovision sees to it.
		s.topology.remove(grace, s.admin, c.own)
	}
	s.links.Release(ctx, c.key, c.link)
	return err
}
