package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// Wire is one connection of a link, after the login.
type Wire interface {
	// Serve reads until the connection ends, and returns why it ended; nil: an event has
	// reported that already.
	Serve() error
	// End is called once, after Serve. It resolves unanswered messages with err, whose class
	// is driver.ErrTimeout if their outcome is unknown, and driver.ErrClosed if the link was
	// closed.
	End(err error)
	// Leave ends the connection, in an orderly way if there is time until ctx ends, so
	// that Serve returns.
	Leave(ctx context.Context)
}

// Member is a part of a link, such as a consumer, that is set up on each of its connections.
type Member[W any] interface {
	Attach(ctx context.Context, w *W) error
}

// LinkConfig says how a link connects.
type LinkConfig[W any] struct {
	Name   string // for people, and at the broker
	Role   Role   // whose its connections are
	Silent bool   // no events
	// Dial connects, logs in and sets up everything except Members. It ends with ctx.
	Dial func(ctx context.Context) (*W, error)
	// Passes reports whether an error is temporary, see Await; nil: no error is.
	Passes func(error) bool
	// Wait is the pause between attempts to connect again.
	Wait time.Duration
	// GiveUp reports whether the link ends, with an event, after this many consecutive
	// attempts to connect again; nil: never. In addition, the link ends if the broker refuses
	// it, see Refusals.
	GiveUp func(tried int) bool
	// Timeout limits the work on a new connection before it is used: Restore, and setting
	// members up; 0: no limit.
	Timeout time.Duration
	// Restore is called before members are set up again; nil: nothing to do.
	Restore func(ctx context.Context) error
}

// Link is a client of the broker: a sequence of connections, each a *W. Events report a lost
// connection and the next one. Link is safe for concurrent use.
type Link[W any, P interface {
	*W
	Wire
}] struct {
	LinkConfig[W]
	base    *Base
	live    atomic.Pointer[W]
	closing atomic.Bool
	refused atomic.Pointer[error] // the broker's last refusal; nil: it has not refused
	life    context.Context       // ends with the link
	cancel  context.CancelFunc
	done    chan struct{} // closed when all goroutines of the link have ended

	joining sync.Mutex
	members []Member[W]
}

// NewLink returns a link that is not connected.
func NewLink[W any, P interface {
	*W
	Wire
}](b *Base, config LinkConfig[W]) *Link[W, P] {
	l := &Link[W, P]{LinkConfig: config, base: b, done: make(chan struct{})}
	if l.Passes == nil {
		l.Passes = func(error) bool { return false }
	}
	l.life, l.cancel = context.WithCancel(b.Life)
	return l
}

// Start connects, and keeps the link connected from then on. It is called once; after
// an error the link is of no use.
func (l *Link[W, P]) Start(ctx context.Context) error {
	var w *W
	err := Await(ctx, l.base.Driver+": connect", l.Passes, func() (err error) {
		w, err = l.dial(ctx)
		return err
	})
	if err == nil && !l.adopt(w) {
		err = l.base.over("connect")
	}
	if err != nil {
		l.cancel()
		close(l.done)
		return err
	}
	go l.run(w)
	return nil
}

// dial ends with the link, too.
func (l *Link[W, P]) dial(ctx context.Context) (*W, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.life, func() { cancel(driver.ErrClosed) })()
	w, err := l.Dial(driver.WithRole(ctx, l.Role))
	if err != nil && l.life.Err() != nil {
		err = l.base.over("connect")
	}
	return w, err
}

