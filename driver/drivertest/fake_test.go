package drivertest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers/brokertest"
	"sixnines/semantics"
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
	logs     map[string][]fakeMessage // all that was sent, by topic
	places   map[string]int           // of groups in them
	kept     map[string][]fakeMessage // what consumers of groups left behind, by fakeGroup
	sessions map[*fakeSession]bool
	watching map[string]chan Observed
}

type fakeOptions struct {
	Password string `option:"password" secret:"true"`
	flaw     string
}

// Adjust implements driver.Adjuster.
func (o *fakeOptions) Adjust(c *driver.Capabilities) {
	switch o.flaw {
	case "says that it dials by itself":
		c.OwnsDialing = o.Password != ""
	case "acknowledges in an unknown way":
		if o.Password != "" {
			c.Ack = "a nod"
		}
	case "claims what its defaults do not":
		c.Ack = driver.AckKindReply
	}
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
		held: map[string]bool{}, logs: map[string][]fakeMessage{}, places: map[string]int{}, kept: map[string][]fakeMessage{}, sessions: map[*fakeSession]bool{}, watching: map[string]chan Observed{}}
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
	impatient, encrypted := at(f.listener.Addr().String()), at(f.secure.Addr().String())
	encrypted.TLS = f.files.Client(false)
	return Harness{
		Entry: driver.Entry{Name: "fake", Driver: f, Options: &fakeOptions{flaw: f.flaw}, Naming: driver.Naming{Separator: "/", Allowed: "/", Longest: 10}, Capabilities: driver.Capabilities{
			Ack: driver.AckKindBroker, RequestReply: true,
			Groups: true, FanOut: true, ConsumerAck: true, Reconnects: true, Ordered: true, Keeps: true, ReadsBack: true, TLS: true,
			Keys: true, Headers: true}},
		Encrypted: &encrypted,
		Impatient: &impatient, Silence: 20 * time.Millisecond,
		Target:        at(f.listener.Addr().String()),
		At:            at,
		WrongPassword: &driver.Target{URL: f.listener.Addr().String(), Options: map[string]any{"password": "wrong"}},
		MaxPayload:    fakeLimit, TooLarge: fakeLimit + 1,
		Freeze: f.freeze, Thaw: f.thaw, Restart: f.restart, Leftovers: f.leftovers, Unacked: f.unacked, Observe: f.observe,
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

// observe is the harness's hook.
func (f *fake) observe(ctx context.Context, run, topic string) (func() (Observed, error), error) {
	all := make(chan Observed, 1000)
	f.mu.Lock()
	f.watching[run+"/"+topic] = all
	f.mu.Unlock()
	return func() (Observed, error) {
		select {
		case o := <-all:
			return o, nil
		case <-ctx.Done():
			return Observed{}, ctx.Err()
		}
	}, nil
}

func (f *fake) leftovers(run string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []string
	for name := range f.held {
		if strings.Contains(name, run+"/") {
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
		plain := c // c may become the encrypted one meanwhile
		stop := context.AfterFunc(ctx, func() { plain.Close() })
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
	if !f.is("forgets the prefix") {
		t.Run = t.Prefix + t.Run
	}
	s := &fakeSession{f: f, target: t, done: make(chan struct{}), conns: []net.Conn{c}}
	s.notify = t.Notify
	f.mu.Lock()
	f.sessions[s] = true
	f.mu.Unlock()
	switch {
	case f.is("answers no requests"):
		return struct{ driver.Session }{s}, nil
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
	oldest    bool // consumers begin with what there is
	working   sync.WaitGroup
	turn      sync.Mutex   // of consumers that hold each other up
	busy      atomic.Int32 // how many Deliver are running
}

func (s *fakeSession) connect(ctx context.Context, role driver.Role) (net.Conn, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("fake: %w", driver.ErrClosed)
	}
	asked := ctx
	if s.f.is("dials with a context of its own") {
		ctx = context.Background()
	}
	if !s.f.is("keeps whose a connection is") {
		ctx = driver.WithRole(ctx, role)
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
	if !s.f.is("keeps logins to itself") {
		driver.LoggedIn(asked)
	}
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
	if err := s.provision(t); err != nil {
		return driver.Semantics{}, err
	}
	sem := driver.Semantics{Levels: semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.OneCopy},
		Ordering: semantics.PerTopic, Delivery: semantics.ExactlyOnce}, Client: semantics.Client{Kind: semantics.Direct}, Server: driver.Server{Product: "fake"}, Durability: "memory", Replication: "none", Acknowledgment: "taken", Ordering: "per producer and topic",
		Delivery: "exactly once", Batching: "none", Consumption: "push", Transport: "memory"}
	if s.target.TLS != nil && !s.f.is("says nothing of tls") {
		sem.Transport, sem.Encrypted = "memory, tls", true
	}
	switch s.f.flaw {
	case "says nothing of delivery":
		sem.Delivery = ""
	case "states no level of delivery":
		sem.Levels.Delivery = ""
	case "makes a level up":
		sem.Levels.Durability = "safe"
	case "has no level where it batches":
		if s.target.Batch {
			sem.Levels.Ordering = ""
		}
	case "confirms more copies than it has":
		sem.Levels.Replication = semantics.Replication{Level: semantics.Synchronous, Copies: 2, Confirmed: 3}
	case "names no server":
		sem.Server = driver.Server{}
	case "makes up how refusals are learned":
		sem.Refusals = "by post"
	case "names no client":
		sem.Client = semantics.Client{}
	case "has a library of no version":
		sem.Client = semantics.Client{Kind: semantics.Library, Name: "some"}
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
