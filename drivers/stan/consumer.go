package stan

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go/pb"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// durableOfGroups is the durable name that all members of a group must give.
const durableOfGroups = "durable"

// consumer implements driver.Consumer.
type consumer struct {
	link     *link
	channels []string
	group    string
	durable  string // durable name: with the client's or the group's it is unique in a channel; empty: not durable
	id       int
	all      bool // it begins with what there is
	every    int  // how many messages are acknowledged together
	deliver  driver.Deliver
	closing  sync.Once
	closed   chan struct{}          // closed when Close has done its work
	inbox    atomic.Pointer[string] // what its inboxes begin with, for who must not wait for the gate

	gate     sync.Mutex // held during Deliver and while subscriptions are made
	shut     bool       // nothing more is delivered
	attached *attachment
	last     []uint64 // by channel, the highest sequence that was delivered
}

// attachment is a consumer's subscriptions with one registration. All have
// inboxes below one subject, so that one goroutine of nats.go delivers. It is
// guarded by the consumer's gate.
type attachment struct {
	streaming *streaming
	inbox     string // what inboxes begin with
	sub       *nats.Subscription
	ackInbox  []string // by channel, where the server takes acknowledgements
	ackHead   [][]byte // by channel, what they begin with
	held      []receipt
	buf       []byte
}

// receipt is a message that waits to be acknowledged.
type receipt struct {
	channel  int
	sequence uint64
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	s.mu.Lock()
	all := s.topology.Existing || s.topology.Late
	s.mu.Unlock()
	c := &consumer{id: spec.ID, all: all, group: spec.Group, every: 1, deliver: deliver, closed: make(chan struct{}), last: make([]uint64, len(spec.Topics))}
	switch spec.Ack.Mode {
	case driver.AckNone:
		return nil, fmt.Errorf("stan: consumer without acknowledgements: %w: after max_inflight messages without one the server sends no more", driver.ErrUnsupported)
	case driver.AckEvery:
		if spec.Ack.Every > s.options.MaxInflight {
			return nil, fmt.Errorf("stan: acknowledge every %d messages: %w: the server sends no more than max_inflight (%d) without an acknowledgement; raise that", spec.Ack.Every, driver.ErrOption, s.options.MaxInflight)
		}
		c.every = max(1, spec.Ack.Every)
	}
	if strings.Contains(spec.Group, ":") {
		return nil, fmt.Errorf("stan: group %q: %w: names of groups have no colons", spec.Group, driver.ErrUnsupported)
	}
	for _, topic := range spec.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			return nil, err
		}
		c.channels = append(c.channels, channel)
	}
	if s.options.Durable {
		c.durable = durableOfGroups
		if c.group == "" {
			c.durable = fmt.Sprintf("consumer-%d", spec.ID)
		}
	}
	key := linkKey{roleConsumer, spec.Conn}
	var err error
	if c.link, err = s.links.Acquire(ctx, key); err != nil {
		return nil, err
	}
	if !s.keep(c) {
		err = driver.ErrClosed
	} else if err = kit.Await(ctx, "wait for the server", passes, func() error { return c.link.subscribe(ctx, c) }); err != nil {
		s.forget(c)
	}
	if err != nil {
		s.links.Release(ctx, key, c.link)
		return nil, wrap(err, "subscribe to %q", c.channels)
	}
	return c, nil
}

// attach subscribes by st. What was held for a registration before is
// forgotten: the server delivers it again, or starts behind it.
func (c *consumer) attach(ctx context.Context, st *streaming) error {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.shut {
		return nil
	}
	a := &attachment{streaming: st, inbox: nats.NewInbox() + "."}
	c.attached = a
	c.inbox.Store(&a.inbox)
	var err error
	if a.sub, err = st.nc.Subscribe(a.inbox+"*", func(m *nats.Msg) { c.receive(a, m) }); err != nil {
		return err
	}
	if err = a.sub.SetPendingLimits(-1, -1); err == nil {
		for i := range c.channels {
			if err = c.subscribe(ctx, a, i); err != nil {
				break
			}
		}
	}
	if err != nil {
		c.attached = nil
		a.end(ctx, c, true)
	}
	return st.permission(err)
}

