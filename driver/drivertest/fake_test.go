package drivertest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers/brokertest"
)

// fake is a driver and a broker in one process, which keeps the contract but
// for its flaw.
type fake struct {
	flaw     string
	listener net.Listener
	secure   net.Listener // speaks TLS
	files    brokertest.Certificates

	mu       sync.Mutex
	frozen   chan struct{} // closed when thawed; nil: not frozen
	subs     map[string][]*fakeConsumer
	turn     map[string]int // of groups
	held     map[string]bool
	kept     map[string][]fakeMessage // what consumers of groups left behind, by fakeGroup
	sessions map[*fakeSession]bool
}

type fakeOptions struct {
	Password string `option:"password" secret:"true"`
}

const fakeLimit = 1 << 20

// newFake starts a fake; it ends with the test.
func newFake(t *testing.T, flaw string) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	files := brokertest.NewCertificates(t)
	server := files.Server(false)
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	over, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{flaw: flaw, listener: l, secure: over, files: files, subs: map[string][]*fakeConsumer{}, turn: map[string]int{},
		held: map[string]bool{}, kept: map[string][]fakeMessage{}, sessions: map[*fakeSession]bool{}}
	var serving sync.WaitGroup
	for _, l := range []net.Listener{l, over} {
		serving.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				serving.Go(func() { // a greeting, and payloads that nobody reads
					defer c.Close()
					c.Write([]byte("!"))
					io.Copy(io.Discard, c)
				})
			}
		})
	}
	t.Cleanup(func() {
		l.Close()
		over.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		for s := range f.sessions {
			s.mu.Lock()
			for _, c := range s.conns {
				c.Close()
			}
			s.mu.Unlock()
		}
	})
	return f
}

func (f *fake) is(flaw string) bool { return f.flaw == flaw }

func (f *fake) harness() Harness {
	at := func(address string) driver.Target {
		return driver.Target{URL: address, Options: map[string]any{"password": "right"}}
	}
	impatient := at(f.listener.Addr().String())
	return Harness{
		Entry: driver.Entry{Name: "fake", Driver: f, Options: &fakeOptions{}, Capabilities: driver.Capabilities{
			Ack: driver.AckKindBroker, AckVaries: f.is("does not report its acknowledgement"), RequestReply: true,
			Groups: true, FanOut: true, ConsumerAck: true, Reconnects: true, Ordered: true, TLS: true}},
		Encrypted: func() driver.Target {
			t := at(f.secure.Addr().String())
			t.TLS = f.files.Client(false)
			return t
		},
		Impatient: &impatient, Silence: 20 * time.Millisecond,
		Target:        at(f.listener.Addr().String()),
		At:            at,
		WrongPassword: &driver.Target{URL: f.listener.Addr().String(), Options: map[string]any{"password": "wrong"}},
		MaxPayload:    fakeLimit, TooLarge: fakeLimit + 1,
		Freeze: f.freeze, Thaw: f.thaw, Restart: f.restart, Leftovers: f.leftovers, Unacked: f.unacked,
	}
}

func (f *fake) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = make(chan struct{})
}

func (f *fake) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.frozen)
	f.frozen = nil
}

func (f *fake) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sessions {
		s.notify(driver.Event{Kind: driver.Disconnected})
		if f.is("comes back in silence") {
			continue
		}
		s.notify(driver.Event{Kind: driver.Reconnected})
	}
	if f.is("forgets subscriptions") {
		f.subs = map[string][]*fakeConsumer{}
	}
}

func (f *fake) leftovers(run string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []string
	for name := range f.held {
		if strings.HasPrefix(name, run+"/") {
			left = append(left, name)
		}
	}
	return left, nil
}

// dial connects and waits for the greeting.
func (f *fake) dial(ctx context.Context, t driver.Target) (net.Conn, error) {
	dial := t.Dial
	if f.is("dials by itself") {
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, "tcp", t.URL)
	if err != nil {
		if f.is("unclassified error") {
			return nil, err
		}
		return nil, fmt.Errorf("fake: %w: %w", driver.ErrNotConnected, err)
	}
	if !f.is("deaf to its context") {
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
	}
	if t.TLS != nil {
		config, err := t.TLS.Config("127.0.0.1")
		if err != nil {
			c.Close()
			return nil, err
		}
		config.InsecureSkipVerify = f.is("trusts any certificate")
		c = tls.Client(c, config)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		c.Close()
		return nil, fmt.Errorf("fake: %w: %w", driver.ErrNotConnected, err)
	}
	return c, nil
}

