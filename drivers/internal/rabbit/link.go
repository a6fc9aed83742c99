package rabbit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Conn is a connection.
type Conn interface {
	Close(ctx context.Context) // orderly if there is time; it returns when Done is closed
	Done() <-chan struct{}     // closed when it has ended
	Err() error                // why, then
}

// kill ends a connection at once.
func kill(c Conn) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.Close(ctx)
}

// Member is what lives on a link and has to be set up on each of its
// connections.
type Member[C Conn] interface {
	Attach(ctx context.Context, c C) error
}

// LinkConfig says how a link connects.
type LinkConfig[C Conn] struct {
	Name          string // for people
	Notify        func(driver.Event)
	ReconnectWait time.Duration // between attempts
	Dial          func(ctx context.Context) (C, error)
	// Restore is called before members are set up once more.
	Restore func(ctx context.Context) error
}

// Link is a connection to the broker that is made again when it is lost. Its
// methods are safe for concurrent use.
type Link[C Conn] struct {
	config  LinkConfig[C]
	broker  *Broker
	life    context.Context
	cancel  context.CancelFunc
	over    chan struct{} // closed when nothing is going to be connected any more
	closing atomic.Bool   // no more events

	setting sync.Mutex // members are being set up
	members []Member[C]

	mu        sync.Mutex
	conn      C    // the latest
	connected bool // its members are set up, and it is not known to have ended
}

// NewLink returns one that is not connected. The end of life ends what is being
// connected then and later, and not what is connected.
func NewLink[C Conn](life context.Context, b *Broker, config LinkConfig[C]) *Link[C] {
	l := &Link[C]{config: config, broker: b, over: make(chan struct{})}
	l.life, l.cancel = context.WithCancel(life)
	return l
}

// Open connects. It is called once, before all else but Emit; after an error the
// link is of no use.
func (l *Link[C]) Open(ctx context.Context) error {
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	p := l.broker.protocol
	var c C
	if err := p.await(either, "connect", p.Passes, func() (err error) {
		c, err = l.config.Dial(either)
		return err
	}); err != nil {
		if l.life.Err() != nil {
			err = l.broker.protocol.overError()
		}
		l.cancel()
		return err
	}
	l.conn, l.connected = c, true
	go l.watch(c)
	return nil
}

// Life returns what ends when the link closes.
func (l *Link[C]) Life() context.Context { return l.life }

// Join sets a member up, now and on each connection to come. It waits for what
// passes by itself: the broker may end the connection when it cannot do yet what
// it was asked for.
func (l *Link[C]) Join(ctx context.Context, m Member[C]) error {
	p := l.broker.protocol
	ended := false
	return p.await(ctx, "set up "+l.config.Name, func(err error) bool {
		if p.Passes(err) {
			ended = true
			return true
		}
		return ended && driver.Class(err) == driver.ErrNotConnected
	}, func() error { return l.join(ctx, m) })
}

func (l *Link[C]) join(ctx context.Context, m Member[C]) error {
	l.setting.Lock()
	defer l.setting.Unlock()
	c, ok := l.Current()
	if !ok {
		return fmt.Errorf("%s: %s: %w", l.broker.protocol.Driver, l.config.Name, l.Absent())
	}
	if err := m.Attach(ctx, c); err != nil {
		return err
	}
	l.members = append(l.members, m)
	return nil
}

// Leave forgets a member. It does not wait for what is being connected.
func (l *Link[C]) Leave(m Member[C]) {
	go func() {
		l.setting.Lock()
		defer l.setting.Unlock()
		l.members = slices.DeleteFunc(l.members, func(other Member[C]) bool { return other == m })
	}()
}

// Current returns the connection; false: there is none.
func (l *Link[C]) Current() (C, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn, l.connected
}

// Absent is why there is no connection.
func (l *Link[C]) Absent() error {
	if l.Closing() {
		return driver.ErrClosed
	}
	return driver.ErrNotConnected
}

// Closing reports whether Close has been called.
func (l *Link[C]) Closing() bool { return l.closing.Load() }

// watch connects again whenever the connection is lost.
func (l *Link[C]) watch(c C) {
	defer close(l.over)
	for {
		<-c.Done()
		l.mu.Lock()
		l.connected = false
		l.mu.Unlock()
		if l.life.Err() != nil {
			return
		}
		l.Emit(driver.Event{Kind: driver.Disconnected, Detail: c.Err().Error()})
		var ok bool
		if c, ok = kit.Reconnect(l.life, l.config.ReconnectWait, l.reconnect, l.refused); !ok {
			return
		}
		l.Emit(driver.Event{Kind: driver.Reconnected})
	}
}

// refused tells of what stands against connecting again.
func (l *Link[C]) refused(why error) {
	l.Emit(driver.Event{Kind: driver.AsyncError, Detail: "reconnect: " + why.Error()})
}

// reconnect makes a connection and sets all members up on it.
func (l *Link[C]) reconnect(ctx context.Context) (c C, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.broker.timeout)
	defer cancel()
	if c, err = l.config.Dial(ctx); err != nil {
		return c, err
	}
	l.setting.Lock()
	defer l.setting.Unlock()
	l.mu.Lock()
	l.conn = c // Ended may be called from now on
	l.mu.Unlock()
	if l.config.Restore != nil {
		err = l.config.Restore(ctx)
	}
	for i := 0; i < len(l.members) && err == nil; i++ {
		err = l.members[i].Attach(ctx, c)
	}
	if err != nil {
		kill(c)
		return c, err
	}
	l.mu.Lock()
	l.connected = true
	l.mu.Unlock()
	if l.life.Err() != nil { // Close did not see it
		closing, cancel := Grace(context.Background())
		defer cancel()
		c.Close(closing)
	}
	return c, nil
}

// Ended closes the connection, of which the broker has taken something away: it
// is made again, and with it what lived on it. There is one way back, not two.
// It is called before the connection is done, if need be while members are set
// up on it.
func (l *Link[C]) Ended(why error) {
	l.mu.Lock()
	c, connected := l.conn, l.connected
	l.mu.Unlock()
	if l.broker.protocol.ClassOf(why) == driver.ErrClosed {
		return
	}
	go func() { // it waits for the goroutine that calls this
		select {
		case <-c.Done():
		default:
			if connected {
				l.Emit(driver.Event{Kind: driver.AsyncError, Detail: why.Error()})
			}
		}
		kill(c)
	}()
}

// Close ends the link by ctx's deadline. A connection that is stuck in a write
// gets most of the time until then, for the broker may yet read.
func (l *Link[C]) Close(ctx context.Context) {
	l.closing.Store(true)
	l.cancel()
	grace, cancel := Grace(ctx)
	defer cancel()
	if c, ok := l.Current(); ok {
		c.Close(grace)
	}
	select {
	case <-l.over:
	case <-ctx.Done():
	}
}

// Emit tells of an event, unless the link is closing. The link's name goes before
// the detail.
func (l *Link[C]) Emit(e driver.Event) {
	if l.Closing() {
		return
	}
	if e.Detail == "" {
		e.Detail = l.config.Name
	} else {
		e.Detail = l.config.Name + ": " + e.Detail
	}
	l.config.Notify(e)
}
