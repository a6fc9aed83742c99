package amqp10

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
)

// The roles of connections. Producers and consumers never share one.
const (
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// connKey names a connection within its session.
type connKey struct {
	role   string
	number int
}

func (k connKey) String() string { return fmt.Sprintf("%s-%d", k.role, k.number) }

// connection is one to the broker that is made again when it is lost.
type connection = rabbit.Link[*conn]

// connect makes a connection. Each begins with another of the servers.
func (s *session) connect(ctx context.Context, key connKey) (*connection, error) {
	servers, open := s.broker.From(key.number), s.opener(key.String())
	c := rabbit.NewLink(s.life, s.broker, rabbit.LinkConfig[*conn]{
		Name: key.String(), Notify: s.notify, ReconnectWait: s.options.ReconnectWait,
		Dial: func(ctx context.Context) (*conn, error) { return rabbit.Connect(ctx, s.broker, servers, open) },
	})
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// conn is a connection of the library's. It implements rabbit.Conn.
type conn struct {
	*amqp.Conn
	socket net.Conn // that carries it, below TLS
}

// opener returns what logs in over a socket.
func (s *session) opener(role string) rabbit.Opener[*conn] {
	o, l := s.options, s.broker.Login
	host := s.broker.From(0)[0].Host
	if l.VHost != "/" {
		host = "vhost:" + l.VHost // as RabbitMQ wants to be told
	}
	login := amqp.SASLTypePlain(l.User, l.Password)
	switch o.Login {
	case anonymous:
		login = amqp.SASLTypeAnonymous()
	case external:
		login = amqp.SASLTypeExternal("")
	}
	silence := o.IdleTimeout
	if silence == 0 {
		silence = -1 // which is what the library takes for none
	}
	config := &amqp.ConnOptions{ContainerID: o.Name + " " + s.target.Run + " " + role, HostName: host, SASLType: login,
		IdleTimeout: silence, WriteTimeout: silence, MaxFrameSize: uint32(o.FrameMax), Properties: map[string]any{"product": "sixnines"}}
	return func(ctx context.Context, socket net.Conn) (*conn, error) {
		c, err := amqp.NewConn(ctx, socket, config)
		if err != nil {
			socket.Close()
			if strings.Contains(err.Error(), "unexpected protocol") {
				err = fmt.Errorf("%w: %w", errForeign, err)
			}
			return nil, err
		}
		if encrypted, ok := socket.(*tls.Conn); ok {
			socket = encrypted.NetConn()
		}
		return &conn{c, socket}, nil
	}
}

// Close implements rabbit.Conn. The library waits for a write that is stuck,
// until the socket closes.
func (c *conn) Close(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { c.socket.Close() })()
	c.Conn.Close()
}

// Err implements rabbit.Conn. The library has no error for an end that it was
// asked for.
func (c *conn) Err() error {
	if err := c.Conn.Err(); err != nil {
		return err
	}
	return errEnded
}

// isOver reports whether the connection has ended.
func (c *conn) isOver() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

var (
	errForeign = errors.New("the server does not speak AMQP 1.0")
	errEnded   = fmt.Errorf("the connection was closed from here: %w", driver.ErrNotConnected)
)

// protocol is AMQP 1.0 as brokers speak it.
func protocol() *rabbit.Protocol {
	return &rabbit.Protocol{
		Driver:    product,
		Plain:     rabbit.Scheme{Name: "amqp", Port: "5672"},
		Encrypted: rabbit.Scheme{Name: "amqps", Port: "5671"},
		Foreign:   errForeign,
		IfForeign: "RabbitMQ before 4.0 wants its plugin rabbitmq_amqp1_0 enabled; if the server wants TLS there, give an amqps:// URL",
		Class:     classOf,
		Passes:    passes,
	}
}

// passes reports whether an error goes away by itself: Artemis 2.40 stumbles over the
// session of a consumer that ends while its address is deleted.
func passes(err error) bool {
	return strings.Contains(err.Error(), `SessionCallback.disconnect(`) && strings.Contains(err.Error(), `is null`)
}

// wrap adds what was being done, and the class.
func wrap(err error, format string, args ...any) error {
	return protocol().Wrap(err, format, args...)
}

// classOf returns the class of an error of the library's, nil for others and for
// the end of a connection of which the broker has said nothing.
func classOf(err error) error {
	var said *amqp.Error
	switch {
	case errors.As(err, &said):
		return classOfCondition(said)
	case strings.Contains(err.Error(), "auth failed"), strings.Contains(err.Error(), "no supported auth mechanism"):
		return driver.ErrUnauthorized // the library has no types for these
	}
	return nil
}

func classOfCondition(e *amqp.Error) error {
	switch e.Condition {
	case amqp.ErrCondNotFound, amqp.ErrCondResourceDeleted:
		return driver.ErrNoTopic
	case amqp.ErrCondUnauthorizedAccess:
		return driver.ErrUnauthorized
	case amqp.ErrCondMessageSizeExceeded:
		return driver.ErrTooLarge
	case amqp.ErrCondResourceLimitExceeded:
		return driver.ErrThrottled
	case amqp.ErrCondNotImplemented, amqp.ErrCondNotAllowed, amqp.ErrCondInvalidField:
		return driver.ErrUnsupported
	case amqp.ErrCondConnectionForced, amqp.ErrCondDetachForced:
		return driver.ErrNotConnected
	case amqp.ErrCondPreconditionFailed:
		if strings.Contains(e.Description, "larger than configured max size") { // RabbitMQ's words
			return driver.ErrTooLarge
		}
	}
	return driver.ErrRejected
}
