package stan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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

// link is a client of the streaming server that comes back after its
// registration was lost: always the same client to the server, which ends the
// subscriptions of the one before.
type link struct {
	key     linkKey
	session *session
	live    atomic.Pointer[streaming] // nil while there is none
	closing atomic.Bool               // no more events
	life    context.Context
	cancel  context.CancelFunc
	kept    chan struct{} // closed when keep has ended

	mu        sync.Mutex // held while consumers attach
	consumers []*consumer
}

// connect makes a link. It ends with an error when ctx or the session does.
func (s *session) connect(ctx context.Context, key linkKey) (*link, error) {
	passing := passes
	if key.role == roleControl {
		// Nobody has answered yet: it may be that nobody ever will.
		soon := kit.Moment()
		passing = func(err error) bool { return errors.Is(err, errNobody) && soon() }
	}
	var st *streaming
	if err := kit.Await(ctx, "stan: register", passing, func() (err error) {
		st, err = register(ctx, s.life, s, key)
		return err
	}); err != nil {
		return nil, err
	}
	l := &link{key: key, session: s, kept: make(chan struct{})}
	l.life, l.cancel = context.WithCancel(s.life)
	l.live.Store(st)
	go l.keep(st)
	return l, nil
}

// keep waits until the registration is lost and makes another, until the link
// closes.
func (l *link) keep(st *streaming) {
	defer close(l.kept)
	for st != nil {
		select {
		case <-l.life.Done():
			return // close sees to the registration
		case <-st.lost:
		}
		if !l.live.CompareAndSwap(st, nil) {
			return
		}
		l.emit(driver.Event{Kind: driver.Disconnected, Detail: l.key.String() + ": " + st.why.Error()})
		l.discard(st, fmt.Errorf("stan: %w: the connection was lost before the server acknowledged: %w", driver.ErrTimeout, st.why))
		st = l.again()
	}
}

// discard frees what a lost registration holds.
func (l *link) discard(st *streaming, err error) {
	gone, cancel := context.WithTimeout(context.Background(), l.session.options.ConnectTimeout)
	defer cancel()
	if st.sender != nil {
		// Its connection has ended, so this waits for nothing; it resolves what
		// is without an acknowledgement.
		st.nc.Close()
		st.sender.Close()
	}
	st.leave(gone)
	st.waiting.end(err)
}

// again registers until it succeeds, and returns nil when the link closes.
func (l *link) again() *streaming {
	pause := time.NewTicker(l.session.options.ReconnectWait)
	defer pause.Stop()
	said := ""
	for {
		st, err := register(l.life, l.session.life, l.session, l.key)
		if err == nil {
			if err = l.adopt(st); err == nil {
				return st
			}
			st.lose(err)
			l.discard(st, err)
		}
		// Once for each reason: it is the same every time, mostly.
		if class := fmt.Sprint(classOf(err)); class != said && classOf(err) != driver.ErrNotConnected {
			said = class
			l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": " + err.Error()})
		}
		select {
		case <-l.life.Done():
			return nil
		case <-pause.C:
		}
	}
}

// adopt lets the link's consumers subscribe again, and producers send.
func (l *link) adopt(st *streaming) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.consumers {
		if err := c.attach(l.life, st); err != nil {
			return err
		}
	}
	l.live.Store(st)
	if l.life.Err() != nil { // close may have looked before
		if l.live.CompareAndSwap(st, nil) {
			return fmt.Errorf("stan: %s: %w", l.key, driver.ErrClosed)
		}
		return nil // close has it
	}
	l.emit(driver.Event{Kind: driver.Reconnected, Detail: l.key.String() + ": " + st.nc.ConnectedUrlRedacted()})
	return nil
}

// subscribe attaches a consumer, now and whenever the link has come back.
func (l *link) subscribe(ctx context.Context, c *consumer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.live.Load()
	switch {
	case l.life.Err() != nil:
		return driver.ErrClosed
	case st == nil:
		return driver.ErrNotConnected
	}
	if err := c.attach(ctx, st); err != nil {
		return err
	}
	l.consumers = append(l.consumers, c)
	return nil
}

// forget takes a consumer out of those that attach again.
func (l *link) forget(c *consumer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.consumers {
		if other == c {
			l.consumers = append(l.consumers[:i], l.consumers[i+1:]...)
			return
		}
	}
}

func (l *link) emit(e driver.Event) {
	if !l.closing.Load() {
		l.session.notify(e)
	}
}

// close ends the link by ctx's deadline.
func (l *link) close(ctx context.Context) {
	l.closing.Store(true)
	l.cancel()
	if st := l.live.Swap(nil); st != nil {
		st.leave(ctx)
		st.lose(driver.ErrClosed)
		st.waiting.end(fmt.Errorf("stan: %w before the server acknowledged", driver.ErrClosed))
	}
	select {
	case <-l.kept:
	case <-ctx.Done():
	}
}
