package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// What becomes of messages whose acknowledgement does not come.
var (
	errLost       = fmt.Errorf("%s: the connection was lost before the acknowledgement came: %w", product, driver.ErrTimeout)
	errLate       = fmt.Errorf("%s: no acknowledgement in time: %w", product, driver.ErrTimeout)
	errUnanswered = fmt.Errorf("%s: the acknowledgement had not come: %w", product, driver.ErrClosed)
	errNobody     = fmt.Errorf("%s: no stream takes it, or its servers have no leader: %w", product, driver.ErrRejected)
)

// producer implements driver.Producer and driver.Syncer. The number of a message comes
// back in the subject of the server's answer.
type producer struct {
	session    *session
	link       *natswire.Link
	stream     stream
	out        *natswire.Publisher
	unanswered *kit.Unanswered[struct{}] // nil: there are no acknowledgements, or async has them
	async      *async                    // publishes, where the library is to; else nil
	acks       driver.Acks
	closed     atomic.Bool
	life       context.Context // ends with the producer
	cancel     context.CancelFunc

	// What is given up leaves the message alone that Send reads, which is newer than sent.
	// Send gives that one up itself.
	sent   atomic.Uint64
	losses atomic.Uint64 // of the connection

	inbox        string
	subscription *natswire.Subscription
	forget       func() // ends watching the link
	refusals     map[int]error
	header       []byte // of every message, up to its id if it has one; nil: none
	numbered     bool   // it has
	limited      bool   // not any number of messages may wait for an acknowledgement
	count        uint64
	ending       sync.Once
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	st, err := s.streamOf(spec.Topic)
	if err != nil {
		return nil, err
	}
	if err := s.checkSize(spec.Size, spec.Headers); err != nil {
		return nil, err
	}
	l, err := s.Acquire(ctx, kit.Key{Role: kit.Producer, Conn: spec.Conn})
	if err != nil {
		return nil, err
	}
	p := &producer{session: s, link: l, stream: st, out: natswire.NewPublisher(l), acks: acks, refusals: map[int]error{}}
	p.life, p.cancel = context.WithCancel(s.Life)
	switch {
	case !s.options.Acknowledge:
		p.out.Carry(spec.Headers)
		p.out.Address(st.subject, "")
	case s.options.Client == natswire.Library:
		p.async, err = newAsync(p, spec)
	default:
		err = p.listen(ctx, spec)
	}
	if err == nil {
		_, err = s.Keep(p)
	}
	if err != nil {
		p.Close(ctx)
		return nil, err
	}
	if p.unanswered != nil && s.options.AckTimeout > 0 {
		s.work.Go(p.expire)
	}
	if l.Batching() {
		return batching{p}, nil
	}
	return p, nil
}

