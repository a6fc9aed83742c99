package nsq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
)

// consumer implements driver.Consumer. Its subscriptions, one for each topic,
// have a connection each.
type consumer struct {
	session *session
	id      int
	channel string
	alone   bool // the channel is the consumer's own
	due     int  // FINs that are written together, at least; 0: each at once
	ready   int  // messages that may come before they are finished; 0: nsqd's limit
	subs    []*subscription

	serial  sync.Mutex
	deliver driver.Deliver // called with serial held
	closed  atomic.Bool
	leaving atomic.Bool
}

// subscription is a consumer's to one topic.
type subscription struct {
	consumer *consumer
	link     *link
	topic    string
	leave    func()        // called when nsqd sends no more messages
	left     chan struct{} // closed by it
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, id: spec.ID, deliver: deliver, due: 1, ready: s.options.MaxInFlight, channel: spec.Group}
	if spec.Slow {
		c.due = 0
		if c.ready == 0 {
			c.ready = 1 // nsqd counts the time from when it has sent a message
		}
	}
	switch spec.Ack.Mode {
	case driver.AckNone:
		return nil, fmt.Errorf("nsq: consumers that acknowledge nothing: %w: nsqd sends everything again that is not finished", driver.ErrUnsupported)
	case driver.AckEvery:
		c.due = spec.Ack.Every
		if limit := s.readyCount(c.ready); c.due > limit {
			return nil, fmt.Errorf("nsq: acknowledge every %d messages: %w: nsqd sends no more than %d (max_in_flight) before one is finished", c.due, driver.ErrUnsupported, limit)
		}
	}
	s.mu.Lock()
	existing := s.existing
	s.mu.Unlock()
	if existing && spec.Group == "" {
		return nil, fmt.Errorf("nsq: a consumer on its own of what was kept: %w: its channel would begin empty; set workload.groups to 1", driver.ErrUnsupported)
	}
	number, err := s.keep(c)
	if err != nil {
		return nil, err
	}
	s.mu.Lock() // Depth may look
	if c.alone = spec.Group == ""; c.alone {
		c.channel = fmt.Sprintf("consumer-%d-%s", number, s.nonce)
	}
	c.channel = s.transient(c.channel)
	s.mu.Unlock()
	if !nsq.IsValidChannelName(c.channel) {
		s.forget(c)
		return nil, fmt.Errorf("nsq: group %q: %w: a channel's name has up to 64 letters, digits, dots, dashes and underscores", spec.Group, driver.ErrUnsupported)
	}
	for i, name := range spec.Topics {
		topic, err := s.topic(name)
		if err != nil {
			c.Close(ctx)
			return nil, err
		}
		sub := &subscription{consumer: c, topic: topic, left: make(chan struct{})}
		sub.leave = sync.OnceFunc(func() { close(sub.left) })
		sub.link = s.newLink(linkKey{roleConsumer, number + i<<16}, sub)
		if err := sub.link.start(ctx); err != nil {
			c.Close(ctx)
			return nil, wrap(err, "subscribe to %q", topic)
		}
		s.mu.Lock()
		c.subs = append(c.subs, sub)
		s.mu.Unlock()
	}
	if s.life.Err() != nil { // the session's Close may not have seen it
		c.Close(ctx)
		return nil, fmt.Errorf("nsq: subscribe: session %w", driver.ErrClosed)
	}
	return c, nil
}

// begin subscribes on a new wire and asks for messages.
func (s *subscription) begin(w *wire) error {
	if err := w.command(nsq.Subscribe(s.topic, s.consumer.channel)); err != nil {
		return err
	}
	if err := w.okay(); err != nil {
		return fmt.Errorf("channel %q of topic %q: %w", s.consumer.channel, s.topic, err)
	}
	n := w.id.MaxRdyCount
	if ready := s.consumer.ready; ready > 0 {
		n = min(n, ready)
	}
	return w.command(nsq.Ready(n))
}

// message delivers a message and finishes it.
func (s *subscription) message(w *wire, data []byte) error {
	m, err := parseMessage(data)
	if err != nil {
		return err
	}
	c := s.consumer
	c.serial.Lock()
	if c.closed.Load() {
		c.serial.Unlock()
		return nil // unfinished, it goes to somebody else
	}
	c.deliver(driver.Message{Payload: m.body, Redelivered: m.attempts > 1})
	c.serial.Unlock()
	return w.finish(m.id, c.due)
}

// leaveMost is how long nsqd may take to stop sending.
const leaveMost = 2 * time.Second

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends. It takes and finishes what nsqd had sent until it was told to
// stop: else that would come again.
func (c *consumer) Close(ctx context.Context) error {
	subs := c.all()
	if c.leaving.CompareAndSwap(false, true) {
		patience := time.NewTimer(leaveMost)
		defer patience.Stop()
		var told []*subscription
		for _, s := range subs {
			if w := s.link.live.Load(); w != nil && w.send(nsq.StartClose()) {
				told = append(told, s)
			}
		}
		patient := true
		for _, s := range told {
			if !patient {
				break
			}
			select {
			case <-s.left:
			case <-s.link.done:
			case <-patience.C:
				patient = false
			case <-ctx.Done():
				patient = false
			}
		}
	}
	err := c.shut(ctx)
	c.session.forget(c)
	if c.alone {
		c.session.dropChannel(ctx, c, subs)
	}
	return err
}

// shut ends the connections. No Deliver runs when it has returned without an
// error.
func (c *consumer) shut(ctx context.Context) error {
	c.closed.Store(true)
	subs := c.all()
	errs := make([]error, len(subs))
	var closing sync.WaitGroup
	for i, s := range subs {
		closing.Go(func() { errs[i] = s.link.close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

func (c *consumer) all() []*subscription {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.subs
}
