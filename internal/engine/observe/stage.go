package observe

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
)

// stageEvery: one message in stageEvery is traced through its stages.
const stageEvery = 16

// StagePlaces is how many of a stream's followed messages may be under way at a
// time; the oldest beyond that are given up.
const StagePlaces = 256

// stages splits the service time of a sample of the messages at the engine's
// own connections: handed to the client, first byte written, what came back
// read, callback. The first Write on the producer's connection that begins
// after Send was entered is taken for the message's, which it is where the
// client writes at once, and is too early where a write of what was sent before
// had not yet begun; the last Read that returned before the callback is taken
// for the one that brought it, which is too late where the client has read on
// meanwhile. Where the kernel tells since when it had what was read, the broker's
// stage ends then, and the time until the read has one of its own. The stages add
// up to the service time, to the nanosecond.
//
// Off is set by any goroutine that dials and read by any that records. The run's goroutine sets the
// rest before the load begins.
type stages struct {
	OnAck bool        // the acknowledgement ends them, not the delivery
	Why   string      // why stages are not recorded; empty: they are
	Off   atomic.Bool // the driver made another connection: no more stages are recorded
	// Attributed is how many connections had been made when all producers and consumers had theirs.
	Attributed int
}

// mayHaveStages reports whether the driver might show its connections.
func (r *Recording) mayHaveStages() bool {
	return r.Stages.Why == ""
}

// RefuseStages notes why stages will not be recorded, unless a reason is known already. It belongs to
// the run's goroutine.
func (r *Recording) RefuseStages(format string, a ...any) {
	if r.Stages.Why == "" {
		r.Stages.Why = fmt.Sprintf(format, a...)
	}
}

// PlanStages decides what can be known before anything is connected.
func (r *Recording) PlanStages() {
	r.Stages.OnAck = r.Flow.Publishes
	switch {
	case !r.Flow.Timed:
		r.RefuseStages("with rate max a client writes many messages at a time")
	case r.OwnsDialing:
		r.RefuseStages("driver %s opens its connections itself", r.Entry.Name)
	case r.Interrupted:
		r.RefuseStages("consumers connect late or pause")
	case r.Flow.Closes == flow.Never:
		r.RefuseStages("no answers or deliveries")
	}
}

// Attribute returns the connection that was dialled, and stayed open, for a producer or consumer since mark; nil: it is
// not known. first says that one should have been dialled; otherwise the producer or consumer shares
// the connection of an earlier one. If that does not hold, stages are refused.
func (r *Recording) Attribute(who driver.Role, d *transport.Dialer, mark int, first bool) *transport.Conn {
	if r.OwnsDialing {
		return nil
	}
	// One that is closed again was not for messages: a Sentinel of Redis was asked who leads.
	made := slices.DeleteFunc(slices.Clone(d.Since(mark)), (*transport.Conn).Closed)
	switch {
	case !first && len(made) == 0:
	case first && len(made) == 1:
		if made[0].Role == "" { // the driver says it of none
			made[0].Role = who
		}
		return made[0]
	case first:
		r.RefuseStages("%d connections were opened for a %s instead of one", len(made), who)
	default:
		r.RefuseStages("more connections were opened for %ss than requested", who)
	}
	return nil
}

// Stamp is what is known of one followed message. The sender stores seq and sent, the goroutine that
// writes to the connection written, and that of the answer reads. A later message of the stream may take
// the stamp meanwhile, which seq shows.
type Stamp struct {
	seq           atomic.Uint64 // one more than the message's sequence number; 0: no message
	sent, written atomic.Int64  // CLOCK_MONOTONIC; written is 0 until the first write
}

// Followed reports whether a message is one of the sample, and the index of its stamp among its
// stream's: one message of each sixteen, at a changing offset, so that a burst of sixteen does
// not always show its first.
func Followed(seq uint64) (sample int, ok bool) {
	group := seq / stageEvery
	return int(group % StagePlaces), seq%stageEvery == group*0x9e3779b97f4a7c15>>60
}

// Split records the stages of a message that came back by t, if it was followed. sent and now are
// CLOCK_MONOTONIC. It is safe for concurrent use.
func (r *Recording) Split(t *Tap, stamps []Stamp, seq uint64, sent, now int64) {
	i, ok := Followed(seq)
	if !ok || r.Stages.Off.Load() {
		return
	}
	s := &stamps[i]
	if s.seq.Load() != seq+1 {
		return // a later message has the stamp
	}
	written := s.written.Load()
	read, waited := t.readBefore(now)
	if written < sent || read < written {
		return // not written by this connection, or not read by that one
	}
	arrived := read - waited
	if waited < 0 || arrived < written {
		arrived = read // the arrival is not known, or it is another message's
	}
	r.Rec.Stages(written-sent, arrived-written, read-arrived, now-read)
}

