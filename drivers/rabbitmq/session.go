package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// session implements driver.Session and driver.RequestReplier.
type session struct {
	*rabbit.Broker

	options  Options
	admin    admin
	links    *kit.Pool[kit.Key, *link]
	topology *topology
	tried    atomic.Int64 // largest payload in bytes that the broker is known to take, or that is not tried
	// blocked, if not nil, gives up what is tried on the connection that declares,
	// which the broker no longer reads.
	blocked atomic.Pointer[context.CancelCauseFunc]

	mu      sync.Mutex
	senders map[senderKey]*sender
	sharing map[string]int // consumers by queue, where there can be but one
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	if o.QueueType == stream && o.Prefetch == 0 {
		o.Prefetch = streamPrefetch
	}
	s := &session{options: o, senders: map[senderKey]*sender{}, sharing: map[string]int{}}
	var err error
	if s.Broker, err = rabbit.NewBroker(protocol(), t, o.Config(o.FrameMax, t.Batch)); err != nil {
		return nil, err
	}
	s.links = kit.NewPool(product,
		func(ctx context.Context, key kit.Key) (*link, error) { return newLink(ctx, s, key) },
		func(ctx context.Context, l *link) { l.Close(ctx) })
	s.admin = newAdmin(s)
	s.topology = &topology{options: &s.options, target: t}
	return s, nil
}

// reach connects the connection to declare and delete with, beside those of producers
// and consumers.
func (s *session) reach(ctx context.Context) error { return s.admin.Start(ctx) }

// refusals says how producers learn of refusals: the broker closes the channel on
// which it refuses something.
func (s *session) refusals() driver.Refusals {
	if !s.options.Confirms && s.options.Transaction == 0 {
		return driver.RefusalsReported
	}
	return driver.RefusalsAnswered
}

// Destinations implements driver.DestinationNamer: the queues of groups, and of consumers on their own
// that are connected.
func (s *session) Destinations() []driver.Destination { return s.topology.destinations() }

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.checkHeaders(t.Headers); err != nil {
		return driver.Semantics{}, err
	}
	if err := s.topology.plan(t); err != nil {
		return driver.Semantics{}, err
	}
	if err := s.admin.do(ctx, func(ch *wire.Channel) error { return s.topology.declare(ctx, ch) }); err != nil {
		return driver.Semantics{}, wrap(err, "provision")
	}
	if err := s.checkSize(ctx, t.MaxSize); err != nil {
		return driver.Semantics{}, err
	}
	return s.semantics(), nil
}

// checkHeaders refuses headers that do not fit into a frame, or that the exchange
// routes by.
func (s *session) checkHeaders(headers []driver.Header) error {
	const each, rest = 6, 640 // bytes around a header and around them all, at most
	size := rest + kit.HeaderBytes(headers) + each*len(headers)
	if limit := s.admin.Latest().FrameMax; len(headers) > 0 && size > limit {
		return fmt.Errorf("rabbitmq: headers of %d bytes: %w: a frame has %d, see option frame_max", kit.HeaderBytes(headers), driver.ErrTooLarge, limit)
	}
	if s.options.Exchange == "headers" && slices.ContainsFunc(headers, func(h driver.Header) bool { return h.Name == "topic" }) {
		return fmt.Errorf("rabbitmq: a header called topic: %w: by that the headers exchange finds the queues; choose another exchange or name", driver.ErrOption)
	}
	return nil
}

// checkSize publishes a message as large as they get, to nowhere: the broker
// does not tell its limit, but closes the channel of who exceeds it.
func (s *session) checkSize(ctx context.Context, size int) error {
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	err := s.admin.do(ctx, func(ch *wire.Channel) error {
		s.blocked.Store(&give)
		defer s.blocked.Store(nil)
		var nowhere wire.Prepared
		ch.Prepare(&nowhere, wire.Envelope{Key: s.topology.prefix() + "//nowhere", Immediate: s.options.Immediate})
		if err := ch.Publish(&nowhere, make([]byte, size)); err != nil {
			return err
		}
		return ch.Prefetch(ctx, 0) // whose answer comes after the broker's opinion
	})
	if err != nil {
		if why := context.Cause(ctx); errors.Is(why, driver.ErrThrottled) {
			err = why
		}
		if !errors.Is(s.ClassOf(err), driver.ErrForbidden) {
			return wrap(err, "try a payload of %d bytes", size)
		}
		// The user may not publish by queues' names, which nothing else needs. He would be refused again.
		size = math.MaxInt
	}
	s.tried.Store(max(s.tried.Load(), int64(size)))
	return nil
}

// Deprovision implements driver.Session. Of a session that has closed it opens another.
func (s *session) Deprovision(ctx context.Context) error {
	queues, exchanges := s.topology.left()
	if len(queues)+len(exchanges) == 0 {
		return nil
	}
	to := s
	if s.Closed() {
		var err error
		if to, err = newSession(s.Target, s.options); err != nil {
			return err
		}
		defer to.Close(ctx)
		if err = to.reach(ctx); err != nil {
			return errors.Join(append(driver.LeaveAll(err, "queue", queues), driver.LeaveAll(err, "exchange", exchanges)...)...)
		}
	}
	return s.topology.delete(ctx, to.admin, queues, exchanges)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Base.Close(ctx, s.links.Close, func(ctx context.Context) { _ = s.admin.Close(ctx) })
}

// restore declares again what a broker without a memory has forgotten.
func (s *session) restore(ctx context.Context) error {
	return s.admin.do(ctx, func(ch *wire.Channel) error { return s.topology.declare(ctx, ch) })
}

// connection is one by either client.
type connection interface {
	open(ctx context.Context, h wire.Handler) (channel, error)
	rabbit.Conn
	Flush() error
}

// channel is one by either client, see wire.Channel.
type channel interface {
	Confirm(ctx context.Context) error
	Transact(ctx context.Context) error
	Commit(ctx context.Context) error
	Prefetch(ctx context.Context, count uint16) error
	Consume(ctx context.Context, queue string, number uint16, noAck bool, args wire.Table) error
	Prepare(p *wire.Prepared, e wire.Envelope)
	Publish(p *wire.Prepared, body []byte) error
	Ack(tag uint64, multiple, now bool) error
	Close(ctx context.Context) error
}

// directConnection is one of our own.
type directConnection struct{ *wire.Conn }

func (c directConnection) open(ctx context.Context, h wire.Handler) (channel, error) {
	ch, err := c.Channel(ctx, h)
	if err != nil {
		return nil, err
	}
	return ch, nil
}
