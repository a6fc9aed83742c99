package nats

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

// session implements driver.Session, driver.RequestReplier and
// driver.ServerInfo.
type session struct {
	target         driver.Target
	options        Options
	servers        []string
	tls            *tls.Config
	authentication []nats.Option
	writeBuffer    int
	notify         func(driver.Event)
	life           context.Context // ends when the session closes
	cancel         context.CancelFunc
	control        *link
	wrapped        bool // the server insists on TLS without being asked

	mu        sync.Mutex
	closed    bool
	links     map[linkKey]*slot
	consumers map[*consumer]struct{}
}

// slot is the place of a link that may still be connecting.
type slot struct {
	ready chan struct{} // closed when link or err is set
	link  *link
	err   error
	users int // guarded by the session's mu
}

func newSession(t driver.Target, o Options) (*session, error) {
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify,
		links: map[linkKey]*slot{}, consumers: map[*consumer]struct{}{}}
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	var err error
	if s.servers, err = parseServers(t.URL); err != nil {
		return nil, err
	}
	if t.TLS != nil || o.TLSFirst {
		// The client fills in the name of the server that it comes to.
		if s.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("nats: %w", err)
		}
	}
	if s.authentication, err = o.authentication(); err != nil {
		return nil, err
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// checkName refuses names that are no plain part of a subject.
func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, "*> \t\r\n") || strings.HasPrefix(name, ".") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return fmt.Errorf("nats: %s %q: %w: names are not empty and have no spaces, wildcards or empty parts between dots", what, name, driver.ErrUnsupported)
	}
	return nil
}

func (s *session) subject(topic string) (string, error) {
	if err := checkName("topic", topic); err != nil {
		return "", err
	}
	return "sixnines." + s.target.Run + "." + topic, nil
}

// acquire returns the link called key, connecting it for its first user.
func (s *session) acquire(ctx context.Context, key linkKey) (*link, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("nats: connect: session %w", driver.ErrClosed)
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
			return nil, fmt.Errorf("nats: connect: %w: %w", driver.ErrNotConnected, context.Cause(ctx))
		}
	}
	l, err := connect(ctx, s.life, key, s)
	s.mu.Lock()
	if err == nil && s.closed {
		err = fmt.Errorf("nats: connect: session %w", driver.ErrClosed)
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
	if err != nil && l != nil {
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

// direct reports whether an option asks to go past the client and that can be
// done: what TLS and WebSocket wrap around frames is left to the client.
func (s *session) direct(option string) bool {
	return option == direct && !s.wrapped && s.tls == nil && strings.HasPrefix(s.servers[0], "nats://")
}

// Provision implements driver.Session. Subjects need no making; it checks that
// the server carries the payloads and reports its settings.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := checkName("topic", topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	for _, group := range t.Groups {
		if err := checkName("group", group); err != nil {
			return driver.Semantics{}, err
		}
	}
	if err := s.control.flush(ctx); err != nil {
		return driver.Semantics{}, wrap(err, "reach %s", redact(s.servers))
	}
	if limit := s.control.nc.MaxPayload(); int64(t.MaxSize) > limit {
		return driver.Semantics{}, fmt.Errorf("nats: payloads of %d bytes: %w: the server's max_payload is %d", t.MaxSize, driver.ErrTooLarge, limit)
	}
	return s.semantics(t.Slow), nil
}

// Deprovision implements driver.Session. The server forgets a subject with its
// last subscription, so nothing is left to remove.
func (s *session) Deprovision(context.Context) error { return nil }

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	links, consumers := s.links, s.consumers
	s.links, s.consumers = map[linkKey]*slot{}, map[*consumer]struct{}{}
	s.mu.Unlock()
	// Ends what is being dialled; established connections live on until their
	// links are closed.
	s.cancel()
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
	closing.Wait()
	for c := range consumers {
		c.shut()
	}
	for c := range consumers {
		c.wait(ctx)
	}
	return nil
}
