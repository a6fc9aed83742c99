package stan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// register makes nc a client of the streaming server, which has the timeout for each
// answer. lost is told when it is one no longer; nil: nobody is.
func (s *session) register(nc *nats.Conn, id string, timeout time.Duration, lost client.ConnectionLostHandler) (client.Conn, error) {
	o := s.options
	sc, err := client.Connect(o.ClusterID, id, client.NatsConn(nc), client.ConnectWait(timeout),
		client.PubAckWait(o.AckTimeout), client.MaxPubAcksInflight(o.MaxPubAcksInflight),
		client.Pings(int(o.PingInterval/time.Second), o.MaxPingsOut), client.SetConnectionLostHandler(lost))
	if errors.Is(err, client.ErrConnectReqTimeout) { // also if nobody is there
		err = fmt.Errorf("%w: %w; check option cluster_id, which is %q, and that it is a NATS Streaming server", driver.ErrNotConnected, errNobody, o.ClusterID)
	}
	if err != nil {
		return nil, wrap(permission(nc, err), "register with %s", s.wire.Address.String())
	}
	return sc, nil
}

// registration is a client at the streaming server with a connection of its own. It
// is never repaired: a link makes another.
type registration struct {
	wire  *natswire.Link
	conn  client.Conn
	valid context.Context // ends when connection or server is lost
	lose  context.CancelCauseFunc
}

// end closes the registration and its connection by ctx's deadline. What is without
// an acknowledgement is done with an error then.
func (s *session) end(ctx context.Context, r *registration) {
	patience := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline) / 2
	}
	polite, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Without a connection the library waits for no answer.
	stop := context.AfterFunc(polite, func() { s.wire.Release(ctx, r.wire) })
	if r.conn != nil {
		_ = r.conn.Close() // an error leaves it to the server to notice
	}
	if stop() {
		s.wire.Release(ctx, r.wire)
	}
}

// link is a client of the streaming server that registers again after its
// registration was lost: always the same client to the server, which ends the
// subscriptions of the one before.
type link struct {
	key     kit.Key
	session *session
	live    atomic.Pointer[registration] // nil while there is none
	closing atomic.Bool                  // no more events
	life    context.Context
	cancel  context.CancelFunc
	kept    chan struct{} // closed when keep has ended

	mu        sync.Mutex // held while consumers attach
	consumers []*consumer
}

// connect makes a link. It ends with an error when ctx or the session does.
func (s *session) connect(ctx context.Context, key kit.Key) (*link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(driver.ErrClosed) })()
	l := &link{key: key, session: s, kept: make(chan struct{})}
	l.life, l.cancel = context.WithCancel(s.life)
	var r *registration
	if err := kit.Await(ctx, "stan: register", passes, func() (err error) {
		r, err = l.register(ctx)
		return err
	}); err != nil {
		l.cancel()
		return nil, err
	}
	go l.keep(r)
	return l, nil
}

// register connects, registers and lets consumers subscribe and producers send. It
// ends with an error when ctx does.
func (l *link) register(ctx context.Context) (*registration, error) {
	s := l.session
	w, err := s.wire.Acquire(ctx, l.key)
	if err != nil {
		return nil, err
	}
	r := &registration{wire: w}
	r.valid, r.lose = context.WithCancelCause(l.life)
	w.Watch(func(up bool) {
		if !up {
			r.lose(nil)
		}
	})
	stop := context.AfterFunc(ctx, func() { s.wire.Release(ctx, w) }) // as in end
	if r.conn, err = s.register(w.Conn(), s.clientID(l.key), s.options.ConnectTimeout, func(_ client.Conn, err error) { r.lose(err) }); err == nil {
		err = l.adopt(r)
	}
	inTime := stop()
	if err == nil && inTime {
		return r, nil
	}
	if err == nil {
		l.live.CompareAndSwap(r, nil) // close may have looked before it was there
		err = wrap(context.Cause(ctx), "register")
	}
	r.lose(err)
	s.end(ctx, r)
	return nil, err
}

// adopt makes r the link's registration.
func (l *link) adopt(r *registration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.consumers {
		if err := c.attach(r); err != nil {
			return wrap(err, "subscribe to %q again", c.channels)
		}
	}
	l.live.Store(r)
	return nil
}

// subscribe attaches a consumer, now and whenever the link has registered again.
func (l *link) subscribe(c *consumer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.live.Load()
	switch {
	case l.closing.Load():
		return driver.ErrClosed
	case r == nil:
		return driver.ErrNotConnected
	}
	err := c.attach(r)
	if err == nil {
		l.consumers = append(l.consumers, c)
	}
	return permission(r.wire.Conn(), err)
}

// keep registers again whenever the registration is lost, until the link closes.
func (l *link) keep(r *registration) {
	defer close(l.kept)
	for found := true; found; {
		<-r.valid.Done()
		if l.life.Err() != nil || !l.live.CompareAndSwap(r, nil) {
			return // close sees to the registration
		}
		if why := context.Cause(r.valid); !errors.Is(why, context.Canceled) { // else natswire has told
			l.emit(driver.Disconnected, why.Error())
		}
		gone, cancel := context.WithTimeout(l.life, l.session.options.ConnectTimeout)
		l.session.end(gone, r)
		cancel()
		r, found = kit.Reconnect(l.life, l.session.options.ReconnectWait, l.register, func(err error) {
			l.emit(driver.AsyncError, "register again: "+err.Error())
		})
		if found {
			l.emit(driver.Reconnected, r.wire.Conn().ConnectedUrlRedacted())
		}
	}
}

func (l *link) emit(kind driver.EventKind, detail string) {
	if !l.closing.Load() {
		l.session.target.Notify(driver.Event{Kind: kind, Detail: l.key.String() + ": " + detail})
	}
}

// close ends the link by ctx's deadline.
func (l *link) close(ctx context.Context) {
	l.closing.Store(true)
	l.cancel()
	if r := l.live.Swap(nil); r != nil {
		l.session.end(ctx, r)
	}
	l.mu.Lock()
	consumers := slices.Clone(l.consumers)
	l.mu.Unlock()
	for _, c := range consumers {
		_ = c.Close(ctx) // by now there is nothing to wait for but a running Deliver
	}
	select {
	case <-l.kept:
	case <-ctx.Done():
	}
}