// listen subscribes to the inbox that acknowledgements come to.
func (p *producer) listen(ctx context.Context, spec driver.ProducerSpec) error {
	s := p.session
	limit := s.inFlight()
	p.limited, p.unanswered = limit > 0, kit.NewUnanswered[struct{}](1, limit)
	p.inbox = p.link.Conn().NewInbox()
	if p.numbered = s.options.MessageID; p.numbered {
		p.header = fmt.Appendf(natswire.AppendHeaders(nil, spec.Headers), "Nats-Msg-Id: %s-%d-", s.Target.Run, spec.ID)
	} else if len(spec.Headers) > 0 {
		p.header = append(natswire.AppendHeaders(nil, spec.Headers), "\r\n"...)
	}
	p.out.AddressTagged(p.stream.subject, p.inbox, p.header != nil)
	answers := p.inbox + ".*"
	var err error
	p.subscription, err = p.link.Subscribe(answers, "", "", false, &natswire.Receiver{Gate: kit.NewGate(nil), Take: p.answered, Status: p.status})
	if err == nil {
		err = p.link.Settled(ctx, answers)
	}
	if err != nil {
		return wrap(err, "subscribe to acknowledgements")
	}
	p.forget = p.link.Watch(func(up bool) {
		if !up {
			p.losses.Add(1)
			p.unanswered.SettleTo(p.sent.Load(), errLost)
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
	if p.unanswered == nil {
		if err := p.out.Publish(payload); err != nil {
			return p.sendError(err)
		}
		p.acks.Done(token, nil)
		return nil
	}
	if p.limited && p.unanswered.Full() { // what it waits for must be on its way
		if err := p.link.FlushBatch(); err != nil {
			return p.sendError(err)
		}
	}
	number, _ := p.unanswered.Add(p.acks, token, struct{}{})
	losses := p.losses.Load()
	header := p.header
	if p.numbered {
		p.count++
		header = append(strconv.AppendUint(p.header, p.count, 10), "\r\n\r\n"...)
		p.header = header[:len(p.header)] // keeps the room that was made
	}
	if err := p.out.PublishTagged(number, header, payload); err != nil && p.unanswered.Withdraw(number) {
		return p.sendError(err)
	}
	p.sent.Store(number)
	switch {
	case p.closed.Load():
		p.unanswered.Settle(number, errUnanswered)
	case p.losses.Load() != losses:
		p.unanswered.Settle(number, errLost)
	}
	return nil
}

func (p *producer) sendError(err error) error {
	if p.link.Closing() || p.closed.Load() {
		err = driver.ErrClosed // whatever the dying connection said
	} else if gone := p.link.Absent(); gone != nil {
		err = gone
	}
	return wrap(err, "send to %q", p.stream.subject)
}

// expirySteps is how many times a timeout is looked for while it lasts.
const expirySteps = 8

// expire gives up messages whose acknowledgement does not come.
func (p *producer) expire() {
	step := time.NewTicker(max(time.Millisecond, p.session.options.AckTimeout/expirySteps))
	defer step.Stop()
	var sent [expirySteps]uint64 // at the latest steps
	for i := 0; ; i = (i + 1) % expirySteps {
		select {
		case <-p.life.Done():
			return
		case <-step.C:
		}
		p.unanswered.SettleTo(sent[i], errLate)
		sent[i] = p.sent.Load()
	}
}

// status takes what the server says instead of an answer.
func (p *producer) status(m *nats.Msg, status string) {
	number, ok := natswire.ParseTag([]byte(m.Subject), len(p.inbox))
	if ok && status == "503" {
		p.unanswered.Settle(number, errNobody)
	} else if ok {
		p.unanswered.Settle(number, p.refusal(m.Data))
	}
}

// accepted is what an acknowledgement begins with.
const accepted = `{"stream":`

// answered takes the server's answer to a publish.
func (p *producer) answered(subject, payload, _ []byte) {
	number, ok := natswire.ParseTag(subject, len(p.inbox))
	if !ok {
		return
	}
	if len(payload) > len(accepted) && string(payload[:len(accepted)]) == accepted {
		p.unanswered.Settle(number, nil)
		return
	}
	p.unanswered.Settle(number, p.refusal(payload))
}

// refusal reads an answer that is no plain acknowledgement.
func (p *producer) refusal(payload []byte) error {
	var answer struct {
		Error  *refusal `json:"error"`
		Stream string   `json:"stream"`
	}
	err := json.Unmarshal(payload, &answer)
	switch {
	case err != nil, answer.Error == nil && answer.Stream == "":
		return fmt.Errorf("%s: the server answers %.80q: %w", product, payload, driver.ErrRejected)
	case answer.Error == nil:
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
	p.session.Forget(p)
	if p.subscription != nil {
		go p.subscription.End()
	}
	p.session.Release(ctx, p.link)
	return p.Shut(ctx)
}

// Shut implements kit.Part: it resolves what waits for an acknowledgement.
func (p *producer) Shut(ctx context.Context) error {
	p.closed.Store(true)
	p.ending.Do(func() {
		p.cancel()
		if p.forget != nil {
			p.forget()
		}
		if p.unanswered != nil {
			p.unanswered.SettleTo(p.sent.Load(), errUnanswered)
		}
		if p.async != nil {
			p.async.close(ctx)
		}
	})
	return nil
}
