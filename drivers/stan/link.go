package stan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// register makes nc a client of the streaming server. timeout limits each answer. lost is
// called when nc is no longer a client; it may be nil.
func (s *session) register(nc *nats.Conn, id string, timeout time.Duration, lost client.ConnectionLostHandler) (client.Conn, error) {
	o := s.options
	sc, err := client.Connect(o.ClusterID, id, client.NatsConn(nc), client.ConnectWait(timeout),
		client.PubAckWait(o.AckTimeout), client.MaxPubAcksInflight(o.MaxPubAcksInflight),
		client.Pings(int(o.PingInterval/time.Second), o.MaxPingsOut), client.SetConnectionLostHandler(lost))
	if errors.Is(err, client.ErrConnectReqTimeout) { // also if no streaming server runs
		err = fmt.Errorf("%w: %w; check option cluster_id, which is %q, and that it is a NATS Streaming server", driver.ErrNotConnected, errNobody, o.ClusterID)
	}
	if err != nil {
		return nil, wrap(permission(nc, err), "register with %s", s.wire.Address.String())
	}
	return sc, nil
}

// link is a client of the streaming server: one registration after another, always the
// same client to the server, which ends the subscriptions of the one before.
type link = kit.Link[registration, *registration]

// connect makes a link.
func (s *session) connect(ctx context.Context, key kit.Key) (*link, error) {
	l := kit.NewLink[registration, *registration](s.Base, kit.LinkConfig[registration]{
		Name: key.String(), Role: key.Role, Passes: passes, Wait: s.options.ReconnectWait,
		Dial: func(ctx context.Context) (*registration, error) { return s.dial(ctx, key) },
	})
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// registration is a client at the streaming server with a connection of its own. It
// is never repaired. It implements kit.Wire.
type registration struct {
	session *session
	wire    *natswire.Link
	conn    client.Conn
	valid   context.Context // ends when connection or server is lost, or it is left
	lose    context.CancelCauseFunc
	once    sync.Once
}

// dial connects and registers.
func (s *session) dial(ctx context.Context, key kit.Key) (*registration, error) {
	w, err := s.wire.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	r := &registration{session: s, wire: w}
	r.valid, r.lose = context.WithCancelCause(context.Background())
	w.Watch(func(up bool) {
		if !up {
			r.lose(nil)
		}
	})
	stop := context.AfterFunc(ctx, func() { s.wire.Release(ctx, w) }) // as in end
	r.conn, err = s.register(w.Conn(), s.clientID(key), s.options.ConnectTimeout, func(_ client.Conn, err error) { r.lose(err) })
	if !stop() && err == nil {
		err = wrap(context.Cause(ctx), "register")
	}
	if err != nil {
		r.lose(err)
		r.end(ctx)
		return nil, err
	}
	return r, nil
}

// Serve implements kit.Wire: the libraries serve. Of a lost connection natswire tells.
func (r *registration) Serve() error {
	<-r.valid.Done()
	if why := context.Cause(r.valid); !errors.Is(why, context.Canceled) {
		return why
	}
	return nil
}

// Leave implements kit.Wire.
func (r *registration) Leave(ctx context.Context) {
	r.end(ctx)
	r.lose(nil)
}

// End implements kit.Wire. What is without an acknowledgement the library resolves.
func (r *registration) End(error) {
	ctx, cancel := context.WithTimeout(r.session.Life, r.session.options.ConnectTimeout)
	defer cancel()
	r.end(ctx)
}

// end closes the registration and its connection by ctx's deadline. What is without
// an acknowledgement is done with an error then.
func (r *registration) end(ctx context.Context) {
	r.once.Do(func() {
		// Without a connection the library waits for no answer.
		stop := context.AfterFunc(ctx, func() { r.session.wire.Release(ctx, r.wire) })
		if r.conn != nil {
			_ = r.conn.Close() // an error leaves it to the server to notice
		}
		if stop() {
			r.session.wire.Release(ctx, r.wire)
		}
	})
}
