package rabbit

import (
	"context"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Conn is a connection. What lives on it hears of its end from the connection.
type Conn interface {
	Close(ctx context.Context) // orderly if there is time; it returns when Done is closed
	Done() <-chan struct{}     // closed when it has ended, and all that lived on it has heard
	Err() error                // why, then
}

// Wire is a connection of a link. It implements kit.Wire.
type Wire[C Conn] struct{ Conn C }

// Serve implements kit.Wire: the connection serves itself.
func (w *Wire[C]) Serve() error {
	<-w.Conn.Done()
	return w.Conn.Err()
}

// End implements kit.Wire: all has heard of the end.
func (*Wire[C]) End(error) {}

// ended reports whether Done is closed.
func (w *Wire[C]) ended() bool {
	select {
	case <-w.Conn.Done():
		return true
	default:
		return false
	}
}

// Leave implements kit.Wire.
func (w *Wire[C]) Leave(ctx context.Context) { w.Conn.Close(ctx) }

// Link is a client of the broker: one connection after another.
type Link[C Conn] struct {
	*kit.Link[Wire[C], *Wire[C]]
	broker *Broker
	latest atomic.Pointer[Wire[C]] // its members may not be set up yet
}

// NewLink returns a link that is not connected. dial connects and logs in.
func NewLink[C Conn](b *Broker, role kit.Role, name string, dial func(ctx context.Context) (C, error)) *Link[C] {
	l := &Link[C]{broker: b}
	l.Link = kit.NewLink[Wire[C], *Wire[C]](b.Base, kit.LinkConfig[Wire[C]]{
		Name: name, Role: role, Passes: b.protocol.Passes, Wait: b.Config.ReconnectWait, Timeout: b.Config.ConnectTimeout,
		Dial: func(ctx context.Context) (*Wire[C], error) {
			c, err := dial(ctx)
			if err != nil {
				return nil, err
			}
			w := &Wire[C]{c}
			l.latest.Store(w)
			return w, nil
		},
	})
	return l
}

// Ended closes the connection after the broker has ended a part of it: the connection is
// made again with all its parts, so that only one way of recovery exists.
// It is called before the connection is done, if need be while members are set
// up on it.
func (l *Link[C]) Ended(why error) {
	w := l.latest.Load()
	if l.broker.ClassOf(why) == driver.ErrClosed {
		return
	}
	go func() { // it waits for the goroutine that calls this
		if !w.ended() && l.Live() == w {
			l.Emit(driver.Event{Kind: driver.AsyncError, Detail: why.Error()})
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		w.Conn.Close(over)
	}()
}
