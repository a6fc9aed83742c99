package mqtt

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// wire is one network connection after the login, until it breaks. What waits
// for an answer on it ends with it.
//
// Lock order: writing, then mu.
type wire struct {
	link    *link
	conn    net.Conn // what packets are written to
	raw     net.Conn // the connection below encryption: closing it waits for nothing
	in      packets
	welcome greeting
	limit   int  // messages in flight, at most
	held    bool // acknowledgements wait for the reader to be idle; the reader's

	writing sync.Mutex // guards what follows up to mu
	ended   bool
	frame   []byte // reused
	aliases aliases
	batch   []byte // packets that have not been written yet
	hold    kit.BatchTimer

	replies []byte // acknowledgements of deliveries that have not been written yet
	owed    int    // how many of them there are

	mu      sync.Mutex
	dead    bool
	why     error // why it broke, if the broker or a sender has said so
	room    sync.Cond
	entries []entry         // by packet identifier less one
	free    []uint16        // identifiers that nobody uses, of those that have an entry
	flying  tally           // entries in use
	pings   []chan struct{} // of those who wait for PINGRESP; nil: nobody

	waiting atomic.Bool   // the reader waits for bytes
	reads   atomic.Uint64 // how often it has got some
}

func newWire(l *link, raw, conn net.Conn, g greeting, in packets) *wire {
	w := &wire{link: l, raw: raw, conn: conn, welcome: g, in: in}
	w.aliases.most = g.aliases
	w.room.L = &w.mu
	// An error ends the wire, which is told.
	w.hold = kit.NewBatchTimer(&w.writing, func() { _ = w.flushLocked() })
	w.in.src = w
	w.limit = l.session.options.inflight(&g)
	return w
}

// Read implements io.Reader for in.
func (w *wire) Read(p []byte) (int, error) {
	w.waiting.Store(true)
	n, err := w.conn.Read(p)
	w.waiting.Store(false)
	w.reads.Add(1)
	return n, err
}

// reserve takes a packet identifier for a message. If none may be had it waits
// until one is given back; what has been batched goes out before.
func (w *wire) reserve(acks driver.Acks, token uint64) (uint16, error) {
	w.mu.Lock()
	if w.flying.n >= w.limit && !w.dead {
		w.mu.Unlock()
		if err := w.flush(); err != nil {
			return 0, err
		}
		w.mu.Lock()
		for w.flying.n >= w.limit && !w.dead {
			w.room.Wait()
		}
	}
	defer w.mu.Unlock()
	if w.dead {
		return 0, driver.ErrNotConnected
	}
	var id uint16
	if n := len(w.free); n > 0 {
		id, w.free = w.free[n-1], w.free[:n-1]
	} else {
		w.entries = append(w.entries, entry{})
		id = uint16(len(w.entries))
	}
	w.entries[id-1] = entry{acks, token}
	w.flying.n++
	return id, nil
}

// release gives an identifier back, and returns what was in flight with it.
func (w *wire) release(id uint16) (entry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == 0 || int(id) > len(w.entries) || w.entries[id-1].acks == nil {
		return entry{}, false
	}
	e := w.entries[id-1]
	w.entries[id-1] = entry{}
	w.free = append(w.free, id)
	w.flying.remove()
	w.room.Signal()
	return e, true
}

// settle resolves the message with the identifier.
func (w *wire) settle(id uint16, err error) {
	if e, ok := w.release(id); ok {
		e.acks.Done(e.token, err)
	}
}

