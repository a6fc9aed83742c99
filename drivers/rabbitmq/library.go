package rabbitmq

import (
	"context"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// libraryConfig says how the client library logs in.
func (s *session) libraryConfig(role string) amqp.Config {
	o := s.ConfigOf(role)
	login := amqp.Authentication(&amqp.PlainAuth{Username: o.User, Password: o.Password})
	if o.External {
		login = &amqp.ExternalAuth{}
	}
	heartbeat := o.Heartbeat
	if heartbeat == 0 {
		heartbeat = 24 * time.Hour // the library takes less than a second for the broker's interval
	}
	return amqp.Config{
		SASL: []amqp.Authentication{login}, Vhost: o.VHost, FrameSize: o.FrameMax, Heartbeat: heartbeat,
		Properties: amqp.Table{"product": "sixnines", "connection_name": o.Name},
	}
}

// libraryConnection is one of amqp091-go's.
type libraryConnection struct {
	conn     *amqp.Connection
	net      kit.Conn
	link     *link
	channels sync.WaitGroup // goroutines that their handlers are called on
	done     chan struct{}
	err      error
}

// openLibrary logs in over c.
func openLibrary(c kit.Conn, l *link) (*libraryConnection, error) {
	conn, err := amqp.Open(c, l.session.libraryConfig(l.key.String()))
	if err != nil {
		return nil, err
	}
	lc := &libraryConnection{conn: conn, net: c, link: l, done: make(chan struct{})}
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 1))
	go func() {
		for b := range blocked {
			l.block(b.Reason, b.Active)
		}
	}()
	go func() {
		lc.err = libraryEnd(<-closed)
		c.Close()
		lc.channels.Wait()
		close(lc.done)
	}()
	return lc, nil
}

// libraryEnd is why something ended. The library says nothing of what was closed
// on purpose.
func libraryEnd(err *amqp.Error) error {
	if err == nil {
		return rabbit.ErrClosed
	}
	return err
}

// guard ends the connection if ctx ends before the function that it returns is
// called: the library knows no contexts.
func (lc *libraryConnection) guard(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() { lc.net.Close() })
}

func (lc *libraryConnection) open(ctx context.Context, h wire.Handler) (channel, error) {
	defer lc.guard(ctx)()
	ch, err := lc.conn.Channel()
	if err != nil {
		return nil, err
	}
	c := &libraryChannel{Channel: ch, conn: lc, handler: h}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	// Without room in them, and taken by one goroutine, both come in the order in
	// which the broker wrote them.
	returns := ch.NotifyReturn(make(chan amqp.Return))
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation))
	lc.channels.Go(func() {
		for returns != nil || confirms != nil {
			select {
			case r, ok := <-returns:
				if !ok {
					returns = nil
					continue
				}
				h.Return(wire.Returned{Code: r.ReplyCode, Text: r.ReplyText, Body: r.Body})
				lc.link.report()
			case f, ok := <-confirms:
				if !ok {
					confirms = nil
					continue
				}
				h.Confirm(f.DeliveryTag, false, f.Ack)
			}
		}
		h.End(libraryEnd(<-closed))
	})
	return c, nil
}

// Flush implements connection: the library writes at once.
func (lc *libraryConnection) Flush() error { return nil }

func (lc *libraryConnection) Close(ctx context.Context) {
	stop := lc.guard(ctx)
	defer stop()
	go lc.conn.Close() // waits for a writer that is stuck
	<-lc.done
}

func (lc *libraryConnection) Done() <-chan struct{} { return lc.done }
func (lc *libraryConnection) Err() error            { return lc.err }

// libraryChannel is one of amqp091-go's.
type libraryChannel struct {
	*amqp.Channel
	conn    *libraryConnection
	handler wire.Handler
}

func (c *libraryChannel) Confirm(ctx context.Context) error {
	defer c.conn.guard(ctx)()
	return c.Channel.Confirm(false)
}

func (c *libraryChannel) Transact(ctx context.Context) error {
	defer c.conn.guard(ctx)()
	return c.Channel.Tx()
}

func (c *libraryChannel) Commit(ctx context.Context) error {
	defer c.conn.guard(ctx)()
	return c.Channel.TxCommit()
}

func (c *libraryChannel) Prefetch(ctx context.Context, count uint16) error {
	defer c.conn.guard(ctx)()
	return c.Channel.Qos(int(count), 0, false)
}

func (c *libraryChannel) Consume(ctx context.Context, queue string, number uint16, noAck bool, args wire.Table) error {
	defer c.conn.guard(ctx)()
	deliveries, err := c.Channel.Consume(queue, strconv.Itoa(int(number)), noAck, false, false, false, libraryTable(args))
	if err != nil {
		return err
	}
	cancelled := c.Channel.NotifyCancel(make(chan string, 1))
	c.conn.channels.Go(func() {
		for d := range deliveries {
			c.handler.Deliver(wire.Delivery{Consumer: number, Tag: d.DeliveryTag, Redelivered: d.Redelivered, Body: d.Body,
				Properties: wire.Received(d.Headers, d.ReplyTo)})
		}
		select {
		case tag, ok := <-cancelled:
			if ok {
				c.conn.link.ended(&wire.Error{Code: notFound, Text: "consumer " + tag + " was cancelled: its queue is gone"})
			}
		default:
		}
	})
	return nil
}

// Prepare implements channel.
func (c *libraryChannel) Prepare(p *wire.Prepared, e wire.Envelope) { p.Envelope = e }

// Publish implements channel.
func (c *libraryChannel) Publish(p *wire.Prepared, body []byte) error {
	e := &p.Envelope
	m := amqp.Publishing{DeliveryMode: amqp.Transient, ReplyTo: e.ReplyTo, Body: body}
	if e.Persistent {
		m.DeliveryMode = amqp.Persistent
	}
	if e.Headers != nil {
		m.Headers = libraryTable(e.Headers)
	}
	return c.Channel.PublishWithContext(context.Background(), e.Exchange, e.Key, e.Mandatory, e.Immediate, m)
}

func (c *libraryChannel) Ack(tag uint64, multiple, _ bool) error {
	return c.Channel.Ack(tag, multiple)
}

func (c *libraryChannel) Close(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- c.Channel.Close() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // the connection ends next
		return context.Cause(ctx)
	}
}

// libraryTable is the same table for the library.
func libraryTable(t wire.Table) amqp.Table {
	out := amqp.Table{}
	for name, value := range t {
		if in, ok := value.(wire.Table); ok {
			value = libraryTable(in)
		}
		out[name] = value
	}
	return out
}
