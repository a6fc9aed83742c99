package amqp10

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// link is a client of the broker: one connection after another.
type link = kit.Link[conn, *conn]

// conn is a connection of the library's. It implements kit.Wire.
type conn struct {
	*amqp.Conn
	below   kit.Conn       // that carries it
	manager *manager       // nil: its management is not known
	broker  broker         // nil likewise
	leaving sync.WaitGroup // for sessions to end
}

// connect makes a link. Each begins with another of the servers.
func (s *session) connect(ctx context.Context, key kit.Key) (*link, error) {
	o, servers := &s.options, s.From(key.Conn)
	host := s.Servers[0].Host
	if s.vhost != "" && s.vhost != "/" {
		host = "vhost:" + s.vhost // as RabbitMQ wants to be told
	}
	login := amqp.SASLTypePlain(s.User, s.Secret)
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
	config := &amqp.ConnOptions{ContainerID: s.Target.Prefix + o.Name + " " + s.Target.Run + " " + key.String(), HostName: host, SASLType: login,
		IdleTimeout: silence, WriteTimeout: silence, MaxFrameSize: uint32(o.FrameMax), Properties: map[string]any{"product": "sixnines"}}
	how := kit.Connecting{Timeout: o.ConnectTimeout,
		Hint: "RabbitMQ before 4.0 wants its plugin rabbitmq_amqp1_0 enabled; if the server wants TLS there, give an amqps:// URL"}
	l := kit.NewLink[conn, *conn](s.Base, kit.LinkConfig[conn]{
		Name: key.String(), Role: key.Role, Silent: key.Role == kit.Control, Passes: passes, Wait: o.ReconnectWait, Timeout: o.ConnectTimeout,
		Dial: func(ctx context.Context) (*conn, error) {
			return kit.Connect(ctx, s.Base, servers, how, func(ctx context.Context, below kit.Conn) (*conn, error) {
				c, err := amqp.NewConn(ctx, below.Conn, config)
				switch {
				case err == nil:
					made := &conn{Conn: c, below: below}
					s.manage(made)
					return made, nil
				case strings.Contains(err.Error(), "unexpected protocol"):
					err = fmt.Errorf("the server does not speak AMQP 1.0: %w", err)
				case errors.Is(known(err), driver.ErrUnauthorized):
					err = fmt.Errorf("%w; check user, password, and the user's permission for the virtual host", err)
				}
				return nil, err
			})
		},
	})
	return l, l.Start(ctx)
}

// Serve implements kit.Wire: the library serves. It has no error for an end that it was
// asked for.
func (c *conn) Serve() error {
	<-c.Done()
	if err := c.Err(); err != nil {
		return err
	}
	return fmt.Errorf("the connection was closed from here: %w", driver.ErrNotConnected)
}

// End implements kit.Wire. Who waits hears from the library.
func (c *conn) End(error) {}

// Leave implements kit.Wire. The library waits for a write that is stuck, until the
// socket closes.
func (c *conn) Leave(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { c.below.Close() })()
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	if c.manager != nil {
		c.manager.end(grace)
	}
	c.Close()
	c.leaving.Wait()
}

// ended closes the connection after the broker has ended a part of it: the link makes a new
// connection with all its parts, so that only one way of recovery exists.
func (c *conn) ended(l *link, why error) {
	if failures().ClassOf(why) == driver.ErrClosed {
		return
	}
	if l.Live() == c && !c.isOver() {
		l.Emit(driver.Event{Kind: driver.AsyncError, Detail: why.Error()})
	}
	c.below.Close()
}

// beginAgain is how long RabbitMQ may take to begin a session until another is begun.
const beginAgain = time.Second

// begin begins a session. RabbitMQ 4.0.5 loses a few of a hundred that begin right after another has ended, whose channel they
// get: it answers nothing, and answers the next one.
func (c *conn) begin(ctx context.Context) (*amqp.Session, error) {
	if _, again := c.broker.(rabbit); !again {
		return c.NewSession(ctx, nil)
	}
	for {
		attempt, cancel := context.WithTimeout(ctx, beginAgain)
		session, err := c.NewSession(attempt, nil)
		late := attempt.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil {
			return session, err
		}
	}
}

// quit ends a session of the connection, which continues without it. The wait is limited,
// since RabbitMQ's plugin sometimes does not answer.
func (c *conn) quit(ctx context.Context, session *amqp.Session) {
	grace, cancel := kit.Grace(ctx)
	defer cancel()
	session.Close(grace)
}

// leave ends a session of the connection without waiting for it.
func (c *conn) leave(session *amqp.Session) {
	c.leaving.Go(func() { c.quit(context.Background(), session) })
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

// passes reports whether an error goes away by itself: Artemis 2.40 stumbles over the
// session of a consumer that ends while its address is deleted, and RabbitMQ ends the session of a
// request that came before the credit for its reply.
func passes(err error) bool {
	return strings.Contains(err.Error(), `SessionCallback.disconnect(`) && strings.Contains(err.Error(), `is null`) ||
		strings.Contains(err.Error(), "insufficient credit (0) for management link")
}

// failures makes the driver's errors.
func failures() *kit.Errors { return &kit.Errors{Driver: product, Class: known} }

// wrap adds what was being done, and the class.
func wrap(err error, format string, args ...any) error {
	return failures().Wrap(err, format, args...)
}

// known returns the class of an error of the library; nil for other errors and for the end
// of a connection without a reason of the broker.
func known(err error) error {
	var said *amqp.Error
	switch {
	case errors.As(err, &said):
		return classOfCondition(said)
	case strings.Contains(err.Error(), "auth failed"), strings.Contains(err.Error(), "no supported auth mechanism"):
		return driver.ErrUnauthorized // the library has no types for these
	}
	return nil
}

// forbids reports whether words are about a right that an account lacks: Artemis' (AMQ229032, and AMQ229213 with the address), or
// RabbitMQ's.
func forbids(words string) bool {
	return strings.Contains(words, "does not have permission") || strings.Contains(words, "refused for user")
}

func classOfCondition(e *amqp.Error) error {
	switch e.Condition {
	case amqp.ErrCondNotFound, amqp.ErrCondResourceDeleted:
		return driver.ErrNoTopic
	case amqp.ErrCondUnauthorizedAccess:
		if forbids(e.Description) {
			return driver.ErrForbidden
		}
		return driver.ErrUnauthorized
	case amqp.ErrCondInternalError:
		if forbids(e.Description) {
			return driver.ErrForbidden
		}
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
