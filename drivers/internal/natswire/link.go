package natswire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Link is a client of nats.go, which has one network connection after another.
type Link struct {
	client  *Client
	key     kit.Key
	nc      *nats.Conn
	life    context.Context // ends with the link
	cancel  context.CancelFunc
	closing atomic.Bool // no more events
	direct  bool        // messages go past nats.go where they can

	latest atomic.Pointer[conn] // the connection made last, open or not
	// live is the connection to which publishers may write frames directly; nil: not
	// connected, or not allowed.
	live       atomic.Pointer[conn]
	maxPayload atomic.Int64

	routes      routes // lead messages to consumers without nats.go
	subscribing sync.Mutex
	subscribed  int // the number of nats.go's latest subscription, guarded by subscribing

	gaveUp atomic.Pointer[error] // why the library does not reconnect any more; nil: it does

	mu       sync.Mutex                 // guards the fields below
	dialled  error                      // the error of the last attempt to dial
	told     error                      // the server's last refusal that an event has reported
	asking   map[*request]struct{}      // requests under way on the link
	deaf     error                      // why no answers come on this connection: the user may not subscribe to them
	dropped  map[*nats.Subscription]int // number of drops reported so far
	watchers []*watcher
}

// watcher is called when a link goes down and when it comes up again.
type watcher struct{ changed func(up bool) }

// connect makes a link. It ends with an error when ctx or the session does, which
// also ends later attempts to reconnect.
func (c *Client) connect(ctx context.Context, key kit.Key) (*Link, error) {
	l := &Link{client: c, key: key, direct: key.Role != kit.Control && c.Direct(), dropped: map[*nats.Subscription]int{}}
	l.life, l.cancel = context.WithCancel(kit.WithValues(c.Life, ctx))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.Life, func() { cancel(driver.ErrClosed) })()
	o := c.settings(l)
	err := c.logIn(&o)
	if err == nil {
		stop := context.AfterFunc(ctx, l.kill)
		l.nc, err = o.Connect()
		if !stop() && err == nil {
			l.nc.Close()
			err = context.Cause(ctx)
		}
	}
	if err == nil {
		l.adopt(l.nc)
		driver.LoggedIn(ctx)
		return l, nil
	}
	l.kill()
	return nil, l.connectError(ctx, err)
}

// settings are what nats.go makes the link with.
func (c *Client) settings(l *Link) nats.Options {
	o := nats.GetDefaultOptions()
	for _, s := range c.From(l.key.Conn) {
		o.Servers = append(o.Servers, s.Scheme+"://"+s.Address)
	}
	o.NoRandomize = true
	o.IgnoreDiscoveredServers = !c.options.DiscoveredServers
	o.Name = fmt.Sprintf("%s%s %s %s", c.Target.Prefix, c.options.Name, c.Target.Run, l.key)
	o.CustomDialer = l
	o.SkipHostLookup = true // Dial looks names up, and stops when told to
	o.Timeout = c.options.ConnectTimeout
	o.PingInterval = c.options.PingInterval
	o.MaxPingsOut = c.options.MaxPingsOut
	o.AllowReconnect = c.options.MaxReconnects != 0
	o.MaxReconnect = c.options.MaxReconnects
	o.ReconnectWait = c.options.ReconnectWait
	o.ReconnectJitter = c.options.ReconnectWait / 2
	o.ReconnectJitterTLS = c.options.ReconnectWait / 2
	o.ReconnectBufSize = -1
	if o.WriteBufferSize = c.writeBuffer; l.direct {
		o.WriteBufferSize = 1 // what publishers leave to it must not wait to be overtaken
	}
	// A deadline before each write and none after it cost two calls a message,
	// and a write that goes half-way ends the connection. kill ends a blocked write
	// when somebody wants to leave.
	o.FlusherTimeout = 0
	o.SkipSubjectValidation = true // subjects are checked once, when they are made
	o.InboxPrefix = c.InboxPrefix()
	o.NoCallbacksAfterClientClose = true
	o.DisconnectedErrCB = l.disconnected
	o.ReconnectedCB = l.reconnected
	o.ClosedCB = l.closed
	o.AsyncErrorCB = l.failed
	if c.TLS != nil {
		o.Secure, o.TLSConfig = true, c.TLS
	}
	o.TLSHandshakeFirst = c.options.TLSFirst
	return o
}

