package mqtt

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session, driver.AckReporter and driver.ServerInfo.
type session struct {
	target         driver.Target
	options        Options
	servers        []server
	user, password string
	tls            *tls.Config // nil: plain
	dial           func(ctx context.Context, network, address string) (net.Conn, error)
	writeBuffer    int // bytes; 1: none
	notify         func(driver.Event)
	nonce          string          // makes client identifiers of this session its own
	life           context.Context // ends when the session closes
	cancel         context.CancelFunc

	welcome greeting // of the first login
	product string   // what the broker calls itself, if it does

	links *kit.Pool[linkKey, *link] // of producers

	mu        sync.Mutex
	serial    int // of the latest consumer
	talks     int // how many exchanges there have been
	consumers map[*consumer]struct{}
	kept      []string // client identifiers of sessions that outlive connections
	topics    []string // what Provision was asked for, full names
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify, dial: t.Dial,
		user: o.User, password: o.Password, nonce: strings.ToLower(rand.Text()[:6]),
		consumers: map[*consumer]struct{}{}}
	s.links = kit.NewPool("mqtt", s.connect, func(ctx context.Context, l *link) { l.close(ctx) })
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	if s.dial == nil {
		s.dial = new(net.Dialer).DialContext
	}
	servers, login, err := parseServers(t.URL)
	if err != nil {
		return nil, err
	}
	s.servers = servers
	if login != nil && s.user == "" {
		s.user = login.Username()
		s.password, _ = login.Password()
	}
	if t.TLS != nil || servers[0].secure {
		// The name is filled in for each server.
		if s.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("mqtt: %w", err)
		}
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// checkName refuses names that are no plain level of a topic.
func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, "+#/$\x00") || len(name) > 1000 {
		return fmt.Errorf("mqtt: %s %q: %w: names are not empty and have no wildcards, slashes or dollar signs", what, name, driver.ErrUnsupported)
	}
	return nil
}

// topic returns the full name of one of the run's topics.
func (s *session) topic(name string) (string, error) {
	if err := checkName("topic", name); err != nil {
		return "", err
	}
	return "sixnines/" + s.target.Run + "/" + name, nil
}

// Ack implements driver.AckReporter.
func (s *session) Ack() driver.AckKind {
	if s.options.QoS == 0 {
		return driver.AckKindNone
	}
	return driver.AckKindBroker
}

// keep makes c's link and lets the session's Close wait for it.
func (s *session) keep(c *consumer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return fmt.Errorf("mqtt: subscribe: session %w", driver.ErrClosed)
	}
	c.link = s.newLink(linkKey{roleConsumer, s.serial}, c)
	s.serial++
	s.consumers[c] = struct{}{}
	return nil
}

func (s *session) forget(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.consumers, c)
}

// remember notes a client identifier whose session Deprovision has to end.
func (s *session) remember(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, id)
}

// connect makes a link of producers.
func (s *session) connect(ctx context.Context, key linkKey) (*link, error) {
	l := s.newLink(key, nil)
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	// Ends what is still connecting, and lets no consumer be made that is not seen
	// below; what is connected lives on until its link is closed.
	s.cancel()
	s.mu.Lock()
	consumers := s.consumers
	s.consumers = map[*consumer]struct{}{}
	s.mu.Unlock()
	var closing sync.WaitGroup
	closing.Go(func() { s.links.Close(ctx) })
	for c := range consumers {
		closing.Go(func() { c.link.close(ctx) })
	}
	closing.Wait()
	return nil
}
