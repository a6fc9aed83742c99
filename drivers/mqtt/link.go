package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/paho/session/state"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// The roles of links. Producers and consumers never share one.
const (
	roleControl  = "control"
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// linkKey names a link within its session.
type linkKey struct {
	role string
	conn int
}

func (k linkKey) String() string {
	if k.role == roleControl {
		return k.role
	}
	return fmt.Sprintf("%s-%d", k.role, k.conn)
}

// link is an MQTT client: one network connection after the other.
type link struct {
	session  *session
	key      linkKey
	id       string // the client identifier
	v5       bool
	clean    bool
	consumer *consumer // nil: for producers
	now      atomic.Pointer[connection]
	closing  atomic.Bool
	life     context.Context // ends with the link
	cancel   context.CancelFunc
	done     chan struct{} // closed when no goroutine of the link is left
	state5   *state.State  // of the client library, for a session that outlives connections; of whoever connects
}

func (s *session) newLink(key linkKey, c *consumer) *link {
	l := &link{session: s, key: key, v5: s.options.v5(), clean: true, consumer: c, done: make(chan struct{}),
		id: fmt.Sprintf("%s-%s-%s-%s", s.options.ClientID, s.target.Run, s.nonce, key)}
	l.life, l.cancel = context.WithCancel(s.life)
	return l
}

// live returns the link's connection, nil if there is none.
func (l *link) live() connection {
	if c := l.now.Load(); c != nil {
		return *c
	}
	return nil
}

// start connects for the first time and keeps the link connected from then on.
func (l *link) start(ctx context.Context) error {
	c, err := l.first(ctx)
	if err == nil && !l.adopt(c) {
		err = fmt.Errorf("mqtt: connect: %w", driver.ErrClosed)
	}
	if err != nil {
		l.cancel()
		close(l.done)
		return err
	}
	go l.run(c)
	return nil
}

// adopt makes c the link's connection, or ends it: close may have found none before.
func (l *link) adopt(c connection) bool {
	l.now.Store(&c)
	if l.closing.Load() && l.now.Swap(nil) != nil {
		c.shut(errEnded)
		return false
	}
	return true
}

// first connects for the first time, when a server is ready.
func (l *link) first(ctx context.Context) (c connection, err error) {
	err = kit.Await(ctx, "mqtt: connect", passes, func() error {
		c, err = l.connect(ctx)
		return err
	})
	return c, err
}

// connect connects to the first server that will have it, logs in and
// subscribes. It returns when ctx or the link's life ends.
func (l *link) connect(ctx context.Context) (connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.life, func() { cancel(driver.ErrClosed) })()
	var errs []error
	n := len(l.session.servers)
	for i := range n {
		// Each connection begins with another server, so that several are used
		// evenly and always alike.
		c, err := l.try(ctx, l.session.servers[(l.key.conn+i)%n])
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if l.life.Err() != nil {
		return nil, fmt.Errorf("mqtt: connect: %w", driver.ErrClosed)
	}
	return nil, errors.Join(errs...)
}

// try connects to one server.
func (l *link) try(ctx context.Context, s server) (_ connection, err error) {
	limited, cancel := context.WithTimeout(ctx, l.session.options.ConnectTimeout)
	defer cancel()
	defer func() {
		if err != nil && driver.Class(err) == nil {
			err = fmt.Errorf("mqtt: connect to %s: %w: %w", s.address, driver.ErrNotConnected, err)
		} else if err != nil {
			err = fmt.Errorf("mqtt: connect to %s: %w", s.address, err)
		}
	}()
	raw, err := l.session.dial(limited, "tcp", s.address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	stop := context.AfterFunc(limited, func() { raw.Close() })
	c, err := l.open(limited, raw, s)
	if err == nil && l.consumer != nil {
		err = c.subscribe(limited, l.consumer)
	}
	if !stop() && err == nil {
		err = context.Cause(limited)
	}
	if err == nil {
		return c, nil
	}
	raw.Close()
	if c != nil {
		c.shut(driver.ErrNotConnected)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	}
	if limited.Err() != nil {
		return nil, fmt.Errorf("%w: no answer in %v; is this an MQTT listener, and is it encrypted as the URL says?", driver.ErrNotConnected, l.session.options.ConnectTimeout)
	}
	return nil, err
}

// open encrypts and logs in, by the client that was chosen. What is asked beside
// the messages is asked by the direct one.
func (l *link) open(ctx context.Context, raw net.Conn, s server) (connection, error) {
	conn := raw
	if l.session.tls != nil {
		config := l.session.tls
		if config.ServerName == "" {
			config = config.Clone()
			config.ServerName = s.host
		}
		secured := tls.Client(raw, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("%w: tls: %w", driver.ErrNotConnected, err)
		}
		conn = secured
	}
	switch {
	case !l.session.options.library() || l.key.role == roleControl:
		return l.greet(ctx, raw, conn)
	case l.v5:
		return l.open5(ctx, raw, conn)
	}
	return l.open3(ctx, raw, conn, s)
}

// login returns how the link's client logs in.
func (l *link) login() login {
	o := l.session.options
	hello := login{v5: l.v5, clean: l.clean, id: l.id, user: l.session.user, password: l.session.password,
		// The client speaks once in keep_alive; the broker waits for half as much
		// again.
		keepAlive: uint16(min(max(1, o.KeepAlive/time.Second), 1<<16-1))}
	if l.consumer != nil {
		hello.receiveMaximum = uint16(o.ReceiveMaximum)
		if !l.clean {
			hello.sessionExpiry = uint32(o.SessionExpiry / time.Second)
		}
	}
	return hello
}

// greet logs in by a packet of the driver's own.
func (l *link) greet(ctx context.Context, raw, conn net.Conn) (connection, error) {
	in := packets{src: conn}
	var first byte
	var body []byte
	_, err := conn.Write(appendConnect(nil, l.login()))
	if err == nil {
		first, body, err = in.next()
	}
	if err != nil {
		return nil, l.unanswered(ctx, err)
	}
	if first != typeConnack {
		return nil, fmt.Errorf("%w: the server answers with a packet of type %d; is this an MQTT listener?", driver.ErrNotConnected, first>>4)
	}
	g, err := parseConnack(l.v5, body)
	if err != nil {
		return nil, fmt.Errorf("%w: the server's answer to the login: %w; is this an MQTT listener?", driver.ErrNotConnected, err)
	}
	if g.code != 0 {
		return nil, refusal(g.code, g.text)
	}
	return newWire(l, raw, conn, g, in), nil
}

// unanswered is the error of a login that the server did not answer, but for err.
// Some brokers close the connection instead, and a broker that misses a certificate
// may have done so before the login is written.
func (l *link) unanswered(ctx context.Context, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: the server has ended the connection at the login: %w; is this an MQTT listener, does it want encryption or a client certificate, does it speak MQTT %s?", driver.ErrNotConnected, err, l.session.options.Version)
}

// run waits until a connection breaks, and connects again.
func (l *link) run(c connection) {
	defer close(l.done)
	for {
		err := c.run()
		l.now.Store(nil)
		lost := l.lost()
		c.shut(lost)
		if lost == errEnded {
			return
		}
		l.emit(driver.Event{Kind: driver.Disconnected, Detail: fmt.Sprintf("%s: %v", l.key, err)})
		var ok bool
		if c, ok = l.again(); !ok || !l.adopt(c) {
			return
		}
		l.emit(driver.Event{Kind: driver.Reconnected, Detail: l.key.String()})
	}
}

var (
	errLost  = fmt.Errorf("mqtt: %w: the connection was lost before the broker had acknowledged", driver.ErrTimeout)
	errEnded = fmt.Errorf("mqtt: %w before the broker had acknowledged", driver.ErrClosed)
)

// lost returns the outcome of what is in flight when the connection ends now.
func (l *link) lost() error {
	if l.closing.Load() || l.life.Err() != nil {
		return errEnded
	}
	return errLost
}

// again connects until that succeeds, or the link ends.
func (l *link) again() (connection, bool) {
	return kit.Reconnect(l.life, l.session.options.ReconnectWait, l.connect, func(err error) {
		l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": reconnect: " + err.Error()})
	})
}