// connectError says why there is no connection, in as much detail as nats.go leaves
// over.
func (l *Link) connectError(ctx context.Context, err error) error {
	c := l.client
	l.mu.Lock()
	if errors.Is(err, nats.ErrNoServers) && l.dialled != nil {
		err = l.dialled
	}
	l.mu.Unlock()
	switch class := c.ClassOf(err); {
	case c.Closed():
		err = driver.ErrClosed
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	case errors.Is(class, driver.ErrUnauthorized):
		return c.Wrap(err, "log in to %s", c.Address.String())
	default:
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return c.Wrap(err, "connect to %s", c.Address.String())
}

// kill ends the network connection and lets no other be made.
func (l *Link) kill() {
	l.cancel()
	if c := l.latest.Load(); c != nil {
		c.Conn.Close()
	}
}

// close ends the link by ctx's deadline. A client that is stuck in a write gets
// most of the time until then, for the broker may yet read.
func (l *Link) close(ctx context.Context) {
	l.closing.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c := l.live.Swap(nil); c != nil {
			_ = c.out.Flush() // an error cannot be reported any more
		}
		l.nc.Close()
	}()
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	select {
	case <-done:
	case <-grace.Done():
	}
	// Also when the client is done: it may have been about to reconnect.
	l.kill()
	patience := time.NewTimer(2 * time.Second)
	defer patience.Stop()
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

// Closing reports whether the link is being closed, or has been.
func (l *Link) Closing() bool { return l.closing.Load() }

// Batching reports whether messages are collected, to be written by FlushBatch.
func (l *Link) Batching() bool { return l.direct && l.client.writeBuffer > 1 }

// FlushBatch writes what has been collected. It is no round trip.
func (l *Link) FlushBatch() error {
	if c := l.live.Load(); c != nil && c.out.Collects() {
		return c.out.Flush()
	}
	return nil
}

// Rest is called when consumers may have to wait for their next message. What
// responders have answered goes out.
func (l *Link) Rest() {
	if l.key.Role == kit.Consumer {
		_ = l.FlushBatch() // an event tells of what is lost
	}
}

// Emit reports an event, unless the link is being closed. The link's name goes before
// the detail.
func (l *Link) Emit(e driver.Event) {
	if !l.closing.Load() {
		e.Detail = l.key.String() + ": " + e.Detail
		l.client.Target.Notify(e)
	}
}

// carries reports an event of a connection that carries messages. The control connection is idle in a run, and what is
// between may end it for that: that changes nothing for the messages.
func (l *Link) carries(e driver.Event) {
	if l.key.Role != kit.Control {
		l.Emit(e)
	}
}

// adopt lets publishers use the client's connection, once the client has
// logged in on it. The client tells of that later than it happens, when the
// connection may be lost again and the next one half made; publishers leave the
// work to the client until it is known which one is meant.
func (l *Link) adopt(nc *nats.Conn) {
	l.maxPayload.Store(nc.MaxPayload())
	c := l.latest.Load()
	// The client holds its lock while it logs in, so both answers are about
	// connections on which that is over.
	if address := nc.LocalAddr(); !l.direct || address != c.LocalAddr().String() || !nc.IsConnected() {
		return
	}
	// A server may insist on TLS without being asked. The client's own word on it
	// looks at its state without its lock (nats.go 1.55).
	if !c.in.lost.Load() {
		l.live.Store(c)
		if l.closing.Load() { // close has ended it
			l.live.Store(nil)
		}
	}
}

func (l *Link) disconnected(_ *nats.Conn, err error) {
	detail := "the connection was lost"
	if err != nil {
		detail = err.Error()
	}
	// Publishers would fill a batch that cannot be written. If the library has
	// connected again in the meantime, its next call is to adopt.
	l.live.Store(nil)
	l.mu.Lock()
	l.deaf = nil
	l.mu.Unlock()
	l.carries(driver.Event{Kind: driver.Disconnected, Detail: detail})
	l.tell(false)
}

func (l *Link) reconnected(nc *nats.Conn) {
	l.adopt(nc)
	l.carries(driver.Event{Kind: driver.Reconnected, Detail: nc.ConnectedUrlRedacted()})
	l.tell(true)
}

// closed is called when the client has given up for good: it does so after a login that
// was refused twice. What is sent from now on fails with why.
func (l *Link) closed(nc *nats.Conn) {
	err := nc.LastError()
	if err == nil {
		err = driver.ErrNotConnected
	}
	why := err
	if !errors.Is(l.client.ClassOf(err), driver.ErrUnauthorized) {
		why = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	why = l.client.Wrap(why, "%s given up", l.key)
	l.gaveUp.Store(&why)
	l.Emit(driver.Event{Kind: driver.GivenUp, Detail: err.Error(), Err: why})
}

// Absent is why the link has no connection; nil: it has one, or will have.
func (l *Link) Absent() error {
	if why := l.gaveUp.Load(); why != nil {
		return *why
	}
	return nil
}

// failed gets what the server says on its own account. Of a message that it refuses it
// names the subject alone.
func (l *Link) failed(_ *nats.Conn, sub *nats.Subscription, err error) {
	if sub != nil && errors.Is(err, nats.ErrSlowConsumer) {
		l.reportDropped(sub)
		return
	}
	e := driver.Event{Kind: driver.AsyncError, Detail: err.Error(), Err: l.client.Wrap(err, "%s", l.key)}
	if l.key.Role == kit.Producer && errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), "for Publish") {
		e.Kind, e.Count = driver.Denied, 1
	}
	l.Emit(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = err
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	if strings.Contains(err.Error(), `for Subscription to "`+l.client.InboxPrefix()+".") {
		l.deaf = e.Err
	}
	for r := range l.asking {
		if l.deaf != nil || strings.Contains(err.Error(), r.subject) {
			r.cancel(e.Err)
		}
	}
}

// request is something asked for on a link.
type request struct {
	subject string // in quotes
	cancel  context.CancelCauseFunc
}

// Ask returns a context that ends, with the server's words, when the server refuses what is
// sent to the subject on the link, or to let answers come: the library, which subscribes to them once
// on each connection, would wait. done is called in the end.
func (l *Link) Ask(ctx context.Context, subject string) (asking context.Context, done func()) {
	asking, cancel := context.WithCancelCause(ctx)
	r := &request{`"` + subject + `"`, cancel}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf != nil {
		cancel(l.deaf)
	}
	if l.asking == nil {
		l.asking = map[*request]struct{}{}
	}
	l.asking[r] = struct{}{}
	return asking, func() {
		cancel(nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, r)
	}
}

// longestTold is how long heard waits at most: while the server keeps refusing, there is always
// a refusal that no event has reported yet.
const longestTold = 500 * time.Millisecond

// heard waits until events tell of what the server has refused so far: the library
// does that on a goroutine of its own.
func (l *Link) heard(ctx context.Context) {
	for end := time.Now().Add(longestTold); ctx.Err() == nil && time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		last := l.nc.LastError()
		l.mu.Lock()
		told := l.told
		l.mu.Unlock()
		if !errors.Is(last, nats.ErrPermissionViolation) || told == last || l.Closing() {
			return
		}
	}
}

// Flush waits for a round trip to the server, by which it has read all that
// was sent before, and events tell of what it has refused of that.
func (l *Link) Flush(ctx context.Context) error {
	err := l.flush(ctx)
	if err == nil {
		l.heard(ctx)
	}
	return err
}

func (l *Link) flush(ctx context.Context) error {
	if !l.nc.IsConnected() {
		return nats.ErrDisconnected
	}
	// Writes do not look at the context.
	limited, cancel := context.WithTimeout(ctx, time.Hour)
	result := make(chan error, 1)
	go func() {
		defer cancel()
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
