package rabbitmq

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// senderKey names an sender within its session.
type senderKey struct {
	link  linkKey
	index int
}

// sender is a channel of a link, with one or several producers.
type sender struct {
	link  *link
	users int // guarded by the session's mu

	sending sync.Mutex // one message at a time: they are counted as they are written
	now     atomic.Pointer[channelState]
}

// channelState is an sender's channel on one connection. It implements wire.Handler.
type channelState struct {
	link    *link
	channel channel
	pending *pending     // nil: nothing is confirmed
	replies *rabbit.Gate // takes answers to requests; nil: there are none
	sender  *sender
	open    int // messages in the transaction, guarded by the sender's sending
}

// Attach implements rabbit.Member.
func (o *sender) Attach(ctx context.Context, c connection) error {
	return o.attachWith(ctx, c, nil)
}

// attachWith opens a channel that takes answers to requests, if replies is not
// nil.
func (o *sender) attachWith(ctx context.Context, c connection, replies *rabbit.Gate) error {
	options := &o.link.session.options
	p := &channelState{link: o.link, sender: o, replies: replies}
	if o.link.session.Ack() == driver.AckKindBroker {
		p.pending = newPending()
	}
	var err error
	if p.channel, err = c.open(ctx, p); err != nil {
		return wrap(err, "open a channel")
	}
	switch {
	case options.Transaction > 0:
		err = p.channel.Transact(ctx)
	case options.Confirms:
		err = p.channel.Confirm(ctx)
	}
	if err == nil && replies != nil {
		err = p.channel.Consume(ctx, replyQueue, true, nil)
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
	if p.pending != nil {
		p.pending.settle(tag, multiple, ok)
	}
}

// Return implements wire.Handler.
func (p *channelState) Return(r wire.Returned) {
	p.link.gaveUp.Add(1)
	if p.pending != nil {
		p.pending.giveBack(r.Body)
	}
}

// End implements wire.Handler. A channel that the broker has closed takes the
// connection with it.
func (p *channelState) End(why error) {
	p.sender.now.CompareAndSwap(p, nil)
	p.link.report() // what came back with the last that was read
	if p.pending != nil {
		p.pending.end(why)
	}
	p.link.ended(why)
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
	if now.pending == nil {
		// Nobody would tell of a message that the broker does not take.
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
	tag, ok := now.pending.add(sent{producer: p, token: token, payload: payload})
	if !ok {
		return o.link.Absent()
	}
	err := now.channel.Publish(&p.prepared, payload)
	if lost := now.pending.sending.End(tag); lost != nil {
		p.acks.Done(token, lost)
		return nil
	}
	if err != nil {
		if now.pending.takeBack() {
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
		}
		return nil // it has been settled with the others
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
		p.pending.settle(0, true, true)
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
	c, ok := o.link.Current()
	if !ok {
		return o.link.Absent()
	}
	if err := c.Flush(); err != nil {
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