// read handles packets until the wire breaks.
func (l *link) read(w *wire) error {
	for {
		first, body, err := w.next()
		if err != nil {
			return err
		}
		if err := l.handle(w, first, body); err != nil {
			return err
		}
	}
}

// handle deals with a packet from the broker. An error ends the wire.
func (l *link) handle(w *wire, first byte, body []byte) error {
	switch first & typeMask {
	case typePuback, typePubcomp:
		id, why, err := parseAck(body)
		if err != nil {
			return err
		}
		if why.failed() {
			w.settle(id, why)
		} else {
			w.settle(id, nil)
		}
		return nil
	case typePubrec:
		id, why, err := parseAck(body)
		if err != nil {
			return err
		}
		if why.failed() {
			w.settle(id, why)
			return nil
		}
		return w.reply(typePubrel, id, 1)
	case typePublish:
		if l.consumer != nil {
			return l.consumer.publish(w, first, body)
		}
	case typePubrel & typeMask:
		if l.consumer != nil {
			return l.consumer.released(w, body)
		}
	case typeUnsuback:
		if l.consumer != nil {
			l.consumer.leave()
			return nil
		}
	case typePingresp:
		w.ponged()
		return nil
	case typeDisconnect:
		if len(body) > 0 {
			return disconnection(body[0])
		}
		return errors.New("the broker ends the connection")
	}
	return fmt.Errorf("%w: one of type %d, which was not to come", errMalformed, first>>4)
}

func (l *link) emit(e driver.Event) {
	if !l.closing.Load() && l.key.role != roleControl {
		l.session.notify(e)
	}
}

// close ends the link by ctx's deadline.
func (l *link) close(ctx context.Context) error {
	l.closing.Store(true)
	if c := l.now.Swap(nil); c != nil {
		(*c).leave()
	}
	l.cancel()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mqtt: close %s: %w: %w", l.key, driver.ErrTimeout, context.Cause(ctx))
	}
}
