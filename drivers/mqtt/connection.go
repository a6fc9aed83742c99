package mqtt

import (
	"context"
	"sync/atomic"

	"sixnines/driver"
)

// connection is a network connection by either client, from the login until it
// breaks. Its methods may be called by several goroutines.
type connection interface {
	publisher
	subscriber
	limits() *greeting // what the broker said at the login
	// run returns when the connection has broken, with the reason.
	run() error
	// shut ends the connection, and with why each message that is in flight. No
	// message is delivered any more when it returns. It is called once.
	shut(why error)
	// leave says goodbye and closes. It takes little longer than closeTimeout, whatever
	// state the broker is in.
	leave()
}

// publisher is the half of a connection that producers use.
type publisher interface {
	// send is Send of driver.Producer. An error says that the message has not been
	// sent and never will be.
	send(p *producer, token uint64, payload []byte) error
	// sync returns when the broker has read what was sent before and, if all is true,
	// has acknowledged it. A write in it may take longer than ctx.
	sync(ctx context.Context, all bool) error
}

// subscriber is the half of a connection that a consumer uses.
type subscriber interface {
	// subscribe returns when the broker has granted the subscriptions. Messages may
	// be delivered before.
	subscribe(ctx context.Context, c *consumer) error
	// unsubscribe asks the broker to end the subscriptions, and has c.leave called when
	// what came before the answer is delivered and acknowledged. False: it cannot ask.
	unsubscribe(c *consumer) bool
}

// entry is a message in flight.
type entry struct {
	acks  driver.Acks // nil: none
	token uint64
}

// tally counts a connection's messages in flight. The lock of its owner guards it.
type tally struct {
	n       int
	emptied chan struct{} // closed when there are none; nil: nobody waits
}

func (t *tally) remove() {
	if t.n--; t.n == 0 {
		t.clear()
	}
}

func (t *tally) clear() {
	t.n = 0
	if t.emptied != nil {
		close(t.emptied)
		t.emptied = nil
	}
}

// empty returns what is closed when nothing is in flight, nil if nothing is.
func (t *tally) empty() <-chan struct{} {
	if t.n == 0 {
		return nil
	}
	if t.emptied == nil {
		t.emptied = make(chan struct{})
	}
	return t.emptied
}

// aliases numbers topics on one connection.
type aliases struct {
	most int // how many the broker takes
	used atomic.Int64
}

// next returns a number that is free, 0 if there is none.
func (a *aliases) next() uint16 {
	if n := a.used.Add(1); n <= int64(a.most) {
		return uint16(n)
	}
	return 0
}
