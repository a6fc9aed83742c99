package rabbitmqstream

import (
	"context"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// linkKey names a link within its session.
type linkKey struct {
	kit.Key
	leader string // address of the server to prefer; empty: any
}

// connection is one by either client.
type connection interface {
	rabbit.Conn
	publish(ctx context.Context, p publication, to wire.Publisher) (sender, error)
	subscribe(ctx context.Context, s subscription, to wire.Subscriber) (receiver, error)
	// Flush writes what has been collected.
	Flush() error
}

// publication is what a producer writes to.
type publication struct {
	stream  string
	name    string // by which the broker knows the producer; empty: none
	headers []driver.Header
}

// sender is a producer on a connection, see wire.Publication.
type sender interface {
	Room() int
	Publish(id uint64, body []byte) error
	Close(ctx context.Context) error
}

// subscription is what a consumer reads, and from where on.
type subscription struct {
	stream  string
	name    string // under which offsets are stored
	place   uint16 // one of package wire's
	offset  uint64 // of the place wire.Offset
	credits int
}

// receiver is a consumer on a connection, see wire.Subscription.
type receiver interface {
	Store(name string, offset uint64, now bool) error
	Close(ctx context.Context) error
}

// link is a connection to the broker that is made again when it is lost.
type link = rabbit.Link[connection]

// newLink connects.
func newLink(ctx context.Context, s *session, key linkKey) (*link, error) {
	dial := s.directDialer(key)
	if s.options.Client == library {
		dial = func(ctx context.Context) (connection, error) { return openLibrary(ctx, s, key.Key) }
	}
	l := rabbit.NewLink(s.Broker, key.Role, key.String(), dial)
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// directDialer returns a function that makes connections of the direct client. Each link
// begins with another server, unless one is preferred.
func (s *session) directDialer(key linkKey) func(context.Context) (connection, error) {
	servers := s.From(key.Conn)
	if key.leader != "" {
		servers = rabbit.Preferring(key.leader, servers)
	}
	open := func(_ context.Context, c kit.Conn) (connection, error) {
		conn, err := wire.Open(c, s.ConfigOf(key.String()))
		if err != nil {
			return nil, err
		}
		return directConnection{conn, &s.options}, nil
	}
	return func(ctx context.Context) (connection, error) { return rabbit.Connect(ctx, s.Broker, servers, open) }
}

// directConnection is one of our own.
type directConnection struct {
	*wire.Conn
	options *Options
}

func (c directConnection) publish(ctx context.Context, p publication, to wire.Publisher) (sender, error) {
	entries := c.options.entries()
	entries.Properties = properties(p.headers)
	o, err := c.Publisher(ctx, p.stream, p.name, entries, to)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (c directConnection) subscribe(ctx context.Context, s subscription, to wire.Subscriber) (receiver, error) {
	in, err := c.Subscribe(ctx, s.stream, s.place, s.offset, uint16(s.credits), to)
	if err != nil {
		return nil, err
	}
	return in, nil
}