// adopt makes w the link's connection, or ends it: Close may have found none before.
func (l *Link[W, P]) adopt(w *W) bool {
	l.live.Store(w)
	l.refused.Store(nil)
	if l.closing.Load() && l.live.CompareAndSwap(w, nil) {
		P(w).Leave(canceled())
		P(w).End(l.closed())
		return false
	}
	return true
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (l *Link[W, P]) closed() error {
	return fmt.Errorf("%s: %w before the broker had answered", l.base.Driver, driver.ErrClosed)
}

// longLasted is how long a connection has to last for refusals before it not to count any
// more: a broker may take the login each time and hang up on what is asked next.
const longLasted = 10 * time.Second

// A connection that lasted less than shortLasted is made again after a pause, which doubles
// up to longestWait while that repeats: a broker may hang up on what it has just been sent,
// again and again. The pause stays short, because a network that flaps must not look slower
// than it is.
const (
	shortLasted = time.Second
	longestWait = time.Second / 2
)

// pauseAfter is the pause before the next attempt after a number of short connections in a row.
func (l *Link[W, P]) pauseAfter(short int) time.Duration {
	if short < 2 {
		return 0 // it may have been chance
	}
	return min(max(l.Wait, time.Millisecond)<<min(short-2, 16), longestWait)
}

// run serves one connection after another.
func (l *Link[W, P]) run(w *W) {
	defer close(l.done)
	var refused Refusals
	short := 0
	for w != nil {
		since := time.Now()
		why := P(w).Serve()
		l.live.CompareAndSwap(w, nil)
		if l.closing.Load() || l.life.Err() != nil {
			P(w).End(l.closed())
			return
		}
		P(w).End(fmt.Errorf("%s: %w: the connection was lost before the broker had answered", l.base.Driver, driver.ErrTimeout))
		if errors.Is(why, io.EOF) {
			why = errHungUp
		}
		if why != nil {
			l.Emit(driver.Event{Kind: driver.Disconnected, Detail: why.Error(), Err: why})
		}
		lasted := time.Since(since)
		if lasted >= longLasted {
			refused.Reset()
		}
		if short++; lasted >= shortLasted {
			short = 0
		}
		if w = l.reconnect(why, &refused, l.pauseAfter(short)); w != nil {
			l.Emit(driver.Event{Kind: driver.Reconnected})
		}
	}
}

var errHungUp = errors.New("the server has closed the connection")

// reconnect connects again, after a connection that was lost because of why, and a pause.
// Nil: the link has ended.
func (l *Link[W, P]) reconnect(why error, refused *Refusals, pause time.Duration) *W {
	if pause, again := refused.Add(why, pause); !again {
		l.giveUp(why)
		return nil
	} else if pause > 0 {
		select {
		case <-time.After(pause):
		case <-l.life.Done():
			return nil
		}
	}
	tried := 0
	ended := errors.New("too many attempts")
	w, err := Reconnect(l.life, l.Wait, refused, func(ctx context.Context) (w *W, err error) {
		if l.GiveUp != nil && l.GiveUp(tried) {
			l.giveUp(why)
			return nil, ended
		}
		tried++
		if w, err = l.again(ctx); err != nil {
			why = err
		}
		return w, err
	}, func(why error) {
		l.Emit(driver.Event{Kind: driver.AsyncError, Detail: "reconnect: " + why.Error(), Err: why})
	})
	if errors.Is(err, driver.ErrUnauthorized) {
		l.giveUp(err)
	}
	return w
}

// giveUp ends the link because of why: what is sent from now on fails with that.
func (l *Link[W, P]) giveUp(why error) {
	if why == nil {
		why = driver.ErrNotConnected
	}
	gone := fmt.Errorf("given up: %w", withClass(l.base.ClassOf(why), why))
	l.refused.Store(&gone)
	l.Emit(driver.Event{Kind: driver.GivenUp, Detail: why.Error(), Err: why})
	l.cancel()
}

// again connects and sets all members up.
func (l *Link[W, P]) again(ctx context.Context) (*W, error) {
	w, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Timeout)
		defer cancel()
	}
	l.joining.Lock()
	defer l.joining.Unlock()
	if l.Restore != nil {
		err = l.Restore(ctx)
	}
	for i := 0; i < len(l.members) && err == nil; i++ {
		err = l.members[i].Attach(ctx, w)
	}
	if err != nil {
		P(w).Leave(canceled())
		P(w).End(err)
		return nil, err
	}
	if !l.adopt(w) {
		return nil, l.closed()
	}
	return w, nil
}

// Live returns the connection; nil: not connected.
func (l *Link[W, P]) Live() *W { return l.live.Load() }

// Absent is why there is no connection.
func (l *Link[W, P]) Absent() error {
	switch why := l.refused.Load(); {
	case l.closing.Load():
		return driver.ErrClosed
	case why != nil:
		return *why
	}
	return driver.ErrNotConnected
}

// Closing reports whether Close has been called.
func (l *Link[W, P]) Closing() bool { return l.closing.Load() }

// Life returns what ends with the link.
func (l *Link[W, P]) Life() context.Context { return l.life }

// Done is closed when nothing of the link runs any more.
func (l *Link[W, P]) Done() <-chan struct{} { return l.done }

// Join sets a member up, now and on each connection to come. It waits for what passes by
// itself: the broker may end the connection when it cannot do yet what it was asked for.
func (l *Link[W, P]) Join(ctx context.Context, m Member[W]) error {
	passed := false
	return Await(ctx, l.base.Driver+": set up "+l.Name, func(err error) bool {
		passed = passed || l.Passes(err)
		return passed && (l.Passes(err) || driver.Class(err) == driver.ErrNotConnected)
	}, func() error { return l.join(ctx, m) })
}

func (l *Link[W, P]) join(ctx context.Context, m Member[W]) error {
	l.joining.Lock()
	defer l.joining.Unlock()
	w := l.Live()
	if w == nil {
		return l.base.Wrap(l.Absent(), "%s", l.Name)
	}
	if err := m.Attach(ctx, w); err != nil {
		return err
	}
	l.members = append(l.members, m)
	return nil
}

// Part takes a member out again. It does not wait for what is being connected.
func (l *Link[W, P]) Part(m Member[W]) {
	go func() {
		l.joining.Lock()
		defer l.joining.Unlock()
		l.members = slices.DeleteFunc(l.members, func(other Member[W]) bool { return other == m })
	}()
}

// Emit tells of an event, unless the link is closing. The link's name goes before the
// detail.
func (l *Link[W, P]) Emit(e driver.Event) {
	if l.closing.Load() || l.Silent {
		return
	}
	if e.Detail == "" {
		e.Detail = l.Name
	} else {
		e.Detail = l.Name + ": " + e.Detail
	}
	l.base.Target.Notify(e)
}

// Quiet ends events: what follows is expected.
func (l *Link[W, P]) Quiet() { l.closing.Store(true) }

// Close ends the link by ctx's deadline, in an orderly way if there is time. An error
// is of class driver.ErrTimeout: something of the link still runs.
func (l *Link[W, P]) Close(ctx context.Context) error {
	l.closing.Store(true)
	l.cancel()
	if w := l.live.Swap(nil); w != nil {
		grace, cancel := Grace(ctx)
		P(w).Leave(grace)
		cancel()
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return l.base.Wrap(fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx)), "close %s", l.Name)
	}
}