// shut ends the wire: what is in flight is resolved with err, and whoever waits
// is woken.
func (w *wire) shut(err error) {
	w.raw.Close()
	w.writing.Lock()
	w.ended = true
	w.lose(0)
	w.hold.Stop()
	w.writing.Unlock()
	w.mu.Lock()
	w.dead = true
	entries, pings := w.entries, w.pings
	w.entries, w.free, w.pings = nil, nil, nil
	w.flying.clear()
	w.room.Broadcast()
	w.mu.Unlock()
	for _, e := range entries {
		if e.acks != nil {
			e.acks.Done(e.token, err)
		}
	}
	for _, p := range pings {
		if p != nil {
			close(p)
		}
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

// write writes whole packets at once. An error ends the wire: half a packet may
// be out, and nothing can follow it.
func (w *wire) write(frames []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.writeLocked(frames)
}

func (w *wire) writeLocked(frames []byte) error {
	if _, err := w.conn.Write(frames); err != nil {
		w.endWith(err)
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// publish sends a producer's message, or adds it to the batch. An error means
// that it is not out and never will be.
func (w *wire) publish(p *producer, id uint16, payload []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.ended {
		return driver.ErrNotConnected
	}
	topic, alias := p.name(&w.aliases)
	packet := publication{v5: w.link.v5, flags: p.flags, topic: topic, alias: alias, id: id, user: p.user}
	size := w.link.session.writeBuffer
	if size <= 1 {
		w.frame = appendPublish(w.frame[:0], packet, payload)
		return w.writeLocked(w.frame)
	}
	if len(w.batch)+headMost+len(topic)+len(p.user)+len(payload) > size {
		if err := w.flushLocked(); err != nil {
			return err
		}
	}
	w.batch = appendPublish(w.batch, packet, payload)
	if len(w.batch) > size { // too large to be held, and alone
		err := w.writeLocked(w.batch)
		w.batch = w.batch[:0]
		return err
	}
	w.hold.Hold()
	return nil
}

func (w *wire) flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.flushLocked()
}

func (w *wire) flushLocked() error {
	if len(w.batch) == 0 {
		return nil
	}
	n, err := w.conn.Write(w.batch)
	if err != nil {
		w.endWith(err)
		w.lose(n)
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	w.batch = w.batch[:0]
	w.hold.Emptied()
	return nil
}

// lose empties batch, of which no more than written bytes are out. What waits
// for acknowledgements is resolved elsewhere; of quality of service 0 an event
// has to tell.
func (w *wire) lose(written int) {
	if n := unwritten(w.batch, written); n > 0 {
		w.link.emit(driver.Event{Kind: driver.Dropped, Detail: w.link.key.String() + ": unwritten when the connection was lost", Count: n})
	}
	w.batch = w.batch[:0]
	w.hold.Emptied()
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

// reply writes an acknowledgement together with others: when there are at least
// due of them and no further packet is at hand, or there is much to write. Of
// more than one due it does not wait for the reader to be idle.
func (w *wire) reply(kind byte, id uint16, due int) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.replies = appendAck(w.replies, kind, id)
	w.owed++
	if due > 1 {
		if w.owed < due {
			return nil
		}
	} else if w.held = due == 1 && len(w.replies) < 4<<10 && w.in.more(); w.held {
		return nil
	}
	return w.writeReplies()
}

// next returns the next packet. What has been held back goes out before it is
// waited for.
func (w *wire) next() (first byte, body []byte, err error) {
	if w.held && !w.in.more() {
		w.held = false
		w.writing.Lock()
		err := w.writeReplies()
		w.writing.Unlock()
		if err != nil {
			return 0, nil, err
		}
	}
	return w.in.next()
}

// writeReplies writes what reply has held back. writing is held.
func (w *wire) writeReplies() error {
	if len(w.replies) == 0 {
		return nil
	}
	err := w.writeLocked(w.replies)
	w.replies, w.owed = w.replies[:0], 0
	return err
}

// answer writes an acknowledgement that may not be held back.
func (w *wire) answer(kind byte, id uint16) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.frame = appendAck(w.frame[:0], kind, id)
	return w.writeLocked(w.frame)
}

// ping sends a PINGREQ and returns what is closed when it is answered, or the
// wire ends.
func (w *wire) ping(answered chan struct{}) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	if w.dead {
		w.mu.Unlock()
		return driver.ErrNotConnected
	}
	w.pings = append(w.pings, answered)
	w.mu.Unlock()
	if err := w.flushLocked(); err != nil {
		return err
	}
	return w.writeLocked([]byte{typePingreq, 0})
}

// ponged is called with each PINGRESP.
func (w *wire) ponged() {
	w.mu.Lock()
	var first chan struct{}
	if len(w.pings) > 0 {
		first, w.pings = w.pings[0], w.pings[1:]
	}
	w.mu.Unlock()
	if first != nil {
		close(first)
	}
}

// empty returns what is closed when nothing is in flight, nil if nothing is.
func (w *wire) empty() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying.empty()
}

func (w *wire) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// watch looks after the wire until done is closed: it lets the broker know that
// the client is alive, and finds out whether the broker is.
func (w *wire) watch(every time.Duration, done <-chan struct{}) {
	beat := time.NewTicker(every)
	defer beat.Stop()
	var last uint64
	asked := false
	for {
		select {
		case <-done:
			return
		case <-beat.C:
		}
		reads := w.reads.Load()
		if asked && reads == last && w.waiting.Load() {
			w.endWith(errors.New("the broker has not answered for longer than keep_alive"))
			return
		}
		last = reads
		// Who writes just now keeps the connection alive, or finds out.
		if asked = w.writing.TryLock(); asked {
			w.writing.Unlock()
			asked = w.ping(nil) == nil
		}
	}
}

// closeTimeout is for a broker that has stopped reading.
const closeTimeout = 200 * time.Millisecond

// last writes packets behind all that has been held back, unless somebody is
// stuck in a write. It reports whether they are out. A message cannot follow.
func (w *wire) last(packets []byte) bool {
	if !w.writing.TryLock() {
		return false
	}
	defer w.writing.Unlock()
	w.conn.SetWriteDeadline(time.Now().Add(closeTimeout))
	return w.flushLocked() == nil && w.writeReplies() == nil && w.writeLocked(packets) == nil
}

// leave says good-bye and closes.
func (w *wire) leave() {
	w.last([]byte{typeDisconnect, 0})
	w.raw.Close()
}
