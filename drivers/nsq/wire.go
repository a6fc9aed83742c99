package nsq

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// wire is one network connection after the handshake, until it breaks. What
// waits for an answer on it ends with it.
type wire struct {
	*stream
	session *session
	sub     *subscription // nil: of producers
	id      identity
	leaving atomic.Bool           // Leave was called
	why     atomic.Pointer[error] // why it broke, if nsqd has said so
	served  chan struct{}         // closed when Serve returns

	writer     *kit.Writer
	unanswered *kit.Unanswered[follows]
	fin        []byte // reused by the reader

	// Of what is collected for an MPUB; the writer's lock is held.
	topic string
	first uint64 // the number of its first message
	count int
}

// follows says of a message that it is not the first of its command: one answer is for
// all of it.
type follows bool

func newWire(s *session, stream *stream, id identity, sub *subscription) *wire {
	w := &wire{stream: stream, session: s, sub: sub, id: id, served: make(chan struct{}), unanswered: kit.NewUnanswered[follows](1, 0)}
	w.writer = kit.NewWriter(kit.Conn{Conn: compressed{stream.raw, stream}, Raw: stream.raw}, s.writeBuffer, kit.WriterHook{
		Seal: w.seal, Emptied: w.emptied, Failed: w.endWith})
	stream.idle = w.writer.FlushReplies
	return w
}

// endWith keeps the first reason for the wire's end, and ends it.
func (w *wire) endWith(err error) {
	w.why.CompareAndSwap(nil, &err)
	w.raw.Close()
}

// mpubHead is what an MPUB has between its topic and its messages: the length of all,
// and how many they are.
const mpubHead = 4 + 4

// publish implements connection.
func (w *wire) publish(p *producer, token uint64, payload []byte) error {
	room := len(p.head) + mpubHead + 4 + len(payload)
	b, err := w.writer.Begin(room)
	for err == nil && w.writer.Collected() && w.topic != p.topic {
		w.writer.Cancel()
		if err = w.writer.Flush(); err == nil {
			b, err = w.writer.Begin(room)
		}
	}
	if err != nil {
		return err
	}
	batched, begun := w.writer.Collects(), w.writer.Collected()
	number, ok := w.unanswered.Add(p.acks, token, follows(begun))
	switch {
	case !ok:
		w.writer.Cancel()
		return driver.ErrNotConnected
	case !batched:
		b = appendPub(b, p.head, payload)
	default:
		if !begun {
			w.topic, w.first, w.count = p.topic, number, 0
			b = append(append(append(append(b, 'M'), p.head...), 0, 0, 0, 0), 0, 0, 0, 0)
		}
		w.count++
		b = appendPub(b, "", payload)
	}
	if err := w.writer.Commit(b); err != nil && w.unanswered.Withdraw(number) {
		return err
	}
	return nil // of what is lost the end of the wire tells
}

// seal completes an MPUB.
func (w *wire) seal(b []byte) []byte {
	if w.writer.Collects() {
		head := len("MPUB ") + len(w.topic) + len("\n")
		binary.BigEndian.PutUint32(b[head:], uint32(len(b)-head-4))
		binary.BigEndian.PutUint32(b[head+4:], uint32(w.count))
	}
	return b
}

// emptied resolves what was collected and not written at all.
func (w *wire) emptied(_ []byte, written int) {
	if written == 0 && w.writer.Collects() {
		for n := range w.count {
			w.unanswered.Settle(w.first+uint64(n), errUnsent)
		}
	}
	w.count = 0
}

var errUnsent = fmt.Errorf("nsq: %w: the connection was lost before the batch was sent", driver.ErrNotConnected)

// flushBatch implements connection.
func (w *wire) flushBatch() error { return w.writer.Flush() }

// empty implements connection.
func (w *wire) empty() <-chan struct{} { return w.unanswered.Empty() }

// over implements connection.
func (w *wire) over() bool { return w.unanswered.Over() }

// answered resolves the messages of the oldest command.
func (w *wire) answered(err error) error {
	if !w.unanswered.SettleOldest(func(f *follows) bool { return bool(*f) }, err) {
		return fmt.Errorf("%w: an answer to nothing", errMalformed)
	}
	return nil
}

// finish writes a FIN together with others: when there are at least due of them
// and no further frame is at hand, or there is much to write. Of more than one
// due it does not wait for the reader to be idle.
func (w *wire) finish(id []byte, due int) error {
	w.fin = appendFin(w.fin[:0], id)
	return w.writer.Reply(w.fin, due)
}
