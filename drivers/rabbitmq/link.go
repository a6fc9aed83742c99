package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// The roles of links. Producers and consumers never share one.
const (
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// linkKey names a link within its session.
type linkKey struct {
	role string
	conn int
}

func (k linkKey) String() string { return fmt.Sprintf("%s-%d", k.role, k.conn) }

// link is a connection to the broker that is made again when it is lost.
type link struct {
	*rabbit.Link[connection]

	session *session
	key     linkKey
	blocked atomic.Bool  // the broker does not read what is published
	gaveUp  atomic.Int64 // messages given back since the last report
}

// newLink connects. Each link begins with another of the servers.
func newLink(ctx context.Context, s *session, key linkKey) (*link, error) {
	l := &link{session: s, key: key}
	l.Link = rabbit.NewLink(s.life, s.broker, rabbit.LinkConfig[connection]{
		Name: key.String(), Notify: s.notify, ReconnectWait: s.options.ReconnectWait,
		Dial: func(ctx context.Context) (connection, error) {
			return rabbit.Connect(ctx, s.broker, s.broker.From(key.conn), l.open)
		},
		Restore: s.restore,
	})
	if err := l.Open(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// open logs in over c.
func (l *link) open(ctx context.Context, c net.Conn) (connection, error) {
	s := l.session
	l.blocked.Store(false)
	if s.options.Client != direct {
		conn, err := openLibrary(ctx, c, l)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
	config := s.wireConfig(l.key.String())
	config.WriteBuffer, config.FlushAtRest = s.writeBuffer, l.key.role == roleConsumer
	config.Blocked, config.Rest, config.Lost = l.block, l.report, l.lost
	conn, err := wire.Open(ctx, c, config)
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
	if l.session.Ack() == driver.AckKindNone { // else each is done with an error
		l.Emit(driver.Event{Kind: driver.Dropped, Detail: "unwritten when the connection was lost", Count: n})
	}
}
