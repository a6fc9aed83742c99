package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	link    *natswire.Link
	stream  stream
	out     *natswire.Publisher
	pending *pending // nil: there are no acknowledgements, or async has them
	async   *async   // publishes, where the library is to; else nil
	acks    driver.Acks
	closed  atomic.Bool

	inbox        string
	gate         *natswire.Gate
	subscription natswire.Subscription
	forget       func() // ends watching the link
	refusals     map[int]error
	header       []byte // of every message, up to its id if it has one; nil: none
	numbered     bool   // it has
	sent         uint64
	ending       sync.Once
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	st, err := streamOf(s.run, spec.Topic)
	if err != nil {
		return nil, err
	}
	if err := s.checkSize(spec.Size, spec.Headers); err != nil {
		return nil, err
	}
	l, err := s.client.Acquire(ctx, natswire.Key{Role: natswire.RoleProducer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, link: l, stream: st, out: natswire.NewPublisher(l), acks: acks, refusals: map[int]error{}}
	switch {
	case !s.options.Acknowledge:
		p.out.Carry(spec.Headers)
		p.out.Address(st.subject, "")
	case s.options.Client == natswire.Library:
		p.async, err = newAsync(p, spec)
	default:
		err = p.listen(ctx, spec)
	}
	if err == nil && !s.keepProducer(p) {
		err = fmt.Errorf("%s: connect a producer: session %w", product, driver.ErrClosed)
	}
	if err != nil {
		p.Close(ctx)
		return nil, err
	}
	if l.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

// keepProducer lets the session's Close end p, unless the session is over.
func (s *session) keepProducer(p *producer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.Closed() {
		return false
	}
	s.producers[p] = struct{}{}
	return true
}

// listen subscribes to the inbox that acknowledgements come to.
func (p *producer) listen(ctx context.Context, spec driver.ProducerSpec) error {
	s := p.session
	p.pending = newPending(p.acks, s.inFlight())
	p.inbox = s.inbox()
	if p.numbered = s.options.MessageID; p.numbered {
		p.header = fmt.Appendf(natswire.AppendHeaders(nil, spec.Headers), "Nats-Msg-Id: %s-%d-", s.run, spec.ID)
	} else if len(spec.Headers) > 0 {
		p.header = append(natswire.AppendHeaders(nil, spec.Headers), "\r\n"...)
	}
	p.out.AddressTagged(p.stream.subject, p.inbox, p.header != nil)
	p.gate = natswire.NewGate(p.answered)
	var err error
	if p.subscription, err = p.link.Subscribe(p.inbox+".*", "", "", p.gate, p.received); err != nil {
		return wrap(err, "subscribe to acknowledgements")
	}
	if err := p.subscription.SetPendingLimits(-1, -1); err != nil {
		return wrap(err, "lift the limits of the acknowledgements")
	}
	if err := p.link.Flush(ctx); err != nil {
		return wrap(err, "subscribe to acknowledgements")
	}
	if last := p.link.Conn().LastError(); errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), p.inbox) {
		return wrap(last, "subscribe to acknowledgements")
	}
	p.forget = p.link.Watch(func(up bool) {
		if !up {
			p.pending.fail(errLost, 0)
		}
	})
	return nil
}

// headerRoom is how many bytes the headers of a message may take.
func headerRoom(o Options, headers []driver.Header) int {
	room := natswire.HeaderSize(headers)
	if o.MessageID {
		room += 128
	}
	return room
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if p.async != nil {
		return p.async.send(token, payload)
	}
	if p.pending == nil {
		if err := p.out.Publish(payload); err != nil {
			return p.sendError(err)
		}
		p.acks.Done(token, nil)
		return nil
	}
	if p.pending.full() { // what it waits for must be on its way
		if err := p.link.FlushBatch(); err != nil {
			return p.sendError(err)
		}
	}
	tag, err := p.pending.add(token)
	if err != nil {
		return p.sendError(err)
	}
	header := p.header
	if p.numbered {
		p.sent++
		header = append(strconv.AppendUint(p.header, p.sent, 10), "\r\n\r\n"...)
		p.header = header[:len(p.header)] // keeps the room that was made
	}
	err = p.out.PublishTagged(tag, header, payload)
	if lost := p.pending.sending.End(tag); lost != nil {
		p.acks.Done(token, lost)
		return nil
	}
	if err != nil {
		if _, waits := p.pending.take(tag); !waits {
			return nil // it has been resolved with its connection
		}
		return p.sendError(err)
	}
	return nil
}

