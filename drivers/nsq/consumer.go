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
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer. Its subscriptions, one for each topic at each nsqd,
// have a connection each.
type consumer struct {
	session *session
	id      int
	channel string
	topics  []string // full names
	alone   bool     // the channel is the consumer's own
	due     int      // FINs that are written together, at least; 0: each at once
	ready   int      // messages that may come before they are finished; 0: nsqd's limit
	in      []place  // of subs, and of the one that is being made
	subs    []subscriber

	gate    *kit.Gate
	leaving atomic.Bool
}

// place is a topic at an nsqd.
type place struct {
	topic  string
	daemon daemon
}

// subscriber is a consumer's subscription to one topic at one nsqd, by either client.
type subscriber interface {
	// start connects and subscribes.
	start(ctx context.Context) error
	// leave asks nsqd to send no more. What it returns is closed when no more
	// comes; nil: nsqd cannot be asked.
	leave() <-chan struct{}
	// close ends the connection. No Deliver runs when it has returned without an
	// error.
	close(ctx context.Context) error
}

// subscription is a subscriber by the driver's own client.
type subscription struct {
	consumer *consumer
	link     *link
	topic    string
	at       daemon
	gone     func()        // called when nsqd sends no more messages
	left     chan struct{} // closed by it
}

// subscriber returns what is to subscribe to the topic at an nsqd.
func (c *consumer) subscriber(in place, key kit.Key) subscriber {
	left := make(chan struct{})
	gone := sync.OnceFunc(func() { close(left) })
	if c.session.options.library() {
		return &handler{consumer: c, topic: in.topic, at: in.daemon, key: key, left: left, gone: gone}
	}
	s := &subscription{consumer: c, topic: in.topic, at: in.daemon, left: left, gone: gone}
	s.link = c.session.newLink(key, s)
	return s
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, id: spec.ID, gate: kit.NewGate(deliver), due: 1, ready: s.options.MaxInFlight, channel: spec.Group}
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
	for _, name := range spec.Topics {
		topic, err := s.topic(name)
		if err != nil {
			return nil, err
		}
		c.topics = append(c.topics, topic)
	}
	s.mu.Lock()
	existing := s.existing
	s.mu.Unlock()
	if existing && spec.Group == "" {
		return nil, fmt.Errorf("nsq: a consumer on its own of what was kept: %w: its channel would begin empty; set workload.groups to 1", driver.ErrUnsupported)
	}
	number, err := s.Keep(c)
	if err != nil {
		return nil, err
	}
	s.mu.Lock() // Depth may look
	if c.alone = spec.Group == ""; c.alone {
		c.channel = fmt.Sprintf("consumer-%d-%s", number, s.Nonce)
	}
	if c.alone {
		c.channel = s.transient(naming().Group(s.Target.Prefix, c.channel))
	} else {
		c.channel = s.channel(c.channel)
	}
	if c.alone {
		s.alone[c.id] = c
	}
	s.mu.Unlock()
	if !nsq.IsValidChannelName(c.channel) {
		s.Forget(c)
		return nil, fmt.Errorf("nsq: group %q: %w: a channel's name has up to 64 letters, digits, dots, dashes and underscores", spec.Group, driver.ErrUnsupported)
	}
	for _, topic := range c.topics {
		if err := c.subscribe(ctx, topic, number); err != nil {
			c.Close(ctx)
			return nil, wrap(err, "subscribe to %q", topic)
		}
	}
	if s.Closed() { // it may not have seen all of them
		c.Close(ctx)
		return nil, fmt.Errorf("nsq: subscribe: session %w", driver.ErrClosed)
	}
	return c, nil
}

// subscribe subscribes to a topic at each nsqd that a consumer finds. The consumer is the one with the number.
func (c *consumer) subscribe(ctx context.Context, topic string, number int) error {
	s := c.session
	found, err := s.daemons(ctx, topic)
	if err == nil && !c.alone {
		err = s.foundGiven(ctx, found, topic, c.channel)
	}
	if err != nil {
		return err
	}
	for _, d := range found {
		in := place{topic, d}
		s.mu.Lock()
		sub := c.subscriber(in, kit.Key{Role: kit.Consumer, Conn: number + len(c.in)<<16})
		c.in = append(c.in, in)
		s.mu.Unlock()
		if err := sub.start(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		c.subs = append(c.subs, sub)
		s.mu.Unlock()
	}
	return nil
}

// places returns where the consumer has subscribed, or begun to.
func (c *consumer) places() []place {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.in
}

func (s *subscription) start(ctx context.Context) error { return s.link.Start(ctx) }

func (s *subscription) close(ctx context.Context) error { return s.link.close(ctx) }

func (s *subscription) leave() <-chan struct{} {
	if w := s.link.Live(); w != nil && w.writer.Last([]byte("CLS\n")) {
		return s.left
	}
	return nil
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
	if !c.gate.Deliver(driver.Message{Payload: m.body, Redelivered: m.attempts > 1}) {
		return nil // unfinished, it goes to somebody else
	}
	return w.finish(m.id, c.due)
}

// leaveMost is how long nsqd may take to stop sending. What it has not read by then of the last FINs is lost with the
// connection, and the messages come again.
const leaveMost = 5 * time.Second

// Close implements driver.Consumer. It waits for a running Deliver, at most until ctx
// ends. It receives and finishes the messages that nsqd sent before it was asked to stop:
// otherwise nsqd would deliver them again.
func (c *consumer) Close(ctx context.Context) error {
	if c.leaving.CompareAndSwap(false, true) {
		patience, over := context.WithTimeout(ctx, leaveMost)
		defer over()
		var told []<-chan struct{}
		for _, s := range c.all() {
			if left := s.leave(); left != nil {
				told = append(told, left)
			}
		}
		for _, left := range told {
			select {
			case <-left:
			case <-patience.Done():
			}
		}
	}
	err := c.Shut(ctx)
	c.session.Forget(c)
	if c.alone {
		c.session.dropChannel(ctx, c)
	}
	return err
}

// Shut implements kit.Part: it ends the connections. No Deliver runs when it has
// returned without an error.
func (c *consumer) Shut(ctx context.Context) error {
	subs := c.all()
	errs := make([]error, len(subs)+1)
	var closing sync.WaitGroup
	closing.Go(func() {
		if err := c.gate.Shut(ctx); err != nil {
			errs[len(subs)] = wrap(err, "close consumer %d", c.id)
		}
	})
	for i, s := range subs {
		closing.Go(func() { errs[i] = s.close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

func (c *consumer) all() []subscriber {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.subs
}
