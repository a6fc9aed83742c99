package nsq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// publisher is a sender by go-nsq's Producer, which has one connection after the
// other and writes on a goroutine of its own. The results of its transactions come by
// one channel to one goroutine.
//
// A Producer connects when it is next asked to publish. It is asked to ping instead,
// so that no Send waits for a connection.
type publisher struct {
	session *session
	key     kit.Key
	client  *nsq.Producer
	life    context.Context // ends with the publisher
	cancel  context.CancelFunc

	done  chan *nsq.ProducerTransaction // results; a nil one: a connection has ended, and all its results came before
	last  *nsq.ProducerTransaction      // sent on done when the Producer has stopped
	ended chan struct{}                 // closed when all results from done are resolved

	live    atomic.Pointer[route]
	closing atomic.Bool
	why     atomic.Pointer[string] // the last failure of a connection
	refused atomic.Pointer[error]  // why the publisher does not connect any more
	open    atomic.Int64           // messages without a result
	emptied atomic.Pointer[chan struct{}]

	mu    sync.Mutex // guards the fields below; held while a batch is passed to the Producer
	topic string     // of the batch
	batch *batch
	size  int // of the batch, as an MPUB has it
	hold  kit.BatchTimer
	spare chan *batch // batches for reuse
}

// route is a publisher while it has one connection.
type route struct{ *publisher }

// over implements connection.
func (r *route) over() bool { return r.live.Load() != r }

// batch is the messages of an MPUB.
type batch struct {
	bodies  [][]byte
	entries []entry
}

// entry is a message that waits for nsqd's answer.
type entry struct {
	acks  driver.Acks
	token uint64
}

var (
	errLost  = fmt.Errorf("nsq: %w: the connection was lost before nsqd had answered", driver.ErrTimeout)
	errEnded = fmt.Errorf("nsq: %w before nsqd had answered", driver.ErrClosed)
)

// The capacities of done and of spare.
const (
	resultsMost = 1024
	spareMost   = 4
)

// publisher makes a Producer and connects it.
func (s *session) publisher(ctx context.Context, key kit.Key) (*publisher, error) {
	client, err := nsq.NewProducer(s.server().Address, s.libraryConfig(key))
	if err != nil {
		return nil, fmt.Errorf("nsq: go-nsq: %w: %w", driver.ErrOption, err)
	}
	p := &publisher{session: s, key: key, client: client, batch: &batch{}, spare: make(chan *batch, spareMost),
		done: make(chan *nsq.ProducerTransaction, resultsMost), last: &nsq.ProducerTransaction{}, ended: make(chan struct{})}
	p.life, p.cancel = context.WithCancel(s.Life)
	p.hold = kit.NewBatchTimer(&p.mu, func() { _ = p.flushLocked() }) // an error resolves the batch's messages
	client.SetLogger(journal(p.hear), nsq.LogLevelInfo)
	go p.resolve()
	if err := s.await(ctx, client.Ping, p.stop); err != nil {
		return nil, wrap(err, "connect to %s", s.server().Address)
	}
	p.live.Store(&route{p})
	return p, nil
}

// current implements sender.
func (p *publisher) current() connection {
	if r := p.live.Load(); r != nil {
		return r
	}
	return nil
}

// Absent implements sender.
func (p *publisher) Absent() error {
	if why := p.refused.Load(); why != nil {
		return *why
	}
	return driver.ErrNotConnected
}

// ending implements sender.
func (p *publisher) ending() bool { return p.closing.Load() }

// publish implements connection. go-nsq keeps the payload, and does not read it any
// more when it gives the result.
func (p *publisher) publish(by *producer, token uint64, payload []byte) error {
	p.open.Add(1)
	err := p.give(by, token, payload)
	if err != nil {
		p.resolved(1)
	}
	return err
}

func (p *publisher) give(by *producer, token uint64, payload []byte) error {
	most := p.session.writeBuffer
	if most <= 1 {
		return given(p.client.PublishAsync(by.topic, payload, p.done, by, token))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.topic != by.topic || p.size+4+len(payload) > most {
		if err := p.flushLocked(); err != nil {
			return err
		}
		p.topic = by.topic
	}
	p.batch.bodies = append(p.batch.bodies, payload)
	p.batch.entries = append(p.batch.entries, entry{acks: by.acks, token: token})
	if p.size += 4 + len(payload); p.size >= most {
		_ = p.flushLocked() // an error resolves the message
		return nil
	}
	p.hold.Hold()
	return nil
}

// given is the error of a command that go-nsq has not taken.
func given(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nsq.ErrStopped):
		return driver.ErrClosed
	}
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
}

// flushBatch implements connection.
func (p *publisher) flushBatch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flushLocked()
}

