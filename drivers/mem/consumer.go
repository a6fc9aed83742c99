package mem

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// consumer implements driver.Consumer. With a queue its own goroutine serves it, without a
// queue the sending goroutine does.
type consumer struct {
	broker *Broker
	wait   wait
	leave  func() // removes it from topics and session

	// One of the two is set.
	deliver driver.Deliver
	respond func(driver.Message) []byte

	queue chan *packet // nil: synchronous
	turn  sync.Mutex   // held during a synchronous Deliver

	*line
	from   atomic.Uint64 // packets handed on before this number of connection changes are lost, see packet.since
	silent chan struct{} // closed when no Deliver will run any more
}

// newConsumer returns a consumer that has a connection of its own, or that of producers.
func (s *session) newConsumer(of role, conn int) *consumer {
	c := &consumer{broker: s.broker, wait: s.wait, leave: func() {}, line: newLine(port{s, of, conn}), silent: make(chan struct{})}
	if !s.options.Sync {
		c.queue = make(chan *packet, s.options.Queue)
	}
	return c
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := s.newConsumer(consumers, spec.Conn)
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
	if c.ended() { // closed with its session meanwhile; nothing would remove it later
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
	defer close(c.silent)
	for {
		select {
		case p := <-c.queue:
			over := c.broken()
			comes := p.since >= c.from.Load() && (p.due.IsZero() || c.wait(p.due, over)) && c.broker.gate.pass(over)
			switch {
			case c.ended():
				return
			case comes && !closed(over):
				c.handle(driver.Message{Payload: p.data, Redelivered: p.redelivered}, p.reply)
			}
			p.release()
		case <-c.life:
			return
		}
	}
}

// lose cuts the consumer's connection: what is in its queue is lost.
func (c *consumer) lose() bool {
	if !c.line.lose() {
		return false
	}
	c.from.Store(math.MaxUint64)
	for {
		select {
		case p := <-c.queue: // never, without a queue
			p.release()
		default:
			return true
		}
	}
}

// restore has the consumer get what is handed on from now on.
func (c *consumer) restore() bool {
	c.from.Store(c.broker.changes.Add(1))
	return c.line.restore()
}

// handle delivers or answers m.
func (c *consumer) handle(m driver.Message, reply *consumer) {
	if c.respond == nil {
		c.deliver(m)
		return
	}
	answer := c.respond(m)
	if answer == nil || reply == nil || c.gone.Load() {
		return
	}
	if reply.queue == nil {
		reply.inline(driver.Message{Payload: answer}, nil, c.broken())
		return
	}
	p := c.broker.pack(answer)
	reply.push(p, c.broken())
	p.release()
}

// push puts a packet into the queue, with a reference of its own. It waits
// while the queue is full, and returns false if giveUp is closed meanwhile.
// A consumer that has ended, or has no connection, swallows it.
func (c *consumer) push(p *packet, giveUp <-chan struct{}) bool {
	if c.gone.Load() {
		return true
	}
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
	if !c.ended() && !c.gone.Load() {
		c.handle(m, reply)
	}
	c.turn.Unlock()
	return true
}

// Close implements driver.Consumer.
func (c *consumer) Close(ctx context.Context) error {
	if c.end() {
		c.leave()
		if c.queue == nil {
			go func() {
				c.turn.Lock() // the last Deliver is over
				defer c.turn.Unlock()
				close(c.silent)
			}()
		}
	}
	select {
	case <-c.silent:
		return nil
	default:
	}
	select {
	case <-c.silent:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mem: close a consumer: its Deliver does not return: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