func (p *producer) sendError(err error) error {
	if p.link.Closing() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	}
	return wrap(err, "send to %q", p.stream.subject)
}

// received takes what comes by the client.
func (p *producer) received(m *nats.Msg) {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		if tag, ok := natswire.ParseTag([]byte(m.Subject), len(p.inbox)); ok {
			p.pending.done(tag, errNobody)
		}
		return
	}
	p.gate.Deliver([]byte(m.Subject), m.Data, nil)
}

// errNobody is what becomes of messages that no stream takes.
var errNobody = fmt.Errorf("%s: no stream takes it, or its servers have no leader: %w", product, driver.ErrRejected)

// accepted is what an acknowledgement begins with.
const accepted = `{"stream":`

// answered takes the server's answer to a publish.
func (p *producer) answered(subject, payload, _ []byte) {
	tag, ok := natswire.ParseTag(subject, len(p.inbox))
	if !ok {
		return
	}
	if len(payload) > len(accepted) && string(payload[:len(accepted)]) == accepted {
		p.pending.done(tag, nil)
		return
	}
	p.pending.done(tag, p.refusal(payload))
}

// refusal reads an answer that is no plain acknowledgement.
func (p *producer) refusal(payload []byte) error {
	var answer struct {
		Error  *refusal `json:"error"`
		Stream string   `json:"stream"`
	}
	if err := json.Unmarshal(payload, &answer); err != nil {
		return fmt.Errorf("%s: the server answers %.80q: %w", product, payload, driver.ErrRejected)
	}
	if answer.Error == nil {
		if answer.Stream == "" {
			return fmt.Errorf("%s: the server answers %.80q: %w", product, payload, driver.ErrRejected)
		}
		return nil
	}
	return p.refused(answer.Error)
}

// refused is the error of a message that the server refuses. One of a kind is made
// once: under overload every message has one. One goroutine calls it.
func (p *producer) refused(r *refusal) error {
	key := r.Code<<16 | r.ErrCode
	err, known := p.refusals[key]
	if !known {
		err = wrap(r, "send to %q", p.stream.subject)
		p.refusals[key] = err
	}
	return err
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.link.Flush(ctx); err != nil {
		return wrap(err, "wait for the server to have read what was sent to %q", p.stream.subject)
	}
	return nil
}

// batching is a producer that implements driver.Flusher as well.
type batching struct{ *producer }

// Flush implements driver.Flusher.
func (p batching) Flush() error {
	if p.closed.Load() {
		return p.sendError(driver.ErrClosed)
	}
	if err := p.link.FlushBatch(); err != nil {
		return p.sendError(err)
	}
	return nil
}

// Close implements driver.Producer. The connection ends with its last producer.
func (p *producer) Close(ctx context.Context) error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	p.session.mu.Lock()
	delete(p.session.producers, p)
	p.session.mu.Unlock()
	if p.subscription.Subscription != nil {
		go func() { // takes the client's lock, which may be stuck
			p.link.Unroute(p.subscription)
			p.subscription.Unsubscribe() // an error means that it is gone already
		}()
	}
	p.session.client.Release(ctx, p.link)
	p.end(ctx)
	return nil
}

// end resolves what waits for an acknowledgement.
func (p *producer) end(ctx context.Context) {
	p.closed.Store(true)
	p.ending.Do(func() {
		if p.forget != nil {
			p.forget()
		}
		if p.pending != nil {
			p.pending.close()
		}
		if p.async != nil {
			p.async.close(ctx)
		}
	})
}
