package drivertest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sixnines/driver"
)

// route hands a copy of the message to all who should have it.
func (f *fake) route(run, topic string, m fakeMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.key = slices.Clone(m.key)
	if watching := f.watching[run+"/"+topic]; watching != nil {
		o := Observed{Payload: slices.Clone(m.payload), Key: m.key, Headers: map[string]string{}}
		for _, h := range m.headers {
			o.Headers[h.Name] = h.Value
		}
		if f.is("drops headers") {
			o.Headers = nil
		}
		if f.is("drops keys") {
			o.Key = nil
		}
		watching <- o
	}
	f.logs[run+"/"+topic] = append(f.logs[run+"/"+topic], fakeMessage{payload: slices.Clone(m.payload), reply: m.reply, key: m.key, headers: m.headers})
	groups := map[string][]*fakeConsumer{}
	for name, subs := range f.subs {
		if name != run+"/"+topic && !(f.is("subscribes by prefix") && strings.HasPrefix(run+"/"+topic, name)) {
			continue
		}
		for i, c := range subs {
			m.payload = slices.Clone(m.payload)
			switch {
			case f.is("delivers to one only") && i > 0:
			case c.group == "" || f.is("delivers to all of a group"):
				c.put(m)
			default:
				groups[c.group] = append(groups[c.group], c)
			}
		}
	}
	for name, members := range groups {
		f.turn[name]++
		members[f.turn[name]%len(members)].put(m)
		if f.is("forgets a group") {
			break
		}
	}
}

// fakeConsumer has a queue without limit and a goroutine that delivers.
type fakeConsumer struct {
	s       *fakeSession
	group   string
	names   []string
	deliver driver.Deliver
	respond func(driver.Message) []byte

	ack driver.ConsumerAck

	watch
	queue  []fakeMessage
	open   []fakeMessage // delivered and not acknowledged
	past   []fakeMessage // acknowledged
	base   int           // where in its topic's log it began
	taken  int           // messages delivered since
	closed bool
	gone   bool // its session has closed
	idle   chan struct{}
}

func (s *fakeSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c, err := s.consumer(ctx, spec, deliver, nil)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *fakeSession) consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver, respond func(driver.Message) []byte) (*fakeConsumer, error) {
	if _, err := s.connect(ctx, driver.RoleConsumer); err != nil {
		return nil, err
	}
	c := &fakeConsumer{s: s, group: spec.Group, ack: spec.Ack, deliver: deliver, respond: respond, idle: make(chan struct{})}
	s.f.mu.Lock()
	for _, topic := range spec.Topics {
		name := s.target.Run + "/" + topic
		c.names = append(c.names, name)
		if s.f.subs != nil {
			s.f.subs[name] = append(s.f.subs[name], c)
		}
		s.f.bequeath(c, name)
		s.f.replay(c, name)
	}
	s.f.mu.Unlock()
	s.mu.Lock()
	s.consumers = append(s.consumers, c)
	s.mu.Unlock()
	go c.run()
	return c, nil
}

func (c *fakeConsumer) put(m fakeMessage) {
	c.update(func() { c.queue = append(c.queue, m) })
}

func (c *fakeConsumer) run() {
	defer close(c.idle)
	f := c.s.f
	shared := make([]byte, fakeLimit+1)
	var parallel sync.WaitGroup
	defer parallel.Wait()
	for {
		ended := func() bool { return c.gone || c.closed && !f.is("delivers after Close") }
		c.wait(context.Background(), func() bool { return len(c.queue) > 0 || ended() }, nil)
		c.mu.Lock()
		if ended() {
			c.mu.Unlock()
			return
		}
		m := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		switch {
		case c.respond != nil:
			reply := c.respond(driver.Message{Payload: m.payload})
			if reply != nil && f.is("answers with half") {
				reply = reply[:len(reply)/2]
			}
			if reply != nil && !f.is("never answers") || f.is("answers nil") {
				m.reply(append([]byte(nil), reply...))
			}
		case f.is("delivers in parallel"):
			parallel.Go(func() { c.deliver(driver.Message{Payload: m.payload}) })
		case f.is("reuses the payload during Deliver"):
			payload := shared[:copy(shared, m.payload)]
			parallel.Go(func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				for i := range payload {
					payload[i] ^= 0xFF
				}
			})
			parallel.Wait()
			c.deliver(driver.Message{Payload: payload})
		default:
			c.hand(m)
		}
		c.acknowledge(m)
	}
}

// hand delivers a message.
func (c *fakeConsumer) hand(m fakeMessage) {
	s := c.s
	s.busy.Add(1)
	defer s.busy.Add(-1)
	switch {
	case s.f.is("delivers to one after the other"):
		s.turn.Lock()
		defer s.turn.Unlock()
	case s.f.is("gives up who is slow"):
		defer time.AfterFunc(20*time.Millisecond, func() { s.notify(driver.Event{Kind: driver.Disconnected}) }).Stop()
	}
	partition := 0
	if s.f.is("scatters keys") {
		partition = len(m.key) * int(m.payload[4]%3) // by the sequence number
	}
	c.deliver(driver.Message{Payload: m.payload, Partition: partition})
	c.note()
}

func (c *fakeConsumer) Close(context.Context) error {
	c.update(func() { c.closed = true })
	f := c.s.f
	if !f.is("delivers after Close") {
		<-c.idle
	}
	f.mu.Lock()
	f.inherit(c)
	for _, name := range c.names {
		if f.is("unsubscribes everybody") {
			delete(f.subs, name)
			continue
		}
		if !f.is("delivers after Close") && f.subs != nil {
			f.subs[name] = slices.DeleteFunc(f.subs[name], func(other *fakeConsumer) bool { return other == c })
		}
	}
	f.mu.Unlock()
	return nil
}

func (s *fakeSession) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	c, err := s.consumer(ctx, driver.ConsumerSpec{}, replies, nil)
	if err != nil {
		return nil, err
	}
	p, err := s.producer(ctx, spec, acks)
	if err != nil {
		return nil, err
	}
	p.replies = c
	return p, nil
}

func (s *fakeSession) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.consumer(ctx, spec, nil, respond)
}