// flushLocked gives the batch to the Producer, which copies the messages. Whatever
// happens, each of them is resolved.
func (p *publisher) flushLocked() error {
	b := p.batch
	if len(b.entries) == 0 {
		return nil
	}
	select {
	case p.batch = <-p.spare:
	default:
		p.batch = &batch{}
	}
	p.size = 0
	p.hold.Emptied()
	err := given(p.client.MultiPublishAsync(p.topic, b.bodies, p.done, b))
	switch {
	case err == nil:
	case errors.Is(err, driver.ErrClosed):
		p.settle(b, errEnded)
	default:
		p.settle(b, errUnsent)
	}
	return err
}

// resolve takes the results until the Producer has stopped.
func (p *publisher) resolve() {
	defer close(p.ended)
	for t := range p.done {
		switch t {
		case p.last:
			return
		case nil:
			p.lost()
		default:
			p.result(t)
		}
	}
}

// result resolves the message or batch of a transaction.
func (p *publisher) result(t *nsq.ProducerTransaction) {
	var err error
	if t.Error != nil {
		err = p.failure(t.Error)
	}
	switch of := t.Args[0].(type) {
	case *producer:
		of.acks.Done(t.Args[1].(uint64), err)
		p.resolved(1)
	case *batch:
		p.settle(of, err)
	}
}

// failure is the error of a transaction. Of those that end with their connection
// go-nsq does not tell which were written.
func (p *publisher) failure(err error) error {
	var said nsq.ErrProtocol
	switch {
	case errors.As(err, &said):
		return fmt.Errorf("nsq: publish: %w", refusal(said.Reason))
	case p.closing.Load():
		return errEnded
	}
	p.live.Store(nil)
	return errLost
}

// settle resolves the messages of a batch.
func (p *publisher) settle(b *batch, err error) {
	n := len(b.entries)
	for _, e := range b.entries {
		e.acks.Done(e.token, err)
	}
	clear(b.bodies)
	clear(b.entries)
	b.bodies, b.entries = b.bodies[:0], b.entries[:0]
	select {
	case p.spare <- b:
	default:
	}
	p.resolved(n)
}

// resolved counts messages that have a result, and tells those that wait for all.
func (p *publisher) resolved(n int) {
	if p.open.Add(-int64(n)) == 0 && p.emptied.Load() != nil {
		p.tellEmpty()
	}
}

func (p *publisher) tellEmpty() {
	if waiting := p.emptied.Swap(nil); waiting != nil {
		close(*waiting)
	}
}

// empty implements connection.
func (p *publisher) empty() <-chan struct{} {
	fresh := make(chan struct{})
	p.emptied.CompareAndSwap(nil, &fresh) // if it is not nil, another goroutine waits already
	waiting := p.emptied.Load()
	if p.open.Load() == 0 { // it became 0 before emptied was set, so that no signal follows
		p.tellEmpty()
		return nil
	}
	if waiting == nil { // it was empty for a moment
		return nil
	}
	return *waiting
}

// hear learns from the log of connections that end.
func (p *publisher) hear(text string) {
	if _, why, ok := strings.Cut(text, logBroken); ok {
		p.why.Store(&why)
	} else if strings.HasSuffix(text, logUnrouted) {
		p.done <- nil
	}
}

// lost reports that a connection has ended, and sees to the next.
func (p *publisher) lost() {
	p.live.Store(nil)
	if p.closing.Load() {
		return
	}
	why := "the connection has ended"
	if w := p.why.Swap(nil); w != nil {
		why = *w
	}
	p.emit(driver.Disconnected, why, nil)
	go p.again()
}

// again connects until that succeeds, or the publisher ends.
func (p *publisher) again() {
	_, err := kit.Reconnect(p.life, p.session.options.ReconnectWait, new(kit.Refusals), func(context.Context) (struct{}, error) {
		if err := p.client.Ping(); err != nil {
			return struct{}{}, wrap(err, "connect to %s", p.session.server().Address)
		}
		return struct{}{}, nil
	}, func(err error) { p.emit(driver.AsyncError, "reconnect: "+err.Error(), err) })
	switch {
	case err == nil:
		p.live.Store(&route{p})
		p.emit(driver.Reconnected, "", nil)
	case errors.Is(err, driver.ErrUnauthorized):
		gone := fmt.Errorf("given up: %w", err)
		p.refused.Store(&gone)
		p.emit(driver.GivenUp, err.Error(), err)
	}
}

func (p *publisher) emit(kind driver.EventKind, detail string, err error) {
	if p.closing.Load() {
		return
	}
	p.session.emit(kind, p.key, detail, err)
}

// close implements sender. A Producer that is stopped before it has all answers may
// leave goroutines behind: one would hand an answer to another that has ended.
func (p *publisher) close(ctx context.Context) error {
	p.closing.Store(true)
	if empty := p.empty(); empty != nil {
		patience := time.NewTimer(closeTimeout)
		defer patience.Stop()
		select {
		case <-empty:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	go p.stop()
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nsq: close %s: %w: %w", p.key, driver.ErrTimeout, context.Cause(ctx))
	}
}

// stop ends the connection and resolves what is left. It waits for a connection that
// is being made.
func (p *publisher) stop() {
	p.closing.Store(true)
	p.cancel()
	p.client.Stop()
	p.done <- p.last
}
