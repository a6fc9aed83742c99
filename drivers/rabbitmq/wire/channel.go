package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// Channel is a channel of a connection. Publish, Ack and Flow are safe for
// concurrent use; other calls wait for the server's answer, one at a time.
type Channel struct {
	conn    *Conn
	id      uint16
	handler Handler

	calling sync.Mutex
	reply   chan method   // takes the answer to a call
	ended   chan struct{} // closed when the channel has ended
	err     error         // why; readable once ended is closed, or shut is set
	shut    atomic.Bool   // the server has closed it
	ready   atomic.Int64  // messages of the queue that was declared last

	// What is being received; of the goroutine that reads.
	kind        method // basicDeliver or basicReturn; 0: nothing
	consumer    uint16
	tag         uint64
	redelivered bool
	code        uint16
	text        string
	properties  []byte
	body        []byte
	missing     uint64
}

// call sends a method with its fields and waits for its answer.
func (ch *Channel) call(ctx context.Context, want, m method, fields []byte) error {
	ch.calling.Lock()
	defer ch.calling.Unlock()
	// The answer to a call that was given up may still have come.
	select {
	case <-ch.reply:
	default:
	}
	if err := ch.ask(m, fields); err != nil {
		return ch.conn.Why(err)
	}
	for {
		select {
		case got := <-ch.reply:
			if got == want {
				return nil
			}
		case <-ch.ended:
			return ch.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask writes a method with its fields, at once and behind what waits to be written.
func (ch *Channel) ask(m method, fields []byte) error {
	out := ch.conn.Out
	if err := out.Write(nil); err != nil {
		return err
	}
	b, err := ch.begin()
	if err != nil {
		return err
	}
	if err := out.Commit(endFrame(append(appendMethod(b, ch.id, m), fields...), len(b))); err != nil {
		return err
	}
	return out.Flush()
}

// begin begins to write on the channel, see kit.Writer.Begin. Once the server has closed it
// that is refused, under the same lock: what follows the answer to that would be of a
// channel which is not open, for which the server ends the connection.
func (ch *Channel) begin() ([]byte, error) {
	b, err := ch.conn.Out.Begin(0) // what is collected goes out with it, if that is due
	if err == nil && ch.shut.Load() {
		ch.conn.Out.Cancel()
		return nil, ch.err
	}
	return b, err
}

// send writes a method of the goroutine that reads, with its fields, at once.
func (ch *Channel) send(m method, fields []byte) error {
	return ch.conn.Send(endFrame(append(appendMethod(nil, ch.id, m), fields...), 0))
}

// Confirm asks the server to confirm messages.
func (ch *Channel) Confirm(ctx context.Context) error {
	return ch.call(ctx, confirmSelectOK, confirmSelect, []byte{0})
}

// Transact makes what is published wait for Commit.
func (ch *Channel) Transact(ctx context.Context) error {
	return ch.call(ctx, txSelectOK, txSelect, nil)
}

// Commit ends a transaction.
func (ch *Channel) Commit(ctx context.Context) error { return ch.call(ctx, txCommitOK, txCommit, nil) }

// Prefetch limits the messages that a consumer has not acknowledged; 0: no
// limit. Its answer also proves that the server has read what was sent before.
func (ch *Channel) Prefetch(ctx context.Context, count uint16) error {
	return ch.call(ctx, basicQosOK, basicQos, append(binary.BigEndian.AppendUint16(make([]byte, 4), count), 0))
}

// Consume has the messages of a queue delivered, which need no Ack if noAck. The number
// is that of the consumer on the channel, which its deliveries have.
func (ch *Channel) Consume(ctx context.Context, queue string, number uint16, noAck bool, args Table) error {
	b := appendShort(named(queue), strconv.Itoa(int(number)))
	var bits byte
	if noAck {
		bits = 2
	}
	return ch.call(ctx, basicConsumeOK, basicConsume, appendTable(append(b, bits), args))
}

// Close closes the channel; its handler hears of it.
func (ch *Channel) Close(ctx context.Context) error {
	err := ch.call(ctx, channelCloseOK, channelClose, append(appendShort([]byte{0, 200}, ""), 0, 0, 0, 0))
	ch.conn.forget(ch)
	return err
}

// Prepare makes an envelope ready for Publish on this channel, in the memory of
// p.
func (ch *Channel) Prepare(p *Prepared, e Envelope) { *p = e.prepare(p.head, ch.id) }

// Publish sends body in the envelope p. It is written at once, or joins what the
// connection collects. After an error the connection is of no use, and the
// message may or may not have come to the server.
func (ch *Channel) Publish(p *Prepared, body []byte) error {
	c := ch.conn
	b, err := ch.begin()
	if err == nil {
		err = c.Out.Commit(p.appendTo(b, ch.id, body, c.FrameMax))
	}
	return c.Why(err)
}

// Ack acknowledges a message; if multiple, all up to it. Unless now, it may wait until
// the connection has nothing more to read, and the goroutine that reads calls it: to that
// the server has not closed the channel yet.
func (ch *Channel) Ack(tag uint64, multiple, now bool) error {
	var bits byte
	if multiple {
		bits = 1
	}
	if now {
		fields := append(binary.BigEndian.AppendUint64(make([]byte, 0, 16), tag), bits)
		return ch.conn.Why(ch.ask(basicAck, fields))
	}
	b := appendMethod(make([]byte, 0, 32), ch.id, basicAck)
	b = endFrame(append(binary.BigEndian.AppendUint64(b, tag), bits), 0)
	return ch.conn.Why(ch.conn.Out.Reply(b, 1))
}

// numberOf reads the number of a consumer from its tag, see Consume.
func numberOf(tag []byte) (n uint16) {
	for _, digit := range tag {
		n = 10*n + uint16(digit-'0')
	}
	return n
}

// answer hands a method to who waits for it.
func (ch *Channel) answer(m method) {
	select {
	case ch.reply <- m:
	default: // the caller does not wait any more
	}
}

// method takes a method's frame.
func (ch *Channel) method(m method, in cursor) error {
	if ch.kind != 0 {
		return fmt.Errorf("%w: a method in the middle of a message", ErrProtocol)
	}
	switch m {
	case basicDeliver:
		ch.consumer = numberOf(in.short())
		ch.tag = in.Uint64()
		ch.redelivered = in.Octet() != 0
		ch.kind = m
	case basicReturn:
		ch.code = in.Uint16()
		ch.text = string(in.short())
		ch.kind = m
	case basicAck:
		tag, bits := in.Uint64(), in.Octet()
		if !in.Bad {
			ch.handler.Confirm(tag, bits&1 != 0, true)
		}
	case basicNack:
		tag, bits := in.Uint64(), in.Octet()
		if !in.Bad {
			ch.handler.Confirm(tag, bits&1 != 0, false)
		}
	case basicCancel:
		tag := string(in.short())
		ch.end(&Error{Code: 404, Text: "consumer " + tag + " was cancelled: its queue is gone"})
	case channelFlow:
		return ch.send(channelFlowOK, []byte{in.Octet()})
	case channelClose:
		why := &Error{Code: in.Uint16()}
		why.Text = string(in.short())
		ch.err = why
		ch.shut.Store(true)
		err := ch.send(channelCloseOK, nil)
		ch.conn.forget(ch) // nothing more comes by it
		ch.end(why)
		return err
	case queueDeclareOK:
		in.short()
		ch.ready.Store(int64(in.Uint32()))
		ch.answer(m)
	case channelOpenOK, channelCloseOK, basicQosOK, basicConsumeOK, confirmSelectOK, txSelectOK, txCommitOK,
		exchangeDeclareOK, exchangeDeleteOK, queueBindOK, queueDeleteOK:
		ch.answer(m)
	}
	if in.Bad {
		return fmt.Errorf("%w: a method %d.%d is too short", ErrProtocol, m>>16, m&0xFFFF)
	}
	return nil
}

// header takes a message's header.
func (ch *Channel) header(in cursor) error {
	in.Uint32() // class and weight
	size := in.Uint64()
	if in.Bad || ch.kind == 0 || ch.missing > 0 {
		return fmt.Errorf("%w: a header without its message", ErrProtocol)
	}
	ch.missing, ch.body = size, ch.body[:0]
	if size == 0 {
		ch.hand(in.Rest, nil)
		return nil
	}
	// The buffer moves before the body is there.
	ch.properties = append(ch.properties[:0], in.Rest...)
	return nil
}

// content takes a message's body or a part of it.
func (ch *Channel) content(part []byte) error {
	if ch.kind == 0 || uint64(len(part)) > ch.missing {
		return fmt.Errorf("%w: a body without its message", ErrProtocol)
	}
	ch.missing -= uint64(len(part))
	switch {
	case ch.missing > 0:
		ch.body = append(ch.body, part...)
	case len(ch.body) == 0:
		ch.hand(ch.properties, part)
	default:
		ch.body = append(ch.body, part...)
		ch.hand(ch.properties, ch.body)
	}
	return nil
}

// hand hands a complete message over.
func (ch *Channel) hand(properties, body []byte) {
	kind := ch.kind
	ch.kind = 0
	if kind == basicDeliver {
		ch.handler.Deliver(Delivery{Consumer: ch.consumer, Tag: ch.tag, Redelivered: ch.redelivered, Properties: properties, Body: body})
	} else {
		ch.handler.Return(Returned{Code: ch.code, Text: ch.text, Body: body})
	}
}

// end is called by the goroutine that reads.
func (ch *Channel) end(why error) {
	select {
	case <-ch.ended:
		return
	default:
	}
	if !ch.shut.Load() {
		ch.err = why
	}
	close(ch.ended)
	ch.handler.End(why)
}
