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

	mu        sync.Mutex
	closed    bool
	serial    int // of the latest consumer
	talks     int // how many dialogues there have been
	links     map[linkKey]*slot
	consumers map[*consumer]struct{}
	kept      []string // client identifiers of sessions that outlive connections
	topics    []string // what Provision was asked for, full names
}

// slot is the place of a link that may still be connecting.
type slot struct {
	ready chan struct{} // closed when link or err is set
	link  *link
	err   error
	users int // guarded by the session's mu
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify, dial: t.Dial,
		user: o.User, password: o.Password, nonce: strings.ToLower(rand.Text()[:6]),
		links: map[linkKey]*slot{}, consumers: map[*consumer]struct{}{}}
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

// keep lets the session's Close wait for c, and returns the key of its link.
func (s *session) keep(c *consumer) (linkKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return linkKey{}, fmt.Errorf("mqtt: subscribe: session %w", driver.ErrClosed)
	}
	s.consumers[c] = struct{}{}
	key := linkKey{roleConsumer, s.serial}
	s.serial++
	return key, nil
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

// acquire returns the producers' link called key, connecting it for its first
// user.
func (s *session) acquire(ctx context.Context, key linkKey) (*link, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("mqtt: connect: session %w", driver.ErrClosed)
	}
	sl, shared := s.links[key]
	if !shared {
		sl = &slot{ready: make(chan struct{})}
		s.links[key] = sl
	}
	sl.users++
	s.mu.Unlock()
	if shared {
		select {
		case <-sl.ready:
			return sl.link, sl.err
		case <-ctx.Done():
			s.release(ctx, key)
			return nil, fmt.Errorf("mqtt: connect: %w: %w", driver.ErrNotConnected, context.Cause(ctx))
		}
	}
	l := s.newLink(key, nil)
	err := l.start(ctx)
	s.mu.Lock()
	late := err == nil && s.closed
	if late {
		err = fmt.Errorf("mqtt: connect: session %w", driver.ErrClosed)
	}
	if err != nil {
		sl.err = err
		if s.links[key] == sl {
			delete(s.links, key)
		}
	} else {
		sl.link = l
	}
	close(sl.ready)
	s.mu.Unlock()
	if late {
		l.close(ctx)
	}
	return sl.link, sl.err
}

// release gives the link called key back and closes it after its last user.
func (s *session) release(ctx context.Context, key linkKey) {
	s.mu.Lock()
	sl := s.links[key]
	if sl == nil { // the session has closed it
		s.mu.Unlock()
		return
	}
	sl.users--
	if sl.users > 0 {
		s.mu.Unlock()
		return
	}
	delete(s.links, key)
	s.mu.Unlock()
	if sl.link != nil {
		sl.link.close(ctx)
	}
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	links, consumers := s.links, s.consumers
	s.links, s.consumers = map[linkKey]*slot{}, map[*consumer]struct{}{}
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, sl := range links {
		closing.Go(func() {
			select {
			case <-sl.ready: // acquire closes what came too late
				if sl.link != nil {
					sl.link.close(ctx)
				}
			case <-ctx.Done():
			}
		})
	}
	for c := range consumers {
		if c.link != nil {
			closing.Go(func() { c.link.close(ctx) })
		}
	}
	// Ends what is still connecting, and who sees that the session is over.
	s.cancel()
	closing.Wait()
	return nil
}
