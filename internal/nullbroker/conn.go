package nullbroker

import (
	"errors"
	"fmt"
	"net"
	"time"

	"sixnines/internal/clock"
)

// The limits of a connection. They are far above what a run uses.
const (
	handlesMost       = 1 << 16
	subscriptionsMost = 1 << 16
	// readFirst is the size of the read buffer in bytes; it grows with the frames
	// that it has to hold, but not before they come.
	readFirst = 64 << 10
	// helloLimit is how long a client may take to introduce itself.
	helloLimit = 30 * time.Second
)

// conn is a client's connection. All but its sender belongs to the goroutine
// that serves it.
type conn struct {
	broker  *Broker
	net     net.Conn
	out     *sender
	greeted bool

	handles       []*topic
	subscriptions map[uint32]*subscription

	arrived   int64   // when what is being handled had been read, if anybody wants to know
	strange   uint64  // counts messages without an envelope
	touched   senders // to be flushed
	immediate message // the one that is not held back
}

func newConn(b *Broker, c net.Conn) *conn {
	return &conn{broker: b, net: c, out: newSender(c), subscriptions: map[uint32]*subscription{}}
}

// serve reads until the connection ends.
func (c *conn) serve() {
	err := c.read()
	if errors.Is(err, ErrProtocol) {
		c.out.refuse(err)
	}
	c.out.finish()
	for _, s := range c.subscriptions {
		c.broker.unsubscribe(s)
	}
	for _, t := range c.handles {
		c.broker.release(t)
	}
}

func (c *conn) read() error {
	if err := c.net.SetReadDeadline(time.Now().Add(helloLimit)); err != nil {
		return err
	}
	buf := make([]byte, readFirst)
	start, end := 0, 0
	var f Frame // one for all: it escapes
	stamps := c.broker.log != nil || c.broker.held != nil
	for {
		n, err := c.net.Read(buf[end:])
		if stamps {
			c.arrived = clock.Now()
		}
		end += n
		need := 0
		for start < end {
			next, size, missing, wrong := Decode(buf[start:end])
			f = next
			if wrong == nil && size > 0 {
				wrong = c.handle(&f)
			}
			if wrong != nil {
				c.touched.flush()
				return wrong
			}
			if size == 0 {
				need = missing
				break
			}
			start += size
		}
		c.touched.flush()
		if err != nil {
			return err
		}
		if start == end {
			start, end = 0, 0
			continue
		}
		if start > 0 && (end == len(buf) || start+need > len(buf)) {
			end = copy(buf, buf[start:end])
			start = 0
		}
		if end == len(buf) { // and need is more
			// The room of a frame grows with what has come of it, not with what it
			// claims to be.
			buf = append(make([]byte, 0, min(need, 2*len(buf))), buf...)
			buf = buf[:cap(buf)]
		}
	}
}

// handle does what a frame asks for.
func (c *conn) handle(f *Frame) error {
	if !c.greeted {
		if f.Op != OpHello {
			return fmt.Errorf("%w: a client begins with a hello, not with %q", ErrProtocol, byte(f.Op))
		}
		c.greeted = true
		c.out.welcome(c.broker.config.welcome())
		c.touched.add(c.out)
		return c.net.SetReadDeadline(time.Time{})
	}
	switch f.Op {
	case OpPublish:
		return c.publish(f, f.Number, 0, false)
	case OpConfirmed:
		return c.publish(f, f.Number, f.Second, true)
	case OpTopic:
		if int64(f.Second) != int64(len(c.handles)) || f.Second >= handlesMost {
			return fmt.Errorf("%w: handle %d; the next is %d, of %d at most", ErrProtocol, f.Second, len(c.handles), handlesMost)
		}
		c.handles = append(c.handles, c.broker.topic(f.Name))
	case OpSubscribe:
		if s := c.subscriptions[f.Second]; s != nil && s.topic.name == string(f.Name) && s.group == string(f.Group) {
			break // a client that connects again may not know what it has said before
		} else if s != nil || len(c.subscriptions) >= subscriptionsMost {
			return fmt.Errorf("%w: subscription %d is another, or there are too many", ErrProtocol, f.Second)
		}
		s := &subscription{number: f.Second, group: string(f.Group), topic: c.broker.topic(f.Name), out: c.out}
		c.subscriptions[f.Second] = s
		c.broker.subscribe(s)
	case OpUnsubscribe:
		s := c.subscriptions[f.Second]
		if s == nil {
			return fmt.Errorf("%w: there is no subscription %d", ErrProtocol, f.Second)
		}
		delete(c.subscriptions, f.Second)
		c.broker.unsubscribe(s)
	case OpPing:
	default:
		return fmt.Errorf("%w: %q is nothing that a client says", ErrProtocol, byte(f.Op))
	}
	c.out.done(f.Number)
	c.touched.add(c.out)
	return nil
}

// publish forwards a message, or hands it to the delayer.
func (c *conn) publish(f *Frame, handle, number uint32, confirm bool) error {
	if int64(handle) >= int64(len(c.handles)) {
		return fmt.Errorf("%w: handle %d was not declared", ErrProtocol, handle)
	}
	m := &c.immediate
	*m = message{topic: c.handles[handle], tail: f.Tail, from: c.out, number: number, confirm: confirm}
	m.entry.Received = c.arrived
	due := c.arrived
	if c.broker.log != nil || c.broker.held != nil {
		m.entry.identify(f.Payload)
		if m.entry.Kind == noEnvelope {
			m.entry.Stream, m.entry.Sequence = handle, c.strange
			c.strange++
		}
		due = c.broker.table.Due(&m.entry)
		m.entry.Planned = due - c.arrived
	}
	// What a server is done with at once must not overtake what is held.
	if due == c.arrived && !c.broker.table.queues {
		c.broker.forward(m, &c.touched)
		return nil
	}
	// What is already in senders must not wait behind a holder that is full.
	if !c.broker.held.add(m, due) {
		c.touched.flush()
		c.broker.held.addLater(m, due)
	}
	return nil
}
