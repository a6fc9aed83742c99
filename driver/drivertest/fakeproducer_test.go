package drivertest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// fakeMessage is on its way to the broker or to a consumer.
type fakeMessage struct {
	token   uint64
	payload []byte
	key     []byte
	headers []driver.Header
	reply   func([]byte)
}

type fakeProducer struct {
	s       *fakeSession
	conn    net.Conn
	topic   string
	acks    driver.Acks
	headers []driver.Header
	replies *fakeConsumer
	queue   chan fakeMessage
	pending atomic.Int64
	done    chan struct{}
	once    sync.Once
	sent    int
}

func (s *fakeSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.producer(ctx, spec, acks)
	if err == nil && s.f.is("has no Sync") {
		return struct{ driver.Producer }{p}, nil
	}
	return p, err
}

func (s *fakeSession) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (*fakeProducer, error) {
	conn, err := s.connect(ctx, driver.RoleProducer)
	if err != nil {
		return nil, err
	}
	p := &fakeProducer{s: s, conn: conn, topic: spec.Topic, acks: acks, headers: spec.Headers, queue: make(chan fakeMessage, 64), done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // Close waits for what works, and nothing may join then
		return nil, fmt.Errorf("fake: %w", driver.ErrClosed)
	}
	if s.f.is("keeps headers for all") && len(s.producers) > 0 {
		p.headers = s.producers[0].headers
	}
	s.producers = append(s.producers, p)
	s.working.Go(p.run)
	return p, nil
}

func (p *fakeProducer) Send(token uint64, payload []byte) error {
	return p.SendKeyed(token, payload, nil)
}

func (p *fakeProducer) SendKeyed(token uint64, payload, key []byte) error {
	f := p.s.f
	if len(payload) > fakeLimit && !f.is("takes any size") {
		return fmt.Errorf("fake: %w", driver.ErrTooLarge)
	}
	select {
	case <-p.done:
		if !f.is("sends when closed") {
			return fmt.Errorf("fake: %w", driver.ErrClosed)
		}
	case <-p.s.done:
		if f.is("done and an error") {
			p.acks.Done(token, nil)
		}
		if f.is("unclassified error of Send") {
			return errors.New("fake: no")
		}
		return fmt.Errorf("fake: %w", driver.ErrClosed)
	default:
	}
	if secure, ok := p.conn.(*tls.Conn); ok {
		if f.is("sends in plain") {
			secure.NetConn().Write(payload)
		} else {
			secure.Write(payload)
		}
	}
	m := fakeMessage{token: token, payload: payload, key: key, headers: p.headers}
	if p.replies != nil {
		m.reply = func(payload []byte) { p.replies.put(fakeMessage{payload: payload}) }
	}
	p.pending.Add(1)
	select {
	case p.queue <- m:
		return nil
	case <-p.s.done:
		if f.is("hangs in Send after Close") {
			select {}
		}
		return fmt.Errorf("fake: %w", driver.ErrClosed)
	}
}

// run is the way to the broker.
func (p *fakeProducer) run() {
	f := p.s.f
	held := []fakeMessage(nil) // to be sent after the next
	for {
		var m fakeMessage
		select {
		case m = <-p.queue:
		case <-p.done:
			return
		case <-p.s.done:
			return
		}
		if f.is("Sync proves nothing") {
			time.Sleep(100 * time.Microsecond)
		}
		f.mu.Lock()
		frozen := f.frozen
		f.mu.Unlock()
		if frozen != nil {
			select {
			case <-frozen:
			case <-p.s.done:
				return
			}
		}
		p.sent++
		if f.is("reads keys after Done") {
			m.payload = slices.Clone(m.payload)
		}
		if f.is("reads payloads after Done") || f.is("reads keys after Done") {
			p.acks.Done(m.token, nil)
			f.route(p.s.target.Run, p.topic, m)
			p.pending.Add(-1)
			continue
		}
		switch {
		case f.is("reorders") && p.sent%10 == 5:
			held = append(held, fakeMessage{payload: slices.Clone(m.payload), reply: m.reply})
		case f.is("loses") && p.sent%10 == 5:
		case f.is("holds the last message back") && p.s.target.Batch && len(p.queue) == 0:
			p.sent--
		case f.is("cuts large payloads") && len(m.payload) > 100_000:
			m.payload = m.payload[:100_000]
			fallthrough
		default:
			f.route(p.s.target.Run, p.topic, m)
			if f.is("duplicates") && p.sent%10 == 5 {
				f.route(p.s.target.Run, p.topic, m)
			}
			for _, late := range held {
				f.route(p.s.target.Run, p.topic, late)
			}
			held = nil
		}
		p.pending.Add(-1)
		for f.is("acknowledges when nobody is busy") && p.s.busy.Load() > 0 {
			select {
			case <-p.s.done:
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
		switch {
		case f.is("forgets a Done") && p.sent == 7:
		case f.is("Done with unclassified error"):
			p.acks.Done(m.token, errors.New("fake: no"))
		case f.is("Done twice") && p.sent == 7:
			p.acks.Done(m.token, nil)
			p.acks.Done(m.token, nil)
		case f.is("Done with another token") && p.sent == 7:
			p.acks.Done(m.token+1, nil)
		default:
			p.acks.Done(m.token, nil)
		}
	}
}

// drain waits until the broker has all that was sent.
func (p *fakeProducer) drain(ctx context.Context) error {
	for p.pending.Load() > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case <-p.done:
			return nil
		case <-time.After(100 * time.Microsecond):
		}
	}
	return nil
}

func (p *fakeProducer) Sync(ctx context.Context) error {
	if p.s.f.is("Sync proves nothing") {
		return nil
	}
	return p.drain(ctx)
}

func (p *fakeProducer) Close(ctx context.Context) error {
	p.once.Do(func() {
		close(p.done)
		if p.replies != nil {
			p.replies.Close(ctx)
		}
	})
	return nil
}
