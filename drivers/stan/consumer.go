package stan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// durableOfGroups is the durable name that all members of a group must give.
const durableOfGroups = "durable"

// consumer implements driver.Consumer, kit.Member and kit.Part.
type consumer struct {
	session  *session
	link     *link
	key      kit.Key
	channels []string
	group    string
	options  []client.SubscriptionOption // but for where to begin
	all      bool                        // it begins with what there is
	every    int                         // how many messages are acknowledged together
	deliver  driver.Deliver
	closing  sync.Once
	leaving  atomic.Bool   // it subscribes no more
	closed   chan struct{} // closed when Close has done its work

	setting  sync.Mutex                 // held while it subscribes and unsubscribes
	attached atomic.Pointer[attachment] // what delivers; nil: nothing does
	gate     *kit.Gate                  // locked during Deliver
	last     []atomic.Uint64            // by channel, the highest sequence that was delivered
}

// attachment is a consumer's subscriptions with one registration.
type attachment struct {
	subscriptions []client.Subscription // by channel; guarded by the consumer's setting
	held          []*client.Msg         // delivered and to be acknowledged; guarded by the consumer's gate
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	o := s.options
	s.mu.Lock()
	all := s.topology.Existing || s.topology.Late
	s.mu.Unlock()
	c := &consumer{session: s, key: consumerKey(spec), gate: kit.NewGate(nil), all: all, group: spec.Group, every: 1, deliver: deliver, closed: make(chan struct{}), last: make([]atomic.Uint64, len(spec.Topics)),
		options: []client.SubscriptionOption{client.SetManualAckMode(), client.MaxInflight(o.MaxInflight), client.AckWait(o.AckWait)}}
	switch {
	case spec.Ack.Mode == driver.AckNone:
		return nil, fmt.Errorf("stan: consumer without acknowledgements: %w: after max_inflight messages without one the server sends no more", driver.ErrUnsupported)
	case spec.Ack.Mode == driver.AckEvery && spec.Ack.Every > o.MaxInflight:
		return nil, fmt.Errorf("stan: acknowledge every %d messages: %w: the server sends no more than max_inflight (%d) without an acknowledgement; raise that", spec.Ack.Every, driver.ErrOption, o.MaxInflight)
	case spec.Ack.Mode == driver.AckEvery:
		c.every = spec.Ack.Every
	}
	durable := durableOfGroups
	if name, group, ok := strings.Cut(spec.Group, ":"); ok && s.Target.Given {
		durable, c.group = name, group
	}
	if strings.Contains(c.group, ":") {
		return nil, fmt.Errorf("stan: group %q: %w: names of groups have no colons", spec.Group, driver.ErrUnsupported)
	}
	for _, topic := range spec.Topics {
		c.channels = append(c.channels, s.channel(topic))
	}
	switch {
	case s.Target.Given:
		if c.group != spec.Group {
			c.options = append(c.options, client.DurableName(durable))
		}
	case o.Durable && c.group == "":
		c.options = append(c.options, client.DurableName(fmt.Sprintf("consumer-%d", spec.ID)))
	case o.Durable:
		c.options = append(c.options, client.DurableName(durable))
	}
	var err error
	if c.link, err = s.links.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	if err = c.link.Join(ctx, c); err == nil {
		_, err = s.Keep(c)
	}
	if err != nil {
		_ = c.Close(ctx)
		return nil, wrap(err, "subscribe to %q", c.channels)
	}
	return c, nil
}

func consumerKey(spec driver.ConsumerSpec) kit.Key {
	return kit.Key{Role: kit.Consumer, Conn: spec.Conn}
}

// Attach implements kit.Member: it subscribes by r. What the registration before has not delivered yet is
// dropped: the server delivers it again, or starts with it.
func (c *consumer) Attach(_ context.Context, r *registration) error {
	c.setting.Lock()
	defer c.setting.Unlock()
	if c.leaving.Load() {
		return nil
	}
	a := &attachment{}
	c.attached.Store(a)
	for i, channel := range c.channels {
		options := slices.Clone(c.options) // to begin with what comes
		if last := c.last[i].Load(); c.group == "" && last > 0 {
			options = append(options, client.StartAtSequence(last+1))
		} else if c.all {
			options = append(options, client.DeliverAllAvailable())
		}
		sub, err := r.conn.QueueSubscribe(channel, c.group, func(m *client.Msg) { c.receive(a, i, m) }, options...)
		if err != nil {
			c.attached.Store(nil)
			c.unsubscribe(a)
			return permission(r.wire.Conn(), err)
		}
		a.subscriptions = append(a.subscriptions, sub)
	}
	return nil
}

// receive is the library's MsgHandler, called by one goroutine for each channel.
func (c *consumer) receive(a *attachment, channel int, m *client.Msg) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() || c.attached.Load() != a {
		return
	}
	c.last[channel].Store(max(c.last[channel].Load(), m.Sequence))
	c.deliver(driver.Message{Payload: m.Data, Redelivered: m.Redelivered})
	if a.held = append(a.held, m); len(a.held) >= c.every {
		a.acknowledge()
	}
}

// acknowledge sends the held acknowledgements. An error means that the connection is
// lost, which is reported elsewhere.
func (a *attachment) acknowledge() {
	for _, m := range a.held {
		_ = m.Ack()
	}
	clear(a.held)
	a.held = a.held[:0]
}

// unsubscribe gives subscriptions up at the server, where groups that are durable
// stay. A server that does not answer forgets them with the connection.
func (c *consumer) unsubscribe(a *attachment) {
	for _, sub := range a.subscriptions {
		if c.group == "" {
			_ = sub.Unsubscribe()
		} else {
			_ = sub.Close()
		}
	}
}

// detach lets no Deliver begin any more and waits for one that runs. What is left
// over is acknowledged before the server is asked to end the subscriptions, which
// it does in that order.
func (c *consumer) detach() {
	c.leaving.Store(true)
	_ = c.gate.Shut(context.Background()) // which never ends
	c.link.Part(c)
	c.setting.Lock()
	defer c.setting.Unlock()
	if a := c.attached.Swap(nil); a != nil {
		a.acknowledge()
		c.unsubscribe(a)
	}
}

// Shut implements kit.Part.
func (c *consumer) Shut(ctx context.Context) error {
	return wrap(c.gate.Shut(ctx), "close a consumer")
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	go c.closing.Do(func() {
		defer close(c.closed)
		c.session.Forget(c)
		c.detach()
		c.session.links.Release(ctx, c.key, c.link)
	})
	return wrap(kit.Wait(ctx, c.closed), "close a consumer")
}
