package resp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// Link keeps a connection alive: when it is lost, another is made, and events
// tell of both.
type Link struct {
	Name   string
	client *Client
	ctx    context.Context // ends with the link
	cancel context.CancelFunc

	closing atomic.Bool   // no more events
	ended   chan struct{} // closed when the last Serve has returned

	mu   sync.Mutex
	conn *Conn // to close; nil: none
}

// Serve does a link's work on one connection and returns the reason when that
// is lost, or nothing more can be done with it. It calls ready once work can be
// done. One runs at a time.
type Serve func(c *Conn, ready func()) error

// Keep connects under the name and lets serve work on a goroutine of its own,
// now and after every loss, until the link is closed.
func (cl *Client) Keep(ctx context.Context, name string, serve Serve) (*Link, error) {
	c, err := cl.first(ctx, name)
	if err != nil {
		return nil, err
	}
	l := &Link{Name: name, client: cl, conn: c, ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run(c, serve)
	return l, nil
}

func (l *Link) run(c *Conn, serve Serve) {
	defer close(l.ended)
	defer l.cancel()
	fresh := true
	tried := 0 // attempts since work could last be done
	for {
		err := serve(c, func() {
			tried = 0
			if !fresh {
				l.Emit(driver.Event{Kind: driver.Reconnected, Detail: l.Name})
			}
		})
		fresh = false
		c.Close()
		if l.ctx.Err() != nil {
			return
		}
		if tried == 0 {
			l.Emit(driver.Event{Kind: driver.Disconnected, Detail: l.Name + ": " + lost(err)})
		}
		if c, err = l.again(&tried, err); err != nil {
			if l.ctx.Err() == nil {
				l.Emit(driver.Event{Kind: driver.AsyncError, Detail: l.Name + ": given up: " + lost(err)})
			}
			return
		}
	}
}

// again connects once more. The first attempt is made at once. The error is
// that of the last attempt, or last if there may be none.
func (l *Link) again(tried *int, last error) (*Conn, error) {
	for {
		if most := l.client.MaxReconnects; most >= 0 && *tried >= most {
			return nil, last
		}
		if *tried > 0 {
			pause := time.NewTimer(l.client.ReconnectWait)
			select {
			case <-pause.C:
			case <-l.ctx.Done():
				pause.Stop()
				return nil, l.ctx.Err()
			}
		}
		*tried++
		c, err := l.client.Connect(l.ctx, l.Name)
		if err != nil {
			if l.ctx.Err() != nil {
				return nil, err
			}
			last = err
			continue
		}
		l.mu.Lock()
		l.conn = c
		l.mu.Unlock()
		if l.ctx.Err() != nil { // Close may not have seen it
			c.Close()
			return nil, l.ctx.Err()
		}
		return c, nil
	}
}

// Emit reports an event, unless the link is being closed.
func (l *Link) Emit(e driver.Event) {
	if !l.closing.Load() {
		l.client.Notify(e)
	}
}

// Silence ends events: somebody closes the link, and what follows is expected.
func (l *Link) Silence() { l.closing.Store(true) }

// Closing reports whether the link is being closed.
func (l *Link) Closing() bool { return l.closing.Load() }

// Stop ends the link from within Serve: there is nothing more to do.
func (l *Link) Stop() {
	l.Silence()
	l.cancel()
}

// Context ends when the link is closed or has given up.
func (l *Link) Context() context.Context { return l.ctx }

// Ended is closed when nothing of the link runs any more.
func (l *Link) Ended() <-chan struct{} { return l.ended }

// Close ends the connection and waits until Serve has returned, at most until
// ctx ends.
func (l *Link) Close(ctx context.Context) error {
	l.Silence()
	l.cancel()
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	c.Close()
	select {
	case <-l.ended:
	case <-ctx.Done():
	}
	return l.Stuck(ctx)
}

// Stuck returns an error if ctx has ended before a link that is being closed has.
func (l *Link) Stuck(ctx context.Context) error {
	select {
	case <-l.ended:
		return nil
	default:
	}
	if ctx.Err() == nil || !l.Closing() {
		return nil
	}
	return fmt.Errorf("close %s: %w: %w", l.Name, driver.ErrTimeout, context.Cause(ctx))
}

// Classify is the class of the reason why something was lost: that of a link
// which is being closed is ErrClosed.
func (l *Link) Classify(err error) error {
	if err != nil && l.Closing() || errors.Is(err, driver.ErrClosed) {
		return driver.ErrClosed
	}
	return err
}

// open keeps a link under the name, and hands it to set before serve begins. It
// returns when serve tells ready for the first time that work can be done, or why
// it cannot.
func (cl *Client) open(ctx context.Context, name string, set func(*Link), serve func(c *Conn, ready func(error)) error) error {
	ready := make(chan error, 1)
	linked := make(chan struct{})
	l, err := cl.Keep(ctx, name, func(c *Conn, up func()) error {
		<-linked
		return serve(c, func(err error) {
			if err == nil {
				up()
			}
			select {
			case ready <- err:
			default:
			}
		})
	})
	if err != nil {
		return err
	}
	set(l)
	close(linked)
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	}
	if err != nil {
		l.Close(ctx)
	}
	return err
}

// lose returns the errors of what is open when the connection was lost because of
// cause: of what the server may have done, and of what was not written.
func (l *Link) lose(cause error) (unknown, unsent error) {
	if l.Closing() {
		err := fmt.Errorf("%s: %w before the reply", l.client.Driver, driver.ErrClosed)
		return err, err
	}
	unknown = fmt.Errorf("%s: %w: no reply before the connection was lost (%s); the server may have done it or not", l.client.Driver, driver.ErrTimeout, lost(cause))
	unsent = fmt.Errorf("%s: %w: unwritten when the connection was lost (%s)", l.client.Driver, driver.ErrNotConnected, lost(cause))
	return unknown, unsent
}

// finish closes the link by ctx's deadline. A server that has not replied to
// everything, which closes drained, gets most of the time until then.
func (l *Link) finish(ctx context.Context, drained <-chan struct{}) error {
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(deadline)*3/4)
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-drained:
	case <-l.Ended():
	case <-patience.C:
	case <-ctx.Done():
	}
	return l.Close(ctx)
}
