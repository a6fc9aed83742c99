package rabbitmq

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// link is a connection to the broker that is made again when it is lost.
type link struct {
	*rabbit.Link[connection]

	session *session
	key     kit.Key
	blocked atomic.Bool  // the broker does not read what is published
	gaveUp  atomic.Int64 // messages given back since the last report
}

// newLink connects. Each link begins with another of the servers.
func newLink(ctx context.Context, s *session, key kit.Key) (*link, error) {
	l := &link{session: s, key: key}
	l.Link = rabbit.NewLink(s.Broker, key.Role, key.String(), func(ctx context.Context) (connection, error) {
		return rabbit.Connect(ctx, s.Broker, s.From(key.Conn), l.open)
	})
	l.Restore = s.restore
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// open logs in over c.
func (l *link) open(_ context.Context, c kit.Conn) (connection, error) {
	s := l.session
	l.blocked.Store(false)
	if s.options.Client != direct {
		conn, err := openLibrary(c, l)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
	conn, err := wire.Open(c, wire.Config{Config: s.ConfigOf(l.key.String()),
		FlushAtRest: l.key.Role == kit.Consumer, Blocked: l.block, Rest: l.report, Lost: l.lost})
	if err != nil {
		return nil, err
	}
	return directConnection{conn}, nil
}

// ended is called when the broker has closed a channel.
func (l *link) ended(why error) { l.Ended(fmt.Errorf("a channel ended: %w", why)) }

// block notes that the broker stops or goes on reading.
func (l *link) block(reason string, on bool) {
	l.blocked.Store(on)
	detail := "the broker takes messages again"
	if on {
		detail = "the broker takes no messages: " + reason
	}
	l.Emit(driver.Event{Kind: driver.AsyncError, Detail: detail})
}

// report tells of messages that were given back since the last time.
func (l *link) report() {
	if l.gaveUp.Load() == 0 {
		return
	}
	if n := l.gaveUp.Swap(0); n > 0 {
		l.Emit(driver.Event{Kind: driver.Returned, Detail: "they lead to no queue", Count: int(n)})
	}
}

// lost tells of messages that were never written.
func (l *link) lost(n int) {
	if n > 0 && !l.session.options.confirmed() { // else each is done with an error
		l.Emit(driver.Event{Kind: driver.Dropped, Detail: "unwritten when the connection was lost", Count: n})
	}
}
