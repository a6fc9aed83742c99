package rabbitmq

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// senderKey names a sender within its session.
type senderKey struct {
	link  kit.Key
	index int
}

// sender is a channel of a link, with one or several producers.
type sender struct {
	link  *link
	users int // guarded by the session's mu

	sending sync.Mutex // serialises sends, since delivery tags follow the order of writes
	now     atomic.Pointer[channelState]
}

// sent is a message that the broker has not confirmed.
type sent struct {
	payload []byte
	by      *producer
}

// outcome names the topic of a message that came back, or that the broker refused.
func (m sent) outcome(cameBack bool, err error) error {
	switch {
	case cameBack:
		return m.by.unroutable
	case err == driver.ErrRejected:
		return m.by.refused
	}
	return err
}

// channelState is a sender's channel on one connection. It implements wire.Handler.
type channelState struct {
	link    *link
	channel channel
	replies *kit.Gate // takes answers to requests; nil: no requester
	sender  *sender
	open    int // messages in the transaction, guarded by the sender's sending

	// The messages that the broker has not confirmed, by delivery tags: the broker counts
	// from 1, and so do we. Nil: nothing is confirmed.
	unanswered *kit.Unanswered[sent]
	reading    kit.Mark // the message that Send reads
	given      uint64   // tag from which on messages that came back are looked for
}

// Attach implements kit.Member.
func (o *sender) Attach(ctx context.Context, w *rabbit.Wire[connection]) error {
	return o.attachWith(ctx, w, nil)
}

// attachWith opens a channel that takes answers to requests, if replies is not
// nil.
func (o *sender) attachWith(ctx context.Context, w *rabbit.Wire[connection], replies *kit.Gate) error {
	options := &o.link.session.options
	p := &channelState{link: o.link, sender: o, replies: replies}
	if o.link.session.options.confirmed() {
		p.unanswered = kit.NewUnanswered[sent](1, 0)
		p.unanswered.Marks(&p.reading)
		p.unanswered.Outcomes(sent.outcome)
	}
	var err error
	if p.channel, err = w.Conn.open(ctx, p); err != nil {
		return wrap(err, "open a channel")
	}
	switch {
	case options.Transaction > 0:
		err = p.channel.Transact(ctx)
	case options.Confirms:
		err = p.channel.Confirm(ctx)
	}
	if err == nil && replies != nil {
		err = p.channel.Consume(ctx, replyQueue, 0, true, nil)
	}
	if err != nil {
		return wrap(err, "set up a channel")
	}
	o.now.Store(p)
	return nil
}

// Deliver implements wire.Handler.
func (p *channelState) Deliver(d wire.Delivery) {
	if p.replies != nil {
		p.replies.Deliver(driver.Message{Payload: d.Body, Redelivered: d.Redelivered})
	}
}

// Confirm implements wire.Handler.
func (p *channelState) Confirm(tag uint64, multiple, ok bool) {
	var err error
	if !ok {
		err = driver.ErrRejected // see sent.outcome
	}
	switch {
	case p.unanswered == nil:
	case !multiple:
		p.unanswered.Settle(tag, err)
	case tag == 0: // all
		p.unanswered.SettleTo(^uint64(0), err)
	default:
		p.unanswered.SettleTo(tag, err)
	}
}

// Return implements wire.Handler. Messages come back in the order in which they were
// sent, and with nothing but their bodies to recognise them by.
func (p *channelState) Return(r wire.Returned) {
	p.link.gaveUp.Add(1)
	if p.unanswered != nil {
		p.given = p.unanswered.Decide(p.given, func(m *sent) bool { return bytes.Equal(m.payload, r.Body) })
	}
}

// End implements wire.Handler. A channel that the broker has closed takes the
// connection with it.
func (p *channelState) End(why error) {
	p.sender.now.CompareAndSwap(p, nil)
	p.link.report() // what came back with the last that was read
	p.end(why)
	p.link.ended(why)
}

// end resolves the remaining messages, which will get no answer.
func (p *channelState) end(why error) {
	if p.unanswered == nil {
		return
	}
	class := protocol().ClassOf(why)
	_, open := p.unanswered.Oldest()
	switch {
	case class == driver.ErrClosed:
		why = fmt.Errorf("rabbitmq: the producer was closed before the broker answered: %w", driver.ErrClosed)
	case open == 1 && class != driver.ErrNotConnected:
		// With no other in question the broker means this one.
		why = fmt.Errorf("rabbitmq: send: %w: %w", class, why)
	default:
		why = fmt.Errorf("rabbitmq: the channel ended before the broker answered: %w: %w", driver.ErrTimeout, why)
	}
	p.unanswered.End(why)
}

// send sends payload for the producer.
func (o *sender) send(p *producer, token uint64, payload []byte) error {
	o.sending.Lock()
	defer o.sending.Unlock()
	now := o.now.Load()
	switch {
	case now == nil:
		return o.link.Absent()
	case o.link.blocked.Load():
		return fmt.Errorf("%w: the broker has an alarm and takes no messages", driver.ErrThrottled)
	}
	if p.on != now {
		now.channel.Prepare(&p.prepared, p.envelope)
		p.on = now
	}
	if now.unanswered == nil {
		// Without confirms, no answer would report a message that the broker refuses.
		if len(payload) > int(o.link.session.tried.Load()) {
			if err := o.link.session.checkSize(o.link.Life(), len(payload)); err != nil {
				return err
			}
		}
		if err := now.channel.Publish(&p.prepared, payload); err != nil {
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
		}
		p.acks.Done(token, nil)
		return nil
	}
	tag, ok := now.unanswered.Add(p.acks, token, sent{payload, p})
	if !ok {
		return o.link.Absent()
	}
	err := now.channel.Publish(&p.prepared, payload)
	if lost := now.reading.End(tag); lost != nil {
		p.acks.Done(token, lost)
		return nil
	}
	if err != nil {
		if now.unanswered.Withdraw(tag) {
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
		}
		return nil // it has been resolved with the others
	}
	if n := o.link.session.options.Transaction; n > 0 {
		if now.open++; now.open == n {
			now.commit()
		}
	}
	return nil
}

// commit ends a transaction and waits for the broker. If it fails so has the
// channel, and with it what was sent.
func (p *channelState) commit() {
	p.open = 0
	if p.channel.Commit(p.link.Life()) == nil {
		p.unanswered.SettleTo(^uint64(0), nil)
	}
}

// flush writes what was collected.
func (o *sender) flush() error {
	if o.link.session.options.Transaction > 0 {
		o.sending.Lock()
		if now := o.now.Load(); now != nil && now.open > 0 {
			now.commit()
		}
		o.sending.Unlock()
		return nil
	}
	w := o.link.Live()
	if w == nil {
		return o.link.Absent()
	}
	if err := w.Conn.Flush(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// sync waits until the broker has read what was sent.
func (o *sender) sync(ctx context.Context) error {
	now := o.now.Load()
	if now == nil {
		return o.link.Absent()
	}
	if err := o.flush(); err != nil {
		return err
	}
	return now.channel.Prefetch(ctx, 0)
}
