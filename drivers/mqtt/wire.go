package mqtt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// wire is a connection by packets of the driver's own. What waits for an answer on it
// ends with it.
type wire struct {
	shared
	source kit.Reader
	in     *kit.Frames
	writer *kit.Writer
	ack    []byte                // reused by the reader
	why    atomic.Pointer[error] // why it broke, if the broker or a sender has said so

	mu    sync.Mutex
	pings []chan struct{} // of those who wait for PINGRESP
}

// newWire returns one that has not logged in.
func newWire(l *link, to kit.Conn) *wire {
	w := &wire{shared: shared{link: l, raw: to.Raw}}
	w.source.Source = to.Conn
	size, hook := 1, kit.WriterHook{Failed: w.endWith}
	if l.key.Role == kit.Producer {
		size = l.session.writeBuffer
		if l.session.options.QoS == 0 && size > 1 {
			hook.Emptied = w.emptied
		}
	}
	w.writer = kit.NewWriter(to, size, hook)
	w.in = kit.NewFrames(&w.source, packetSize, w.writer.FlushReplies)
	return w
}

// next returns the next packet: its first byte and what follows its length, which is
// valid until the next call. What has been held back goes out before it is waited for.
func (w *wire) next() (first byte, body []byte, err error) {
	packet, err := w.in.Next()
	if err != nil {
		return 0, nil, err
	}
	first, body = split(packet)
	return first, body, nil
}

// endWith keeps the first reason for the wire's end, and ends it.
func (w *wire) endWith(err error) {
	w.why.CompareAndSwap(nil, &err)
	w.raw.Close()
}

// Serve implements kit.Wire: it handles packets until the wire breaks. It lets the
// broker know that the client is alive, and finds out whether the broker is.
func (w *wire) Serve() error {
	every := w.link.session.options.KeepAlive
	if k := w.welcome.keepAlive; k > 0 {
		every = min(every, time.Duration(k)*time.Second)
	}
	return w.source.Serve(every, w.alive, func() {
		w.endWith(errors.New("the broker has not answered for longer than keep_alive"))
	}, func() error {
		err := w.in.Each(w.take)
		if why := w.why.Load(); why != nil { // alive will fail, too
			err = *why
		}
		w.raw.Close() // lets go of a write in alive
		return err
	})
}

// alive asks for a sign of life. Who writes just now keeps the connection alive, or
// finds out.
func (w *wire) alive() bool {
	if w.writer.Busy() {
		return false
	}
	_, err := w.ping()
	return err == nil
}

// take deals with a packet.
func (w *wire) take(packet []byte) error { return w.handle(split(packet)) }

// handle deals with a packet from the broker. An error ends the wire.
func (w *wire) handle(first byte, body []byte) error {
	c := w.link.consumer
	switch kind := first & typeMask; {
	case kind == typePuback, kind == typePubcomp, kind == typePubrec:
		id, why, err := parseAck(body)
		if err != nil {
			return err
		}
		if kind == typePubrec && !why.failed() {
			return w.reply(typePubrel, id, 1)
		}
		w.flight.settle(id, why.outcome())
		return nil
	case kind == typePublish && c != nil:
		return c.publish(w, first, body)
	case kind == typePubrel&typeMask && c != nil:
		return c.released(w, body)
	case kind == typeUnsuback && c != nil:
		c.leave()
		return nil
	case kind == typePingresp:
		w.ponged()
		return nil
	case kind == typeDisconnect:
		return disconnected(body)
	}
	return fmt.Errorf("%w: one of type %d, which was not to come", errMalformed, first>>4)
}

// send implements connection. Without acknowledgements the packet has been written
// or copied when it returns, so that Done comes inside it.
func (w *wire) send(p *producer, token uint64, payload []byte) error {
	var id uint16
	var err error
	if p.qos() > 0 {
		if id, err = w.flight.reserve(p.acks, token); err != nil {
			return err
		}
	}
	topic, alias := p.name(&w.aliases)
	packet := publication{v5: w.link.v5, flags: p.flags, topic: topic, alias: alias, id: id, user: p.user}
	b, err := w.writer.Begin(headMost + len(topic) + len(p.user) + len(payload))
	if err == nil {
		err = w.writer.Commit(appendPublish(b, packet, payload))
	}
	switch {
	case err == nil && id == 0:
		p.acks.Done(token, nil)
	case err != nil && id != 0:
		// The end of the wire may have resolved it already.
		if _, ours := w.flight.release(id); !ours {
			return nil
		}
	}
	return err
}

