package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream/wire"
)

// The roles of links. Producers and consumers never share one.
const (
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// linkKey names a link within its session.
type linkKey struct {
	role   string
	conn   int
	leader string // address of the server to prefer; empty: any
}

func (k linkKey) String() string { return fmt.Sprintf("%s-%d", k.role, k.conn) }

// member is what lives on a link and has to be set up on each of its
// connections.
type member interface {
	attach(ctx context.Context, c *wire.Conn) error
}

// link is a connection to the broker that is made again when it is lost.
type link struct {
	session *session
	key     linkKey
	life    context.Context
	cancel  context.CancelFunc
	over    chan struct{} // closed when nothing is going to be connected any more
	closing atomic.Bool   // no more events

	setting sync.Mutex // members are being set up
	members []member

	mu   sync.Mutex
	conn *wire.Conn
}

// newLink connects.
func newLink(ctx context.Context, s *session, key linkKey) (*link, error) {
	l := &link{session: s, key: key, over: make(chan struct{})}
	l.life, l.cancel = context.WithCancel(s.life)
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	c, err := l.dial(either)
	if err != nil {
		l.cancel()
		if s.life.Err() != nil {
			err = fmt.Errorf("rabbitmq-stream: connect: session %w", driver.ErrClosed)
		}
		return nil, err
	}
	l.conn = c
	go l.watch(c)
	return l, nil
}

// dial connects to one of the servers. Each link begins with another, so that a
// cluster is used evenly and always alike.
func (l *link) dial(ctx context.Context) (*wire.Conn, error) {
	all := l.session.servers
	first := l.key.conn % len(all)
	all = slices.Concat(all[first:], all[:first])
	if l.key.leader != "" {
		preferred := all[0]
		preferred.address = l.key.leader
		preferred.host, _, _ = net.SplitHostPort(l.key.leader)
		all = slices.Insert(all, 0, preferred)
	}
	var err error
	for _, to := range all {
		var c *wire.Conn
		if c, err = l.dialOne(ctx, to); err == nil || ctx.Err() != nil {
			return c, err
		}
	}
	return nil, err
}

func (l *link) dialOne(ctx context.Context, to server) (*wire.Conn, error) {
	s := l.session
	ctx, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	c, err := s.dial(ctx, to)
	if err != nil {
		return nil, connectError(ctx, to, err)
	}
	config := s.wireConfig(l.key.String())
	config.WriteBuffer = s.writeBuffer
	conn, err := wire.Open(ctx, c, config)
	if err != nil {
		return nil, connectError(ctx, to, err)
	}
	return conn, nil
}

// join sets a member up, now and on each connection to come.
func (l *link) join(ctx context.Context, m member) error {
	l.setting.Lock()
	defer l.setting.Unlock()
	c := l.current()
	if c == nil {
		return fmt.Errorf("rabbitmq-stream: %s: %w", l.key, l.absent())
	}
	if err := m.attach(ctx, c); err != nil {
		return err
	}
	l.members = append(l.members, m)
	return nil
}

// leave forgets a member. It does not wait for what is being connected.
func (l *link) leave(m member) {
	go func() {
		l.setting.Lock()
		defer l.setting.Unlock()
		l.members = slices.DeleteFunc(l.members, func(other member) bool { return other == m })
	}()
}

func (l *link) current() *wire.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// absent is why there is no connection.
func (l *link) absent() error {
	if l.closing.Load() {
		return driver.ErrClosed
	}
	return driver.ErrNotConnected
}

// watch connects again whenever the connection is lost.
func (l *link) watch(c *wire.Conn) {
	defer close(l.over)
	for {
		<-c.Done()
		l.mu.Lock()
		l.conn = nil
		l.mu.Unlock()
		if l.life.Err() != nil {
			return
		}
		l.emit(driver.Event{Kind: driver.Disconnected, Detail: l.key.String() + ": " + c.Err().Error()})
		said := ""
		for c = nil; c == nil; {
			var err error
			if c, err = l.reconnect(); err == nil {
				break
			}
			if l.life.Err() != nil {
				return
			}
			if text := err.Error(); text != said && !errors.Is(err, driver.ErrNotConnected) {
				said = text // once, not for each attempt
				l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": reconnect: " + text})
			}
			wait := time.NewTimer(l.session.options.ReconnectWait)
			select {
			case <-wait.C:
			case <-l.life.Done():
				wait.Stop()
				return
			}
		}
		l.emit(driver.Event{Kind: driver.Reconnected, Detail: l.key.String()})
	}
}

// reconnect makes a connection and sets all members up on it.
func (l *link) reconnect() (*wire.Conn, error) {
	ctx, cancel := context.WithTimeout(l.life, l.session.options.ConnectTimeout)
	defer cancel()
	c, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.setting.Lock()
	defer l.setting.Unlock()
	for _, m := range l.members {
		if err = m.attach(ctx, c); err != nil {
			break
		}
	}
	if err != nil {
		closing, cancel := context.WithCancel(context.Background())
		cancel()
		c.Close(closing)
		return nil, err
	}
	l.mu.Lock()
	l.conn = c
	l.mu.Unlock()
	if l.life.Err() != nil { // close did not see it
		closing, cancel := withGrace(context.Background())
		defer cancel()
		c.Close(closing)
	}
	return c, nil
}

// close ends the link by ctx's deadline. A connection that is stuck in a write
// gets most of the time until then, for the broker may yet read.
func (l *link) close(ctx context.Context) {
	l.closing.Store(true)
	l.cancel()
	grace, cancel := withGrace(ctx)
	defer cancel()
	if c := l.current(); c != nil {
		c.Close(grace)
	}
	select {
	case <-l.over:
	case <-ctx.Done():
	}
}

func (l *link) emit(e driver.Event) {
	if !l.closing.Load() {
		l.session.notify(e)
	}
}

// ended closes a connection of which the broker has taken something away: it is
// made again, and with it what lived on it.
func (l *link) ended(why error) {
	c := l.current()
	if c == nil || errors.Is(why, wire.ErrClosed) {
		return
	}
	go func() { // it waits for the goroutine that calls this
		ctx, cancel := context.WithCancel(context.Background())
		select {
		case <-c.Done():
		default:
			l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": " + why.Error()})
		}
		cancel()
		c.Close(ctx)
	}()
}
