package nsq

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// wire is one network connection after the handshake, until it breaks. What
// waits for an answer on it ends with it.
//
// Lock order: writing, then mu.
type wire struct {
	*stream
	link *link
	id   identity
	held bool // FINs wait for the reader to be idle; the reader's

	writing sync.Mutex // guards what follows up to mu
	ended   bool
	frame   []byte // reused
	topic   string // of the batch
	batch   []byte // messages of an MPUB with their lengths
	waiting []entry
	hold    kit.BatchTimer
	fins    []byte
	owed    int // FINs in fins

	mu      sync.Mutex
	dead    bool
	why     error // why it broke, if nsqd or a sender has said so
	flying  ring
	emptied chan struct{}

	idle  atomic.Bool   // the reader waits for bytes
	reads atomic.Uint64 // how often it has got some
}

func newWire(l *link, s *stream, id identity) *wire {
	w := &wire{stream: s, link: l, id: id}
	// An error ends the wire, which is told.
	w.hold = kit.NewBatchTimer(&w.writing, func() { _ = w.flushLocked() })
	s.in.src = &counted{s.in.src, w}
	return w
}

// counted is what a wire reads from, for its watch.
type counted struct {
	src interface{ Read([]byte) (int, error) }
	w   *wire
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	c.w.idle.Store(true)
	n, err := c.src.Read(p)
	c.w.idle.Store(false)
	c.w.reads.Add(1)
	return n, err
}

// publish sends a producer's message, or adds it to the batch. An error means
// that it is not out and never will be, and that nobody is told of it.
func (w *wire) publish(p *producer, token uint64, payload []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.ended {
		return driver.ErrNotConnected
	}
	size := w.link.session.writeBuffer
	e := entry{acks: p.acks, token: token}
	if size <= 1 {
		e.last = true
		if err := w.expect(e); err != nil {
			return err
		}
		w.frame = appendPub(w.frame[:0], p.head, payload)
		if err := w.writeLocked(w.frame); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.flying.withdraw(e) {
				return err
			} // else the end of the wire has resolved it
		}
		return nil
	}
	if w.topic != p.topic || len(w.batch)+4+len(payload) > size {
		if err := w.flushLocked(); err != nil {
			return err
		}
		w.topic = p.topic
	}
	w.batch = appendPub(w.batch, "", payload)
	w.waiting = append(w.waiting, e)
	if len(w.batch) >= size {
		_ = w.flushLocked() // its end resolves the message
		return nil
	}
	w.hold.Hold()
	return nil
}

// expect notes an answer that nsqd will give. writing is held.
func (w *wire) expect(entries ...entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return driver.ErrNotConnected
	}
	for _, e := range entries {
		w.flying.push(e)
	}
	return nil
}

// flushLocked sends the batch. Whatever happens, each of its messages is
// resolved: here, by its answer, or by the end of the wire.
func (w *wire) flushLocked() error {
	n := len(w.waiting)
	if n == 0 {
		return nil
	}
	w.waiting[n-1].last = true
	err := w.expect(w.waiting...)
	if err != nil {
		for _, e := range w.waiting {
			e.acks.Done(e.token, errUnsent)
		}
	} else {
		w.frame = appendMpub(w.frame[:0], w.topic, n, w.batch)
		err = w.writeLocked(w.frame)
	}
	clear(w.waiting)
	w.waiting, w.batch = w.waiting[:0], w.batch[:0]
	w.hold.Emptied()
	return err
}

func (w *wire) flushBatch() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.flushLocked()
}

// answered resolves the messages of the oldest command.
func (w *wire) answered(err error) error {
	for {
		w.mu.Lock()
		e, ok := w.flying.pop()
		if w.flying.n == 0 && w.emptied != nil {
			close(w.emptied)
			w.emptied = nil
		}
		w.mu.Unlock()
		if !ok {
			return fmt.Errorf("%w: an answer to nothing", errMalformed)
		}
		e.acks.Done(e.token, err)
		if e.last {
			return nil
		}
	}
}

// shut ends the wire: what is in flight is resolved with err.
func (w *wire) shut(err error) {
	w.raw.Close()
	w.writing.Lock()
	w.hold.Stop()
	w.ended = true
	unsent := w.waiting
	w.waiting = nil
	w.writing.Unlock()
	w.mu.Lock()
	w.dead = true
	flying := w.flying
	w.flying = ring{}
	if w.emptied != nil {
		close(w.emptied)
		w.emptied = nil
	}
	w.mu.Unlock()
	for e, ok := flying.pop(); ok; e, ok = flying.pop() {
		e.acks.Done(e.token, err)
	}
	for _, e := range unsent {
		e.acks.Done(e.token, errUnsent)
	}
}

// endWith keeps the first reason for the wire's end, and ends it.
func (w *wire) endWith(err error) {
	w.mu.Lock()
	if w.why == nil {
		w.why = err
	}
	w.mu.Unlock()
	w.raw.Close()
}

// writeLocked writes whole commands. An error ends the wire: half a command may
// be out, and nothing can follow it.
func (w *wire) writeLocked(b []byte) error {
	if err := w.write(b); err != nil {
		w.endWith(err)
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// finish writes a FIN together with others: when there are at least due of them
// and no further frame is at hand, or there is much to write. Of more than one
// due it does not wait for the reader to be idle.
func (w *wire) finish(id []byte, due int) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.fins = appendFin(w.fins, id)
	w.owed++
	if due > 1 {
		if w.owed < due {
			return nil
		}
	} else if w.held = due == 1 && len(w.fins) < 4<<10 && w.in.more(); w.held {
		return nil
	}
	return w.writeFins()
}

// writeFins writes what finish has held back. writing is held.
func (w *wire) writeFins() error {
	if len(w.fins) == 0 {
		return nil
	}
	err := w.writeLocked(w.fins)
	w.fins, w.owed = w.fins[:0], 0
	return err
}

// next returns the next frame. What has been held back goes out before it is
// waited for.
func (w *wire) next() (kind int32, data []byte, err error) {
	if w.held && !w.in.more() {
		w.held = false
		w.writing.Lock()
		err := w.writeFins()
		w.writing.Unlock()
		if err != nil {
			return 0, nil, err
		}
	}
	return w.in.next()
}

// send writes a command behind what has been held back, unless somebody is
// stuck in a write. It reports whether it is out.
func (w *wire) send(c *nsq.Command) bool {
	if !w.writing.TryLock() {
		return false
	}
	defer w.writing.Unlock()
	// The deadline is for an nsqd that has stopped reading.
	w.raw.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	defer w.raw.SetWriteDeadline(time.Time{})
	if w.flushLocked() != nil || w.writeFins() != nil {
		return false
	}
	if c == nil {
		return true
	}
	if err := w.command(c); err != nil {
		w.endWith(err)
		return false
	}
	return true
}

// empty returns what is closed when nothing is in flight, nil if nothing is.
func (w *wire) empty() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flying.n == 0 {
		return nil
	}
	if w.emptied == nil {
		w.emptied = make(chan struct{})
	}
	return w.emptied
}

func (w *wire) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// watch finds out whether nsqd is alive, which says so once in every, until done
// is closed.
func (w *wire) watch(every time.Duration, done <-chan struct{}) {
	beat := time.NewTicker(2 * every)
	defer beat.Stop()
	last := w.reads.Load()
	for {
		select {
		case <-done:
			return
		case <-beat.C:
		}
		reads := w.reads.Load()
		if reads == last && w.idle.Load() {
			w.endWith(errors.New("nsqd has not spoken for twice the heartbeat_interval"))
			return
		}
		last = reads
	}
}