// Tap notes when a connection is written to and read from. It is the connection's observer. Its methods
// are safe for concurrent use, but for Reading and HasRead, which the connection's reading goroutine calls.
type Tap struct {
	Conn     *transport.Conn           // fixed
	heir     atomic.Pointer[Tap]       // on the connection that replaced Conn, the last one if several did; nil: none did, or it is not known
	waiting  atomic.Uint64             // bits of followed, of messages whose write has not begun
	followed [64]atomic.Pointer[Stamp] // valid where waiting has the bit

	// The last two reads of anything. Their four numbers belong together. So that the reading goroutine
	// never waits, there is no lock: version is odd while that goroutine changes them, and others try
	// again if it was odd or has changed.
	version      atomic.Uint64
	last, before reading

	entered int64        // when the read at hand began, CLOCK_MONOTONIC; the reading goroutine's
	worked  atomic.Int64 // ns between reads in which more had come to be read
	told    int64        // worked at the last look; the collector's
}

// reading is when a read returned, CLOCK_MONOTONIC, and for how many ns what it returned had lain
// in this machine; −1: not known.
type reading struct{ at, waited atomic.Int64 }

// expect has the next write that begins stamped. With 64 messages waiting for one the message is not
// followed. The bit in waiting is set last: by it the write finds the rest. If two senders take the same
// bit at once, the message of the first gets no stamp, and Split leaves it out.
func (t *Tap) expect(s *Stamp, seq uint64, sent int64) {
	i := bits.TrailingZeros64(^t.waiting.Load())
	if i == 64 {
		s.seq.Store(0)
		return
	}
	s.written.Store(0)
	s.sent.Store(sent)
	s.seq.Store(seq + 1)
	t.followed[i].Store(s)
	t.waiting.Or(1 << i)
}

// Follow begins to follow a message that is about to be handed to the client, if it is one of
// the sample. stamps are its stream's.
func (t *Tap) Follow(stamps []Stamp, seq uint64, sent int64) {
	if i, ok := Followed(seq); ok {
		t.expect(&stamps[i], seq, sent)
	}
}

// Writing implements transport.Observer.
func (t *Tap) Writing() {
	if t.waiting.Load() == 0 {
		return
	}
	now := clock.Now()
	for w := t.waiting.Swap(0); w != 0; w &= w - 1 {
		// One that came between the reading of the clock and here is lost.
		if s := t.followed[bits.TrailingZeros64(w)].Load(); s.sent.Load() <= now {
			s.written.CompareAndSwap(0, now)
		}
	}
}

// Reading implements transport.Observer.
func (t *Tap) Reading() { t.entered = clock.Now() }

// HasRead implements transport.Observer. The time from the read before to this one counts as work, if
// what this one returned had come by its beginning: a reader that had nothing to read may have waited
// in between for something else, such as the next request.
func (t *Tap) HasRead(now, waited int64) {
	if since := t.last.at.Load(); since != 0 && t.entered >= since && waited >= 0 && now-waited <= t.entered {
		t.worked.Add(t.entered - since)
	}
	t.version.Add(1)
	t.before.at.Store(t.last.at.Load())
	t.before.waited.Store(t.last.waited.Load())
	t.last.at.Store(now)
	t.last.waited.Store(waited)
	t.version.Add(1)
}

// readBefore returns when the last read before now returned, CLOCK_MONOTONIC, 0 if that has been
// forgotten, and for how many ns what it returned had lain in this machine, −1 if that is not known. It
// gives up when the numbers have changed under it eight times.
func (t *Tap) readBefore(now int64) (at, waited int64) {
	for range 8 {
		v := t.version.Load()
		a, b := t.last.at.Load(), t.before.at.Load()
		wa, wb := t.last.waited.Load(), t.before.waited.Load()
		if v&1 != 0 || t.version.Load() != v {
			continue
		}
		switch {
		case a != 0 && a <= now:
			return a, wa
		case b != 0 && b <= now:
			return b, wb
		}
		break
	}
	return 0, -1
}

// latest returns the tap on the connection that is in use now, as far as that is known.
func (t *Tap) latest() *Tap {
	if h := t.heir.Load(); h != nil {
		return h
	}
	return t
}

// Received returns for how many ns what was called back at now had lain in this machine before it was
// read; −1: not known, as on a connection that is closed and of which it is not known what replaced it. A
// nil Tap knows nothing.
func (t *Tap) Received(now int64) int64 {
	if t == nil {
		return -1
	}
	if t = t.latest(); t.Conn.Closed() {
		return -1
	}
	_, waited := t.readBefore(now)
	return waited
}

// Arrived returns when the acknowledgement that is called back at now had come, CLOCK_MONOTONIC, if the
// driver reads acknowledgements late on purpose; else now and false, also on a connection that
// is closed. Of several in one read the last one's arrival counts.
func (t *Tap) Arrived(now int64) (at int64, late bool) {
	if t == nil {
		return now, false
	}
	if t = t.latest(); t.Conn.Closed() || !t.Conn.Late() {
		return now, false
	}
	read, waited := t.readBefore(now)
	if waited < 0 {
		return now, false
	}
	return read - waited, true
}

// StageFact says for the header what the stage times are of.
func (r *Recording) StageFact() (value, note string) {
	if r.Stages.Why != "" {
		return "none", r.Stages.Why
	}
	end := "delivery"
	if r.Stages.OnAck {
		end = "acknowledgement"
	} else if r.Flow.Response == recorder.RoundTripResponse {
		end = "reply"
	}
	return fmt.Sprintf("one message in %d, up to its %s", stageEvery, end), "as the engine's connections observed its writes and reads"
}
