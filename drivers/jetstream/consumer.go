package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	way     string // push, pull, fetch or ordered
	deliver driver.Deliver
	feeds   []*feed
	life    context.Context // ends with the consumer
	cancel  context.CancelFunc
	changed chan struct{} // the link has come up, or a feed asks to be looked after
	forget  func()        // ends watching the link

	running sync.WaitGroup // what may still call deliver
	shut    func()         // ends deliveries when a running one has ended; does not wait
	waiting sync.Once
	idle    chan struct{} // closed when nothing calls deliver any more

	// serial is held while a message is dealt with, by whichever way it comes,
	// and while the publisher is used.
	serial sync.Mutex
	closed bool                // guarded by serial
	out    *natswire.Publisher // acknowledgements and requests

	mu       sync.Mutex
	released bool // the link has been given back
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	way, err := s.way(spec)
	if err != nil {
		return nil, err
	}
	var streams []stream
	for _, topic := range spec.Topics {
		st, err := streamOf(s.run, topic)
		if err != nil {
			return nil, err
		}
		streams = append(streams, st)
	}
	if spec.Group != "" {
		if err := natswire.CheckName(product, "group", spec.Group); err != nil {
			return nil, err
		}
	}
	l, err := s.client.Acquire(ctx, natswire.Key{Role: natswire.RoleConsumer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	c := &consumer{session: s, link: l, spec: spec, way: way, deliver: deliver, out: natswire.NewPublisher(l),
		changed: make(chan struct{}, 1), idle: make(chan struct{})}
	if s.options.Client == natswire.Library {
		if c.library, err = s.library(l); err != nil {
			s.client.Release(ctx, l)
			return nil, err
		}
	}
	c.life, c.cancel = context.WithCancel(s.life)
	c.running.Add(1)
	c.shut = sync.OnceFunc(func() {
		c.cancel()
		go func() {
			defer c.running.Done()
			c.serial.Lock()
			defer c.serial.Unlock()
			c.closed = true
		}()
	})
	if !s.keepConsumer(c) {
		err = fmt.Errorf("%s: subscribe: session %w", product, driver.ErrClosed)
	}
	for _, st := range streams {
		if err != nil {
			break
		}
		f := &feed{consumer: c, stream: st, acks: s.acksOf(spec, way)}
		s.mu.Lock() // Depth may look
		c.feeds = append(c.feeds, f)
		s.mu.Unlock()
		err = kit.Await(ctx, product+": consume from stream "+st.name, passes, func() error { return f.start(ctx, false) })
	}
	if err != nil {
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

// keepConsumer lets the session's Close wait for c, unless it is over.
func (s *session) keepConsumer(c *consumer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.Closed() {
		return false
	}
	s.consumers[c] = struct{}{}
	return true
}

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
				c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: c.link.Key().String() + ": " + err.Error()})
			}
		}
	}
	return again
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.released
	c.released = true
	c.mu.Unlock()
	if first {
		if c.forget != nil {
			c.forget()
		}
		c.acknowledgeRest(ctx)
	}
	c.shut()
	if first {
		go func() { // takes the client's lock, which may be stuck
			for _, f := range c.feeds {
				f.unsubscribe()
			}
		}()
	}
	err := c.wait(ctx)
	if first {
		c.session.mu.Lock()
		delete(c.session.consumers, c)
		c.session.mu.Unlock()
		if !c.session.client.Closed() && c.spec.Group == "" {
			for _, f := range c.feeds {
				err = errors.Join(err, f.remove(ctx))
			}
		}
		c.session.client.Release(ctx, c.link)
	}
	return err
}

// acknowledgeRest acknowledges what was left over by those who acknowledge every
// so many, unless a Deliver still runs, whose message is not consumed.
func (c *consumer) acknowledgeRest(ctx context.Context) {
	if c.spec.Ack.Mode != driver.AckEvery || !c.serial.TryLock() {
		return
	}
	defer c.serial.Unlock()
	for _, f := range c.feeds {
		f.acknowledgeAll(ctx)
	}
	_ = c.link.FlushBatch() // what is lost with a connection is delivered again
}

// wait returns when no Deliver runs any more, or ctx ends. The consumer is shut.
func (c *consumer) wait(ctx context.Context) error {
	c.waiting.Do(func() {
		go func() {
			c.running.Wait()
			close(c.idle)
		}()
	})
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: close a consumer: %w: %w", product, driver.ErrTimeout, context.Cause(ctx))
	}
}
