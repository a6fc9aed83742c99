package natswire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

// The roles of links. Producers and consumers never share one.
const (
	RoleControl  = "control"
	RoleProducer = "producer"
	RoleConsumer = "consumer"
)

// Key names a link within its session.
type Key struct {
	Role string
	Conn int
}

func (k Key) String() string {
	if k.Role == RoleControl {
		return k.Role
	}
	return fmt.Sprintf("%s-%d", k.Role, k.Conn)
}

// Link is a connection of the client and the network connections below it.
type Link struct {
	product string
	key     Key
	nc      *nats.Conn
	dialer  *linkDialer
	notify  func(driver.Event)
	closing atomic.Bool // no more events

	// live is the connection to which publishers may write frames of their own,
	// nil if there is none or they may not.
	live       atomic.Pointer[dialedConn]
	direct     bool
	batch      *batch // nil: publishers write each message at once, or the client does as it is set
	maxPayload atomic.Int64
	accounted  bool // what a batch loses is no event

	// routes lead messages to consumers without the client; nil if none do.
	routes      *routes
	subscribing sync.Mutex
	subscribed  int // the number of the client's latest subscription, guarded by subscribing

	mu       sync.Mutex
	dropped  map[*nats.Subscription]int // how many drops have been reported
	watchers []*watcher
}

// watcher is told when a link goes down and comes up again.
type watcher struct{ changed func(up bool) }

// connect makes a link. It ends with an error when ctx or the client's life does,
// which also ends later attempts to reconnect.
func (c *Client) connect(ctx context.Context, key Key) (*Link, error) {
	l := &Link{product: c.product, key: key, notify: c.notify, direct: c.Direct(), accounted: c.options.Accounted, dropped: map[*nats.Subscription]int{},
		dialer: &linkDialer{Dialer: NewDialer(c.life, c.dial, c.options.ConnectTimeout)}}
	if l.direct {
		l.routes = new(routes)
		l.dialer.frameReader = func(conn net.Conn) io.Reader { return newFrameReader(conn, l.routes, l.Rest) }
	}
	clientBuffer := c.writeBuffer
	if l.direct && c.writeBuffer > 1 {
		l.batch = newBatch(l, c.writeBuffer)
		// What publishers leave to the client must not wait to be overtaken.
		clientBuffer = 1
	}
	// Each connection begins with another server, so that a cluster is used
	// evenly and always alike.
	servers := slices.Concat(c.servers[key.Conn%len(c.servers):], c.servers[:key.Conn%len(c.servers)])
	o := nats.GetDefaultOptions()
	o.Servers = servers
	o.NoRandomize = true
	o.IgnoreDiscoveredServers = !c.options.DiscoveredServers
	o.Name = fmt.Sprintf("%s %s %s", c.options.Name, c.run, key)
	o.CustomDialer = l.dialer
	o.SkipHostLookup = true // the dialer looks names up, and stops when told to
	o.Timeout = c.options.ConnectTimeout
	o.PingInterval = c.options.PingInterval
	o.MaxPingsOut = c.options.MaxPingsOut
	o.AllowReconnect = c.options.MaxReconnects != 0
	o.MaxReconnect = c.options.MaxReconnects
	o.ReconnectWait = c.options.ReconnectWait
	o.ReconnectJitter = c.options.ReconnectWait / 2
	o.ReconnectJitterTLS = c.options.ReconnectWait / 2
	o.ReconnectBufSize = -1
	o.WriteBufferSize = clientBuffer
	// A deadline before each write and none after it cost two calls a message,
	// and a write that goes half-way ends the connection. The dialer can end a
	// blocked write when somebody wants to leave.
	o.FlusherTimeout = 0
	o.SkipSubjectValidation = true // subjects are checked once, when they are made
	o.InboxPrefix = c.options.InboxPrefix
	o.NoCallbacksAfterClientClose = true
	o.DisconnectedErrCB = l.disconnected
	o.ReconnectedCB = l.reconnected
	o.ClosedCB = l.closed
	o.AsyncErrorCB = l.failed
	if c.tls != nil {
		o.Secure, o.TLSConfig = true, c.tls
	}
	o.TLSHandshakeFirst = c.options.TLSFirst
	for _, apply := range c.authentication {
		if err := apply(&o); err != nil {
			return nil, Wrap(c.product, err, "prepare to connect")
		}
	}
	stopCtx := context.AfterFunc(ctx, l.dialer.Kill)
	stopLife := context.AfterFunc(c.life, l.dialer.Kill)
	nc, err := o.Connect()
	inTime := stopCtx()
	stopLife()
	switch {
	case err == nil && !inTime:
		nc.Close()
		err = context.Cause(ctx)
	case err == nil:
		l.nc = nc
		l.adopt(nc)
		return l, nil
	}
	l.dialer.Kill()
	return nil, c.connectError(ctx, err, l.dialer.LastError())
}