// subscribe asks the server for the channel numbered i.
func (c *consumer) subscribe(ctx context.Context, a *attachment, i int) error {
	o := c.link.session.options
	request := &pb.SubscriptionRequest{ClientID: a.streaming.id, Subject: c.channels[i], QGroup: c.group, Inbox: a.inbox + strconv.Itoa(i),
		MaxInFlight: int32(o.MaxInflight), AckWaitInSecs: int32(o.AckWait / time.Second), StartPosition: pb.StartPosition_NewOnly}
	request.DurableName = c.durable
	if c.all {
		request.StartPosition = pb.StartPosition_First
	}
	if c.group == "" && c.last[i] > 0 {
		request.StartPosition, request.StartSequence = pb.StartPosition_SequenceStart, c.last[i]+1
	}
	var response pb.SubscriptionResponse
	err := a.streaming.request(ctx, a.streaming.info.SubRequests, request, &response)
	if err == nil {
		err = refusal(response.Error)
	}
	if err != nil {
		return err
	}
	a.ackInbox = append(a.ackInbox, response.AckInbox)
	a.ackHead = append(a.ackHead, appendField(nil, tagAckSubject, c.channels[i]))
	return nil
}

// receive is called by one goroutine of nats.go.
func (c *consumer) receive(a *attachment, m *nats.Msg) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.shut || c.attached != a {
		return
	}
	channel, err := strconv.Atoi(m.Subject[len(a.inbox):])
	d, ok := parseDelivery(m.Data)
	if err != nil || channel < 0 || channel >= len(a.ackInbox) || !ok {
		c.link.emit(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: a message that cannot be read: %.80q", c.link.key, m.Data)})
		return
	}
	c.deliver(driver.Message{Payload: d.payload, Redelivered: d.redelivered})
	c.last[channel] = max(c.last[channel], d.sequence)
	a.held = append(a.held, receipt{channel, d.sequence})
	if len(a.held) >= c.every {
		a.acknowledge()
	}
}

// acknowledge sends what is held. An error means that the connection is lost,
// which is told otherwise.
func (a *attachment) acknowledge() {
	for _, r := range a.held {
		a.buf = appendAck(a.buf[:0], a.ackHead[r.channel], r.sequence)
		_ = a.streaming.nc.Publish(a.ackInbox[r.channel], a.buf)
	}
	a.held = a.held[:0]
}

// end gives the subscriptions up at the server. Those that are durable stay,
// unless remove is set.
func (a *attachment) end(ctx context.Context, c *consumer, remove bool) error {
	var errs []error
	for i, inbox := range a.ackInbox {
		request := &pb.UnsubscribeRequest{ClientID: a.streaming.id, Subject: c.channels[i], Inbox: inbox}
		subject := a.streaming.info.SubCloseRequests
		if remove || subject == "" {
			subject = a.streaming.info.UnsubRequests
		}
		var response pb.SubscriptionResponse
		errs = append(errs, a.streaming.request(ctx, subject, request, &response))
	}
	a.sub.Unsubscribe() // an error means that it is gone already
	return errors.Join(errs...)
}

// stop lets no Deliver begin any more, and calls quiet when none runs.
func (c *consumer) stop(quiet func()) *attachment {
	c.gate.Lock()
	defer c.gate.Unlock()
	defer quiet()
	a := c.attached
	c.shut, c.attached = true, nil
	if a != nil {
		a.acknowledge()
	}
	return a
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends. What is left over is acknowledged before the server is asked
// to end the subscription, which it does in that order.
func (c *consumer) Close(ctx context.Context) error {
	c.closing.Do(func() {
		s := c.link.session
		quiet := make(chan struct{})
		go func() {
			defer close(c.closed)
			a := c.stop(func() { close(quiet) })
			if a != nil {
				// A server that does not answer forgets the subscription with the
				// connection.
				_ = a.end(ctx, c, c.group == "")
			}
			c.link.forget(c)
			s.forget(c)
			s.links.Release(ctx, c.link.key, c.link)
		}()
	})
	select {
	case <-c.closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stan: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
