package mem

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// consumer implements driver.Consumer. With a queue it is served by a goroutine
// of its own, without by whoever sends.
type consumer struct {
	broker *Broker
	wait   wait
	leave  func() // removes it from topics and session

	// One of the two is set.
	deliver driver.Deliver
	respond func(driver.Message) []byte

	queue chan *packet // nil: synchronous
	turn  sync.Mutex   // held during a synchronous Deliver

	shut  sync.Once
	life  chan struct{} // closed when the consumer is to end
	ended chan struct{} // closed when no Deliver will run any more
}

func (s *session) newConsumer() *consumer {
	c := &consumer{broker: s.broker, wait: s.wait, leave: func() {}, life: make(chan struct{}), ended: make(chan struct{})}
	if !s.options.Sync {
		c.queue = make(chan *packet, s.options.Queue)
	}
	return c
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := s.newConsumer()
	c.deliver = deliver
	if err := s.subscribe(ctx, c, spec); err != nil {
		return nil, err
	}
	return c, nil
}

// subscribe starts c and gives it what spec asks for.
func (s *session) subscribe(ctx context.Context, c *consumer, spec driver.ConsumerSpec) error {
	if spec.Ack.Mode > driver.AckNone {
		return fmt.Errorf("mem: subscribe: %w: consumers do not acknowledge", driver.ErrUnsupported)
	}
	if err := s.reach(ctx, "subscribe"); err != nil {
		return err
	}
	topics, err := s.topics(spec.Topics)
	if err != nil {
		return err
	}
	c.leave = func() {
		s.broker.mu.Lock()
		for _, t := range topics {
			t.remove(c)
		}
		s.broker.mu.Unlock()
		s.leave(c)
	}
	if err := s.start(c); err != nil {
		return err
	}
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	if c.over() { // closed with its session meanwhile, and nobody will remove it again
		return fmt.Errorf("mem: subscribe: session %w", driver.ErrClosed)
	}
	for _, t := range topics {
		if t.routes.Load() != nil {
			t.add(c, spec.Group)
		}
	}
	return nil
}

func (s *session) topics(names []string) ([]*topic, error) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	var topics []*topic
	for _, n := range names {
		t, err := s.topic(n)
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}

// start enters c in the session and lets it wait for messages.
func (s *session) start(c *consumer) error {
	if err := s.enter(c); err != nil {
		return err
	}
	if c.queue != nil {
		go c.serve()
	}
	return nil
}

// serve delivers what is in the queue.
func (c *consumer) serve() {
	defer close(c.ended)
	for {
		select {
		case p := <-c.queue:
			if !p.due.IsZero() && !c.wait(p.due, c.life) {
				return
			}
			if !c.broker.gate.pass(c.life) || c.over() {
				return
			}
			c.handle(driver.Message{Payload: p.data, Redelivered: p.redelivered}, p.reply)
			p.release()
		case <-c.life:
			return
		}
	}
}

// over reports whether the consumer is to end.
func (c *consumer) over() bool {
	select {
	case <-c.life:
		return true
	default:
		return false
	}
}

// handle delivers or answers m.
func (c *consumer) handle(m driver.Message, reply *consumer) {
	if c.respond == nil {
		c.deliver(m)
		return
	}
	answer := c.respond(m)
	if answer == nil || reply == nil {
		return
	}
	if reply.queue == nil {
		reply.inline(driver.Message{Payload: answer}, nil, c.life)
		return
	}
	p := c.broker.pack(answer)
	reply.push(p, c.life)
	p.release()
}

// push puts a packet into the queue, with a reference of its own. It waits
// while the queue is full, and returns false if giveUp is closed meanwhile.
// A consumer that has ended swallows it.
func (c *consumer) push(p *packet, giveUp <-chan struct{}) bool {
	p.refs.Add(1)
	select {
	case c.queue <- p:
		return true
	default:
	}
	select {
	case c.queue <- p:
		return true
	case <-c.life:
		p.release()
		return true
	case <-giveUp:
		p.release()
		return false
	}
}

// inline delivers m now, on the caller's goroutine. It returns false if the
// broker is frozen and giveUp is closed meanwhile.
func (c *consumer) inline(m driver.Message, reply *consumer, giveUp <-chan struct{}) bool {
	if !c.broker.gate.pass(giveUp) {
		return false
	}
	c.turn.Lock()
	if !c.over() {
		c.handle(m, reply)
	}
	c.turn.Unlock()
	return true
}

// Close implements driver.Consumer.
func (c *consumer) Close(ctx context.Context) error {
	c.shut.Do(func() {
		close(c.life)
		c.leave()
		if c.queue == nil {
			go func() {
				c.turn.Lock() // the last Deliver is over
				defer c.turn.Unlock()
				close(c.ended)
			}()
		}
	})
	select {
	case <-c.ended:
		return nil
	default:
	}
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mem: close a consumer: its Deliver does not return: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