// emptied tells of messages of quality of service 0 that were collected and never
// written. Of one that fills the buffer, and is alone in it, Send tells.
func (w *wire) emptied(collected []byte, written int) {
	if written == len(collected) || len(collected) >= w.link.session.writeBuffer {
		return
	}
	if n := unwritten(collected, written); n > 0 {
		w.link.Emit(driver.Event{Kind: driver.Dropped, Detail: "unwritten when the connection was lost", Count: n})
	}
}

// unwritten counts the PUBLISH packets of quality of service 0 that do not end
// within the first bytes of batch.
func unwritten(batch []byte, written int) (n int) {
	for at := 0; at < len(batch); {
		first := batch[at]
		size, used, _ := length(batch[at+1:])
		at += 1 + used + size
		if at > written && first&typeMask == typePublish && first&6 == 0 {
			n++
		}
	}
	return n
}

// reply writes an acknowledgement of the reader's together with others, see
// kit.Writer.Reply.
func (w *wire) reply(kind byte, id uint16, due int) error {
	w.ack = appendAck(w.ack[:0], kind, id)
	return w.writer.Reply(w.ack, due)
}

// write writes a packet at once, and leaves acknowledgements that wait for others.
func (w *wire) write(packet []byte) error {
	b, err := w.writer.Begin(len(packet) + 1) // see emptied
	if err != nil {
		return err
	}
	if err := w.writer.Commit(append(b, packet...)); err != nil || !w.writer.Collects() {
		return err
	}
	return w.writer.Flush()
}

// ping sends a PINGREQ and returns what is closed when it is answered, or the
// wire ends.
func (w *wire) ping() (<-chan struct{}, error) {
	answered := make(chan struct{})
	w.mu.Lock()
	w.pings = append(w.pings, answered)
	w.mu.Unlock()
	return answered, w.write([]byte{typePingreq, 0})
}

// ponged is called with each PINGRESP.
func (w *wire) ponged() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pings) > 0 {
		close(w.pings[0])
		w.pings = w.pings[1:]
	}
}

// sync implements connection: the broker answers a ping after it has read what came
// before.
func (w *wire) sync(ctx context.Context, all bool) error {
	answered, err := w.ping()
	if err != nil {
		return err
	}
	select {
	case <-answered:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return w.settled(ctx, all)
}

// until reads packets until f says that it has seen enough.
func (w *wire) until(f func(first byte, body []byte) (bool, error)) error {
	for {
		first, body, err := w.next()
		if err != nil {
			return err
		}
		if first&typeMask == typeDisconnect {
			return disconnected(body)
		}
		if enough, err := f(first, body); enough || err != nil {
			return err
		}
	}
}

// subscribe implements connection.
func (w *wire) subscribe(_ context.Context, c *consumer) error {
	if !w.welcome.present {
		c.known = nil
	}
	if err := w.writer.Write(appendSubscribe(nil, w.link.v5, subscription, c.qos, c.filters, false)); err != nil {
		return err
	}
	return w.until(func(first byte, body []byte) (bool, error) {
		if first&typeMask != typeSuback {
			return false, w.handle(first, body)
		}
		codes, err := parseSuback(w.link.v5, body)
		if err == nil {
			err = c.granted(codes)
		}
		return true, err
	})
}

// unsubscribe implements connection. The goroutine that reads the answer has
// delivered what came before.
func (w *wire) unsubscribe(c *consumer) bool {
	return w.writer.Last(appendFilters(nil, typeUnsubscribe, w.link.v5, subscription+1, c.filters))
}

// Leave implements kit.Wire: it sends a DISCONNECT and closes.
func (w *wire) Leave(ctx context.Context) {
	if ctx.Err() == nil {
		w.writer.Last([]byte{typeDisconnect, 0})
	}
	w.raw.Close()
}

// End implements kit.Wire.
func (w *wire) End(err error) {
	w.writer.End()
	w.flight.end(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pings {
		close(p)
	}
	w.pings = nil
}
