package rabbitmqstream

import (
	"context"
	"fmt"
	"net"

	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// The roles of links. Producers and consumers never share one.
const (
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// linkKey names a link within its session.
type linkKey struct {
	role   string
	conn   int
	leader string // address of the server to prefer; empty: any
}

func (k linkKey) String() string { return fmt.Sprintf("%s-%d", k.role, k.conn) }

// link is a connection to the broker that is made again when it is lost.
type link = rabbit.Link[*wire.Conn]

// newLink connects. Each link begins with another of the servers, if there is
// none to prefer.
func newLink(ctx context.Context, s *session, key linkKey) (*link, error) {
	servers := s.broker.From(key.conn)
	if key.leader != "" {
		servers = rabbit.Preferring(key.leader, servers)
	}
	config := s.wireConfig(key.String())
	config.WriteBuffer = s.writeBuffer
	l := rabbit.NewLink(s.life, s.broker, rabbit.LinkConfig[*wire.Conn]{
		Name: key.String(), Notify: s.notify, ReconnectWait: s.options.ReconnectWait,
		Dial: func(ctx context.Context) (*wire.Conn, error) {
			return rabbit.Connect(ctx, s.broker, servers, func(ctx context.Context, c net.Conn) (*wire.Conn, error) {
				return wire.Open(ctx, c, config)
			})
		},
	})
	if err := l.Open(ctx); err != nil {
		return nil, err
	}
	return l, nil
}
