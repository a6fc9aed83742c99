package rabbitmqstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream/wire"
)

// session implements driver.Session and driver.ServerInfo.
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

	mu        sync.Mutex
	closed    bool
	links     map[linkKey]*slot
	consumers map[*consumer]struct{}
	streams   []string // that Provision has made
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
		links: map[linkKey]*slot{}, consumers: map[*consumer]struct{}{}}
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
			return nil, fmt.Errorf("rabbitmq-stream: %w", err)
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
		return nil, fmt.Errorf("rabbitmq-stream: option \"login\": %w: external wants tls.cert and tls.key", driver.ErrOption)
	}
	if s.target.Dial == nil {
		s.target.Dial = new(net.Dialer).DialContext
	}
	s.admin = newAdmin(s)
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

// stream returns the name of the topic's stream.
func (s *session) stream(topic string) string { return "sixnines." + s.target.Run + "." + topic }

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := checkName("topic", topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	if len(t.Groups) > 0 {
		return driver.Semantics{}, fmt.Errorf("rabbitmq-stream: groups of consumers: %w: each consumer of a stream gets every message; use driver rabbitmq for queues that are shared", driver.ErrUnsupported)
	}
	args := s.options.streamArguments()
	for _, topic := range t.Topics {
		stream := s.stream(topic)
		s.mu.Lock()
		s.streams = append(s.streams, stream)
		s.mu.Unlock()
		if err := s.admin.do(ctx, func(c *wire.Conn) error { return c.Create(ctx, stream, args) }); err != nil && !isCode(err, wire.StreamExists) {
			return driver.Semantics{}, wrap(err, "create stream %q", stream)
		}
	}
	if err := s.checkSize(t.MaxSize); err != nil {
		return driver.Semantics{}, err
	}
	for _, topic := range t.Topics {
		if _, err := s.leader(ctx, s.stream(topic)); err != nil {
			return driver.Semantics{}, err
		}
	}
	return s.semantics(), nil
}

// checkSize finds payloads that fit into no frame.
func (s *session) checkSize(size int) error {
	s.admin.mu.Lock()
	room := s.admin.room
	s.admin.mu.Unlock()
	if size > room {
		return fmt.Errorf("rabbitmq-stream: a payload of %d bytes: %w: frames have room for %d, see stream.frame_max of the broker and frame_max of the driver", size, driver.ErrTooLarge, room)
	}
	return nil
}

// leader waits until the stream has a leader and returns its address where there
// are several brokers; else it is empty: there is no choice.
func (s *session) leader(ctx context.Context, stream string) (string, error) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		var at wire.Placement
		err := s.admin.do(ctx, func(c *wire.Conn) (err error) {
			at, err = c.Locate(ctx, stream)
			return err
		})
		switch {
		case err == nil && len(s.servers) == 1:
			return "", nil
		case err == nil && at.Leader != "":
			return at.Leader, nil
		case err != nil && !isCode(err, wire.NotAvailable):
			return "", wrap(err, "locate stream %q", stream)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return "", fmt.Errorf("rabbitmq-stream: wait for stream %q to have a leader: %w: %w", stream, driver.ErrTimeout, context.Cause(ctx))
		}
	}
}

// Deprovision implements driver.Session. Of a session that has closed it
// connects once more.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	closed, streams := s.closed, s.streams
	s.mu.Unlock()
	if len(streams) == 0 {
		return nil
	}
	a := s.admin
	if closed {
		a = newAdmin(s)
		defer a.close(ctx)
	}
	for _, stream := range streams {
		if err := a.do(ctx, func(c *wire.Conn) error { return c.Delete(ctx, stream) }); err != nil && !isCode(err, wire.NoStream) {
			return wrap(err, "delete stream %q", stream)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = nil
	return nil
}

// acquire returns the link called key, connecting it for its first user.
func (s *session) acquire(ctx context.Context, key linkKey) (*link, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("rabbitmq-stream: connect: session %w", driver.ErrClosed)
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
			return nil, fmt.Errorf("rabbitmq-stream: connect: %w: %w", driver.ErrNotConnected, context.Cause(ctx))
		}
	}
	l, err := newLink(ctx, s, key)
	s.mu.Lock()
	if err == nil && s.closed {
		err = fmt.Errorf("rabbitmq-stream: connect: session %w", driver.ErrClosed)
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
