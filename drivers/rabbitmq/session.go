package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq/wire"
)

// session implements driver.Session, driver.RequestReplier, driver.AckReporter
// and driver.ServerInfo.
type session struct {
	target      driver.Target
	options     Options
	servers     []server
	tls         *tls.Config
	writeBuffer int
	notify      func(driver.Event)
	life        context.Context // ends when the session closes
	cancel      context.CancelFunc
	admin       *admin
	topology    *topology
	tried       atomic.Int64 // largest payload in bytes that the broker is known to take

	mu        sync.Mutex
	closed    bool
	links     map[linkKey]*slot
	outlets   map[outletKey]*outlet
	consumers map[*consumer]struct{}
	sharing   map[string]int // consumers by queue, where there can be but one
}

// slot is the place of a link that may still be connecting.
type slot struct {
	ready chan struct{} // closed when link or err is set
	link  *link
	err   error
	users int // guarded by the session's mu
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify,
		links: map[linkKey]*slot{}, outlets: map[outletKey]*outlet{}, consumers: map[*consumer]struct{}{}, sharing: map[string]int{}}
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	servers, user, vhost, err := parseServers(t.URL)
	if err != nil {
		return nil, err
	}
	s.servers = servers
	if t.TLS != nil || servers[0].tls {
		if s.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("rabbitmq: %w", err)
		}
		for i := range s.servers {
			s.servers[i].tls = true
		}
	}
	switch {
	case s.options.User != "":
	case user != nil:
		s.options.User = user.Username()
		s.options.Password, _ = user.Password()
	default:
		s.options.User, s.options.Password = "guest", "guest"
	}
	if s.options.VHost == "" {
		if s.options.VHost = vhost; vhost == "" {
			s.options.VHost = "/"
		}
	}
	if s.options.Login == external && (s.tls == nil || len(s.tls.Certificates) == 0) {
		return nil, fmt.Errorf("rabbitmq: option \"login\": %w: external wants tls.cert and tls.key", driver.ErrOption)
	}
	if s.target.Dial == nil {
		s.target.Dial = new(net.Dialer).DialContext
	}
	s.admin = newAdmin(s)
	s.topology = &topology{options: &s.options, run: t.Run}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// dial connects to the server, and encrypts if that is asked for.
func (s *session) dial(ctx context.Context, to server) (net.Conn, error) {
	c, err := s.target.Dial(ctx, "tcp", to.address)
	if err != nil || !to.tls {
		return c, err
	}
	config := s.tls
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = to.host
	}
	encrypted := tls.Client(c, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return encrypted, nil
}

// connectionName is what people see at the broker.
func (s *session) connectionName(role string) string {
	return s.options.Name + " " + s.target.Run + " " + role
}

// wireConfig says how connections of our own log in.
func (s *session) wireConfig(role string) wire.Config {
	o := &s.options
	return wire.Config{VHost: o.VHost, User: o.User, Password: o.Password, External: o.Login == external,
		Name: s.connectionName(role), FrameMax: int(o.FrameMax), Heartbeat: o.Heartbeat}
}

// Ack implements driver.AckReporter.
func (s *session) Ack() driver.AckKind {
	if s.options.Confirms || s.options.Transaction > 0 {
		return driver.AckKindBroker
	}
	return driver.AckKindNone
}

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.topology.plan(t); err != nil {
		return driver.Semantics{}, err
	}
	if err := s.admin.do(ctx, func(ch *wire.Channel) error { return s.topology.declare(ctx, ch) }); err != nil {
		return driver.Semantics{}, wrap(err, "provision")
	}
	if err := s.checkSize(ctx, t.MaxSize); err != nil {
		return driver.Semantics{}, err
	}
	return s.semantics(), nil
}

// checkSize publishes a message as large as they get, to nowhere: the broker
// does not tell its limit, but closes the channel of who exceeds it.
func (s *session) checkSize(ctx context.Context, size int) error {
	err := s.admin.do(ctx, func(ch *wire.Channel) error {
		var nowhere wire.Prepared
		ch.Prepare(&nowhere, wire.Envelope{Key: s.topology.prefix() + "//nowhere"})
		if err := ch.Publish(&nowhere, make([]byte, size)); err != nil {
			return err
		}
		return ch.Prefetch(ctx, 0) // whose answer comes after the broker's opinion
	})
	if err != nil {
		return wrap(err, "try a payload of %d bytes", size)
	}
	s.tried.Store(max(s.tried.Load(), int64(size)))
	return nil
}

// Deprovision implements driver.Session. Of a session that has closed it
// connects once more.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	a := s.admin
	if closed {
		a = newAdmin(s)
		defer a.close(ctx)
	}
	return s.topology.delete(ctx, a)
}

// acquire returns the link called key, connecting it for its first user.
func (s *session) acquire(ctx context.Context, key linkKey) (*link, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("rabbitmq: connect: session %w", driver.ErrClosed)
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
			return nil, fmt.Errorf("rabbitmq: connect: %w: %w", driver.ErrNotConnected, context.Cause(ctx))
		}
	}
	l, err := newLink(ctx, s, key)
	s.mu.Lock()
	if err == nil && s.closed {
		err = fmt.Errorf("rabbitmq: connect: session %w", driver.ErrClosed)
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
	grace, cancel := withGrace(ctx)
	defer cancel()
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
	closing.Go(func() { s.admin.close(grace) })
	closing.Wait()
	var errs []error
	for c := range consumers {
		errs = append(errs, c.gate.shut(ctx))
	}
	return errors.Join(errs...)
}

// withGrace limits an orderly end to most of the time there is, so that some is
// left for one that is not.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(deadline)*3/4)
	}
	return context.WithTimeout(ctx, grace)
}

// restore declares again what a broker without a memory has forgotten.
func (s *session) restore(ctx context.Context) error {
	return s.admin.do(ctx, func(ch *wire.Channel) error { return s.topology.declare(ctx, ch) })
}

// connection is one by either client.
type connection interface {
	open(ctx context.Context, h wire.Handler) (channel, error)
	Flush() error
	Close(ctx context.Context) // orderly if there is time
	Done() <-chan struct{}     // closed when it has ended
	Err() error                // why, then
}

// channel is one by either client, see wire.Channel.
type channel interface {
	Confirm(ctx context.Context) error
	Transact(ctx context.Context) error
	Commit(ctx context.Context) error
	Prefetch(ctx context.Context, count uint16) error
	Consume(ctx context.Context, queue string, noAck bool, args wire.Table) error
	Prepare(p *wire.Prepared, e wire.Envelope)
	Publish(p *wire.Prepared, body []byte) error
	Ack(tag uint64, multiple, now bool) error
	Close(ctx context.Context) error
}

// directConnection is one of our own.
type directConnection struct{ *wire.Conn }

func (c directConnection) open(ctx context.Context, h wire.Handler) (channel, error) {
	ch, err := c.Channel(ctx, h)
	if err != nil {
		return nil, err
	}
	return ch, nil
}