// connectError says why there is no connection, in as much detail as the
// client leaves over.
func (c *Client) connectError(ctx context.Context, err, dialErr error) error {
	to := Redact(c.servers)
	switch {
	case c.life.Err() != nil:
		return fmt.Errorf("%s: connect to %s: %w", c.product, to, driver.ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: connect to %s: %w: %w", c.product, to, driver.ErrNotConnected, context.Cause(ctx))
	case errors.Is(err, nats.ErrNoServers) && dialErr != nil:
		err = dialErr
	}
	if class := ClassOf(err); class == driver.ErrUnauthorized {
		return fmt.Errorf("%s: log in to %s: %w: %w", c.product, to, class, err)
	}
	return fmt.Errorf("%s: connect to %s: %w: %w", c.product, to, driver.ErrNotConnected, err)
}

// close ends the link by ctx's deadline. A client that is stuck in a write gets
// most of the time until then, for the broker may yet read.
func (l *Link) close(ctx context.Context) {
	l.closing.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l.batch != nil {
			l.batch.close()
		}
		l.nc.Close()
	}()
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = time.Until(deadline) * 3 / 4
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	case <-ctx.Done():
	}
	// Also when the client is done: it may have been about to reconnect.
	l.dialer.Kill()
	patience.Reset(2 * time.Second)
	select {
	case <-done:
	case <-patience.C: // a dial function that does not heed its context
	case <-ctx.Done():
	}
}

// Watch calls changed when the connection is lost and when it is back, one call
// after the other, until forget is called. changed must not block.
func (l *Link) Watch(changed func(up bool)) (forget func()) {
	w := &watcher{changed}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchers = append(l.watchers, w)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.watchers = slices.DeleteFunc(l.watchers, func(other *watcher) bool { return other == w })
	}
}

func (l *Link) tell(up bool) {
	l.mu.Lock()
	watchers := slices.Clone(l.watchers)
	l.mu.Unlock()
	for _, w := range watchers {
		w.changed(up)
	}
}

// Conn returns the library's connection.
func (l *Link) Conn() *nats.Conn { return l.nc }

// Key returns the link's name.
func (l *Link) Key() Key { return l.key }

// Closing reports whether the link is being closed, or has been.
func (l *Link) Closing() bool { return l.closing.Load() }

// Batching reports whether messages are collected, to be written by FlushBatch.
func (l *Link) Batching() bool { return l.batch != nil }

// FlushBatch writes what has been collected. It is no round trip.
func (l *Link) FlushBatch() error {
	if l.batch == nil {
		return nil
	}
	return l.batch.flush()
}

// Emit reports an event, unless the link is being closed.
func (l *Link) Emit(e driver.Event) {
	if !l.closing.Load() {
		l.notify(e)
	}
}

// adopt lets publishers use the client's connection, once the client has
// logged in on it. The client tells of that later than it happens, when the
// connection may be lost again and the next one half made; publishers leave the
// work to the client until it is known which one is meant.
func (l *Link) adopt(nc *nats.Conn) {
	l.maxPayload.Store(nc.MaxPayload())
	c := l.dialer.latest.Load()
	// The client holds its lock while it logs in, so both answers are about
	// connections on which that is over.
	if address := nc.LocalAddr(); !l.direct || address != c.LocalAddr().String() || !nc.IsConnected() {
		return
	}
	// A server may insist on TLS without being asked. The client's own word on it
	// looks at its state without its lock (nats.go 1.55).
	if !c.wrapped.Load() {
		l.live.Store(c)
		if l.closing.Load() { // close has seen to it that there is none
			l.live.Store(nil)
		}
	}
}

