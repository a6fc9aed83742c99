package pulsar

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer and kit.Part.
type consumer struct {
	session      *session
	link         *link
	key          kit.Key
	client       pulsar.Consumer
	subscription string
	alone        []string // topics in which the subscription is its own
	deliver      driver.Deliver
	every        int                // acknowledge after this many messages; 0: never
	due          []pulsar.MessageID // not acknowledged yet
	closed       atomic.Bool
	stop         func()
	leave        chan struct{} // closed by stop: no more deliveries
	left         chan struct{} // closed when nothing is
}

// own is the subscription of a consumer on its own.
func (s *session) own(id int) string {
	return fmt.Sprintf("%sconsumer-%d-%s", s.Target.Prefix, id, s.Nonce)
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, key: kit.Key{Role: kit.Consumer, Conn: spec.Conn}, subscription: spec.Group, deliver: deliver,
		leave: make(chan struct{}), left: make(chan struct{})}
	c.stop = sync.OnceFunc(func() { close(c.leave) })
	grouping, err := c.grouping(spec.Ack)
	if err != nil {
		return nil, err
	}
	o := pulsar.ConsumerOptions{
		Type:                s.options.subscription(),
		ReceiverQueueSize:   s.options.ReceiverQueue,
		AckGroupingOptions:  grouping,
		Name:                fmt.Sprintf("%s%s-%s-%d", s.Target.Prefix, s.options.Name, s.Target.Run, spec.ID),
		AutoDiscoveryPeriod: never,
	}
	for _, topic := range spec.Topics {
		o.Topics = append(o.Topics, s.topic(topic))
	}
	if spec.Group == "" {
		c.alone, o.Type = spec.Topics, pulsar.Exclusive
		c.subscription = s.own(spec.ID)
		if s.Target.Given {
			c.alone, o.SubscriptionMode = nil, pulsar.NonDurable // it ends by itself
		}
		s.mu.Lock()
		if s.topology.Late || s.topology.Existing {
			o.SubscriptionInitialPosition = pulsar.SubscriptionPositionEarliest
		}
		s.mu.Unlock()
	}
	o.SubscriptionName = c.subscription
	if c.link, err = s.links.Acquire(ctx, c.key); err != nil {
		return nil, err
	}
	o.BackOffPolicyFunc = c.link.pacing(o.Topics...)
	c.client, err = call(ctx, c.link, func() (pulsar.Consumer, error) { return c.link.client.Subscribe(o) }, pulsar.Consumer.Close)
	if err == nil {
		_, err = s.Keep(c) // if the session closes, so does the link
	}
	if err != nil {
		s.links.Release(ctx, c.key, c.link)
		return nil, s.Wrap(err, "subscribe to %q", spec.Topics)
	}
	go c.run()
	return c, nil
}

// grouping decides when the consumer acknowledges, and returns how the client groups
// that. Messages of a non-persistent topic are one to the client while it groups.
func (c *consumer) grouping(ack driver.ConsumerAck) (*pulsar.AckGroupingOptions, error) {
	o := &c.session.options
	c.every = 1
	switch {
	case ack.Mode == driver.AckEach:
		return &pulsar.AckGroupingOptions{MaxSize: 1}, nil
	case !o.Persistent && ack.Mode == driver.AckEvery:
		return nil, fmt.Errorf("pulsar: acknowledge several messages together: %w: in non-persistent topics the client takes them for one", driver.ErrUnsupported)
	case !o.Persistent:
		c.every = 0
		return &pulsar.AckGroupingOptions{MaxSize: 1}, nil
	case ack.Mode == driver.AckNone:
		return nil, fmt.Errorf("pulsar: consumers that acknowledge nothing: %w: the broker sends everything again that is not acknowledged, and to a shared subscription no more than its maxUnackedMessagesPerConsumer", driver.ErrUnsupported)
	case ack.Mode == driver.AckEvery: // the client groups by partitions and batches
		c.every = max(1, ack.Every)
		return &pulsar.AckGroupingOptions{MaxSize: uint32(c.every), MaxTime: o.AckGroupTime}, nil
	}
	return &pulsar.AckGroupingOptions{MaxSize: uint32(o.AckGroupSize), MaxTime: o.AckGroupTime}, nil
}

// run delivers what the client receives.
func (c *consumer) run() {
	defer close(c.left)
	defer c.acknowledge()
	received := c.client.Chan()
	for {
		select {
		case <-c.leave:
			return
		case m := <-received:
			if c.leaving() { // both were ready
				return
			}
			id := m.ID()
			c.deliver(driver.Message{Payload: m.Payload(), Redelivered: m.RedeliveryCount() > 0, Partition: int(id.PartitionIdx())})
			if c.every == 0 {
				continue
			}
			if c.due = append(c.due, id); len(c.due) >= c.every {
				c.acknowledge()
			}
		}
	}
}

// acknowledge acknowledges what is due. The client waits with it while a connection is
// lost.
func (c *consumer) acknowledge() {
	for _, id := range c.due {
		if err := c.client.AckID(id); err != nil && !c.leaving() {
			c.session.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: acknowledge: %v", c.key, err)})
		}
	}
	c.due = c.due[:0]
}

func (c *consumer) leaving() bool {
	select {
	case <-c.leave:
		return true
	default:
		return false
	}
}

// Shut implements kit.Part. It returns when no Deliver runs, or ctx ends.
func (c *consumer) Shut(ctx context.Context) error {
	c.stop()
	return c.session.Wrap(kit.Wait(ctx, c.left), "close a consumer")
}

// acknowledging is how long a consumer that closes may take for its last
// acknowledgements, which wait while a connection is lost.
const acknowledging = time.Second

// Close implements driver.Consumer. The connection ends with its last consumer.
func (c *consumer) Close(ctx context.Context) error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.Shut(ctx)
	}
	s := c.session
	s.Forget(c)
	soon, cancel := context.WithTimeout(ctx, acknowledging)
	_ = c.Shut(soon) // or closing the client's consumer frees it
	cancel()
	end := func() (struct{}, error) {
		c.client.Close()
		return struct{}{}, nil
	}
	_, _ = call(ctx, c.link, end, func(struct{}) {}) // what takes longer ends without us
	err := c.Shut(ctx)
	if s.options.Persistent {
		for _, topic := range c.alone {
			c.drop(ctx, topic)
		}
	}
	s.links.Release(ctx, c.key, c.link)
	return err
}

// drop removes a subscription that was the consumer's own, for which the broker would
// go on keeping messages. The client could, but leaves goroutines behind then.
func (c *consumer) drop(ctx context.Context, topic string) {
	s := c.session
	err := s.ask(ctx, "DELETE", s.path(topic, "subscription/"+c.subscription)+"?force=true", nil, nil)
	if err != nil && driver.Class(err) != driver.ErrNoTopic && !s.Closed() {
		s.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("remove subscription %q of %q: %v", c.subscription, s.topic(topic), err)})
	}
}
