package all_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// watched is a driver whose connections, messages and events are counted.
type watched struct {
	driver.Driver
	ack driver.AckKind // with its options

	done atomic.Int64 // messages that are done
	at   chan int64   // gets how many, once that is `from`
	from atomic.Int64

	mu     sync.Mutex
	dials  int // connections that were made
	conns  []net.Conn
	locked bool
	after  int // of them, since locked
	heard  []error
	gone   int // events of kind GivenUp
}

// Open implements driver.Driver.
func (w *watched) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	dial, notify := t.Dial, t.Notify
	t.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.dials++
			w.conns = append(w.conns, c)
		}
		if w.locked {
			w.after++
		}
		return c, err
	}
	t.Notify = func(e driver.Event) {
		w.hear(e.Err)
		if e.Kind == driver.GivenUp {
			w.mu.Lock()
			w.gone++
			w.mu.Unlock()
		}
		notify(e)
	}
	s, err := w.Driver.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return watchedSession{s, w}, nil
}

func (w *watched) hear(err error) {
	if errors.Is(err, driver.ErrUnauthorized) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.heard = append(w.heard, err)
	}
}

// hasHeard reports of how many refusals the driver has told, and how many connections it
// has given up.
func (w *watched) hasHeard() (refusals, gone int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.heard), w.gone
}

// cut closes all connections, and counts those that are made from now on.
func (w *watched) cut() {
	w.mu.Lock()
	conns := w.conns
	w.conns, w.locked = nil, true
	w.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
}

// logins returns how many connections have been made since cut.
func (w *watched) logins() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.after
}

// watchedSession has all that sessions may have beside.
type watchedSession struct {
	driver.Session
	w *watched
}

func (s watchedSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	return s.Session.Producer(ctx, spec, watchedAcks{acks, s.w})
}

// Requester and Responder implement driver.RequestReplier.
func (s watchedSession) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	return s.Session.(driver.RequestReplier).Requester(ctx, spec, watchedAcks{acks, s.w}, replies)
}

func (s watchedSession) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.Session.(driver.RequestReplier).Responder(ctx, spec, respond)
}

// Depth implements driver.DepthTeller.
func (s watchedSession) Depth(ctx context.Context, topic string, c driver.ConsumerSpec) (driver.Depth, error) {
	if d, ok := s.Session.(driver.DepthTeller); ok {
		return d.Depth(ctx, topic, c)
	}
	return driver.Depth{}, driver.ErrUnsupported
}

// watchedAcks counts what is done.
type watchedAcks struct {
	driver.Acks
	w *watched
}

// Done implements driver.Acks.
func (a watchedAcks) Done(token uint64, err error) {
	a.Acks.Done(token, err)
	a.w.hear(err)
	if n := a.w.done.Add(1); n == a.w.from.Load() {
		a.w.at <- n // it has room
	}
}