// Rest is called when consumers may have to wait for their next message. What
// responders have answered goes out.
func (l *Link) Rest() {
	if l.batch != nil && l.key.Role == RoleConsumer {
		_ = l.batch.flush() // an event tells of what is lost
	}
}

// Subscription is one of the client's, by its number.
type Subscription struct {
	*nats.Subscription
	sid int
}

// Subscribe subscribes with h, and leads past the library what it can if g is
// not nil. Messages come with the subject of their own that carries says, which
// may end in ".*"; empty: with the subscription's.
func (l *Link) Subscribe(subject, group, carries string, g *Gate, h nats.MsgHandler) (Subscription, error) {
	l.subscribing.Lock()
	defer l.subscribing.Unlock()
	if carries == "" {
		carries = subject
	}
	sid := l.subscribed + 1
	if l.routes != nil && g != nil {
		l.routes.set(sid, &route{routeOf(carries), g}) // before the first message can come
	}
	sub, err := l.nc.QueueSubscribe(subject, group, h)
	if err != nil {
		l.unroute(sid)
		return Subscription{}, err
	}
	l.subscribed = sid
	return Subscription{sub, sid}, nil
}

// Unroute leaves what comes for the subscription to the library.
func (l *Link) Unroute(s Subscription) { l.unroute(s.sid) }

func (l *Link) unroute(sid int) {
	if l.routes != nil {
		l.routes.set(sid, nil)
	}
}

func (l *Link) disconnected(_ *nats.Conn, err error) {
	detail := l.key.String()
	if err != nil {
		detail += ": " + err.Error()
	}
	// Publishers would fill a batch that cannot be written. If the library has
	// connected again in the meantime, its next call is to adopt.
	l.live.Store(nil)
	l.Emit(driver.Event{Kind: driver.Disconnected, Detail: detail})
	l.tell(false)
}

func (l *Link) reconnected(nc *nats.Conn) {
	l.adopt(nc)
	l.Emit(driver.Event{Kind: driver.Reconnected, Detail: l.key.String() + ": " + nc.ConnectedUrlRedacted()})
	l.tell(true)
}

// closed is called when the client has given up for good.
func (l *Link) closed(nc *nats.Conn) {
	detail := l.key.String() + ": given up"
	if err := nc.LastError(); err != nil {
		detail += ": " + err.Error()
	}
	l.Emit(driver.Event{Kind: driver.AsyncError, Detail: detail})
}

func (l *Link) failed(_ *nats.Conn, sub *nats.Subscription, err error) {
	if sub != nil && errors.Is(err, nats.ErrSlowConsumer) {
		l.ReportDropped(sub)
		return
	}
	l.Emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": " + err.Error()})
}

// ReportDropped tells of messages for sub that the client has thrown away
// since the last report.
func (l *Link) ReportDropped(sub *nats.Subscription) {
	total, err := sub.Dropped()
	if err != nil {
		return
	}
	l.mu.Lock()
	fresh := total - l.dropped[sub]
	l.dropped[sub] = total
	l.mu.Unlock()
	if fresh > 0 {
		l.Emit(driver.Event{Kind: driver.Dropped, Detail: l.key.String() + ": " + sub.Subject, Count: fresh})
	}
}

// Flush waits for a round trip to the server, by which it has read all that
// was sent before.
func (l *Link) Flush(ctx context.Context) error {
	if !l.nc.IsConnected() {
		return nats.ErrDisconnected
	}
	// Writes do not look at the context.
	limited, cancel := context.WithTimeout(ctx, time.Hour)
	result := make(chan error, 1)
	go func() {
		defer cancel()
		if l.batch != nil {
			if err := l.batch.flush(); err != nil {
				result <- err
				return
			}
		}
		result <- l.nc.FlushWithContext(limited)
	}()
	select {
	case err := <-result:
		if errors.Is(err, nats.ErrConnectionClosed) && !l.nc.IsClosed() {
			return nats.ErrDisconnected // the client's word for both
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
