package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// consumer implements driver.Consumer: a feed for each of its topics.
type consumer struct {
	session *session
	link    *natswire.Link
	library js.JetStream // consumes, where the library is to; else nil
	spec    driver.ConsumerSpec
	way     string            // push, pull, fetch or ordered
	shared  js.ConsumerConfig // of the group, where it is the operator's
	deliver driver.Deliver
	feeds   []*feed
	life    context.Context // ends with the consumer
	cancel  context.CancelFunc
	changed chan struct{} // the link has come up, or a feed asks to be looked after
	forget  func()        // ends watching the link
	closed  atomic.Bool   // Close has begun

	// gate is held while a message is dealt with, by whichever way it comes, and while
	// the publisher is used.
	gate *kit.Gate
	out  *natswire.Publisher // acknowledgements and requests
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	way, err := s.way(spec)
	var streams []stream
	for _, topic := range spec.Topics {
		st, err := s.streamOf(topic)
		if err != nil {
			return nil, err
		}
		streams = append(streams, st)
	}
	var shared js.ConsumerConfig
	if s.Target.Given && spec.Group != "" {
		streams = oneEach(streams)
		if shared, err = s.groupOf(ctx, streams, spec); err == nil {
			way = s.wayOf(shared)
		}
	}
	if err != nil {
		return nil, err
	}
	if spec.Group != "" {
		if err := natswire.CheckName(product, "group", spec.Group); err != nil {
			return nil, err
		}
	}
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Consumer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	c := &consumer{session: s, link: l, spec: spec, way: way, shared: shared, deliver: deliver, changed: make(chan struct{}, 1),
		gate: kit.NewGate(nil), out: natswire.NewPublisher(l)}
	c.life, c.cancel = context.WithCancel(s.Life)
	if err := c.start(ctx, streams); err != nil {
		c.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	c.forget = l.Watch(func(up bool) {
		if up {
			for _, f := range c.feeds {
				f.stale.Store(true)
			}
			c.look()
		}
	})
	s.work.Go(c.watch)
	return c, nil
}

// start starts a feed for each of the streams.
func (c *consumer) start(ctx context.Context, streams []stream) (err error) {
	s := c.session
	if _, err = s.Keep(c); err != nil {
		return err
	}
	if s.options.Client == natswire.Library {
		if c.library, err = s.library(c.link); err != nil {
			return err
		}
	}
	for _, st := range streams {
		f := &feed{consumer: c, stream: st, acks: s.acksOf(c.spec, c.way)}
		if c.isGuest() {
			f.acks = c.shared.AckPolicy
		}
		s.mu.Lock() // Depth may look
		if c.feeds = append(c.feeds, f); c.spec.Group == "" {
			s.alone[c.spec.ID] = c
		}
		s.mu.Unlock()
		if err = kit.Await(ctx, product+": consume from stream "+st.name, passes, func() error { return f.start(ctx, false) }); err != nil {
			return err
		}
	}
	return nil
}

// way says how the consumer gets its messages.
func (s *session) way(spec driver.ConsumerSpec) (string, error) {
	o := s.options
	acknowledges := spec.Ack.Mode == driver.AckEach || spec.Ack.Mode == driver.AckEvery
	switch {
	case o.Retention == "workqueue" && spec.Ack.Mode == driver.AckNone:
		return "", fmt.Errorf("%s: a consumer that acknowledges nothing: %w: a work queue wants its messages acknowledged", product, driver.ErrUnsupported)
	case spec.Ack.Mode == driver.AckEvery && spec.Ack.Every < 1:
		return "", fmt.Errorf("%s: acknowledge every %d messages: %w", product, spec.Ack.Every, driver.ErrUnsupported)
	case o.Consume == "ordered" && (spec.Group != "" || acknowledges):
		return "", fmt.Errorf("%s: option \"consume\": %w: ordered consumers acknowledge nothing and share nothing; choose push or pull", product, driver.ErrOption)
	case o.Consume == "auto" && spec.Group == "" && !acknowledges && o.Retention == "limits":
		return ordered, nil
	}
	return o.groupWay(), nil
}

// The ways of consuming.
const (
	push    = "push"
	pull    = "pull"
	fetch   = "fetch"
	ordered = "ordered"
)

// look has watch look after the feeds soon.
func (c *consumer) look() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// watch looks after the feeds until the consumer ends: when the connection is
// back, when one has a gap, and when one that should hear of the server does
// not.
func (c *consumer) watch() {
	beat := time.NewTicker(c.session.options.Heartbeat)
	defer beat.Stop()
	for {
		again := false
		select {
		case <-c.life.Done():
			return
		case <-c.changed:
			again = c.tend(false)
		case <-beat.C:
			again = c.tend(true)
		}
		for pause := firstPause; again; pause = min(2*pause, lastPause) {
			select {
			case <-c.life.Done():
				return
			case <-time.After(pause):
			}
			again = c.tend(false)
		}
	}
}

// The first and the longest pause between attempts to start a feed again.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// tend looks after all feeds and reports whether one of them must be seen to
// again.
func (c *consumer) tend(beat bool) (again bool) {
	if !c.link.Conn().IsConnected() {
		return false // who is back looks again
	}
	for _, f := range c.feeds {
		if err := f.tend(c.life, beat); err != nil {
			again = true
			if !errors.Is(err, driver.ErrClosed) && !errors.Is(err, driver.ErrNotConnected) && f.complains() {
				c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: err.Error()})
			}
		}
	}
	return again
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.Shut(ctx)
	}
	if c.forget != nil {
		c.forget()
	}
	c.acknowledgeRest(ctx)
	c.cancel()
	go func() { // takes the client's lock, which may be stuck
		for _, f := range c.feeds {
			f.unsubscribe()
		}
	}()
	err := c.Shut(ctx)
	s := c.session
	s.Forget(c)
	s.mu.Lock()
	if s.alone[c.spec.ID] == c {
		delete(s.alone, c.spec.ID)
	}
	s.mu.Unlock()
	if !s.Closed() && c.spec.Group == "" {
		for _, f := range c.feeds {
			err = errors.Join(err, f.remove(ctx))
		}
	}
	s.Release(ctx, c.link)
	return err
}

// acknowledgeRest acknowledges the last messages of a consumer with AckEvery, unless a
// Deliver still runs, whose message is not consumed.
func (c *consumer) acknowledgeRest(ctx context.Context) {
	if c.spec.Ack.Mode != driver.AckEvery || !c.gate.TryLock() {
		return
	}
	defer c.gate.Unlock()
	for _, f := range c.feeds {
		f.acknowledgeAll(ctx)
	}
	_ = c.link.FlushBatch() // what is lost with a connection is delivered again
}

// Shut implements kit.Part: no Deliver runs when it has returned without an error.
func (c *consumer) Shut(ctx context.Context) error {
	c.cancel()
	if err := c.gate.Shut(ctx); err != nil {
		return wrap(err, "close a consumer")
	}
	return nil
}