func (f *fake) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	var o fakeOptions
	if err := driver.DecodeOptions(t.Options, &o); err != nil && !f.is("takes any option") {
		return nil, err
	}
	c, err := f.dial(ctx, t)
	if err != nil {
		return nil, err
	}
	if o.Password != "right" && !f.is("takes any password") {
		c.Close()
		return nil, fmt.Errorf("fake: %w", driver.ErrUnauthorized)
	}
	s := &fakeSession{f: f, target: t, done: make(chan struct{}), conns: []net.Conn{c}}
	s.notify = t.Notify
	f.mu.Lock()
	f.sessions[s] = true
	f.mu.Unlock()
	switch {
	case f.is("answers no requests"):
		return struct{ driver.Session }{s}, nil
	case f.is("acknowledges in an unknown way"):
		return fakeReporter{s}, nil
	}
	return s, nil
}

type fakeSession struct {
	f      *fake
	target driver.Target
	notify func(driver.Event)

	mu        sync.Mutex
	closed    bool
	done      chan struct{}
	conns     []net.Conn
	producers []*fakeProducer
	consumers []*fakeConsumer
	created   []string
	working   sync.WaitGroup
	turn      sync.Mutex   // of consumers that hold each other up
	busy      atomic.Int32 // how many Deliver are running
}

func (s *fakeSession) connect(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("fake: %w", driver.ErrClosed)
	}
	c, err := s.f.dial(ctx, s.target)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return nil, fmt.Errorf("fake: %w", driver.ErrClosed)
	}
	s.conns = append(s.conns, c)
	return c, nil
}

func (s *fakeSession) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if t.MaxSize > fakeLimit {
		if s.f.is("calls too large rejected") {
			return driver.Semantics{}, fmt.Errorf("fake: %w", driver.ErrRejected)
		}
		return driver.Semantics{}, fmt.Errorf("fake: %w", driver.ErrTooLarge)
	}
	if s.f.is("provisions for ever") && ctx.Err() != nil {
		<-s.done
	}
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	for _, topic := range t.Topics {
		s.created = append(s.created, s.target.Run+"/"+topic)
		s.f.held[s.target.Run+"/"+topic] = true
	}
	sem := driver.Semantics{Durability: "memory", Replication: "none", Acknowledgment: "taken", Ordering: "per producer and topic",
		Delivery: "exactly once", Batching: "none", Consumption: "push", Transport: "memory"}
	if s.target.TLS != nil && !s.f.is("says nothing of tls") {
		sem.Transport += ", tls"
	}
	if s.f.is("says nothing of delivery") {
		sem.Delivery = ""
	}
	return sem, nil
}

func (s *fakeSession) Deprovision(context.Context) error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	if s.f.is("leaves topics") {
		return nil
	}
	if s.f.is("removes what others made") {
		s.f.held, s.f.subs = map[string]bool{}, nil
	}
	for _, name := range s.created {
		delete(s.f.held, name)
	}
	return nil
}

func (s *fakeSession) Close(ctx context.Context) error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	conns, consumers := s.conns, s.consumers
	s.mu.Unlock()
	if again {
		if s.f.is("panics when closed twice") {
			panic("closed twice")
		}
		return nil
	}
	if s.f.is("waits for the broker to close") {
		for _, p := range s.producers {
			p.drain(context.Background())
		}
	}
	close(s.done)
	for _, c := range conns {
		if !s.f.is("leaves connections open") {
			c.Close()
		}
	}
	for _, c := range consumers {
		c.Close(ctx)
		c.update(func() { c.gone = true })
	}
	s.f.mu.Lock()
	delete(s.f.sessions, s)
	s.f.mu.Unlock()
	if s.f.is("leaves a goroutine") {
		go func() { <-context.Background().Done() }()
	}
	s.working.Wait()
	return nil
}

// fakeMessage is on its way to the broker or to a consumer.
type fakeMessage struct {
	token   uint64
	payload []byte
	reply   func([]byte)
}

type fakeProducer struct {
	s       *fakeSession
	conn    net.Conn
	topic   string
	acks    driver.Acks
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
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	p := &fakeProducer{s: s, conn: conn, topic: spec.Topic, acks: acks, queue: make(chan fakeMessage, 64), done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed { // Close waits for what works, and nothing may join then
		return nil, fmt.Errorf("fake: %w", driver.ErrClosed)
	}
	s.producers = append(s.producers, p)
	s.working.Go(p.run)
	return p, nil
}

func (p *fakeProducer) Send(token uint64, payload []byte) error {
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
	m := fakeMessage{token: token, payload: payload}
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
		if f.is("reads payloads after Done") {
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
