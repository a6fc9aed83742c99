package send

import (
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
)

// lane is one connection of producers: its streams, its credits, and what was counted of its
// messages. On a schedule or flat out one goroutine at a time sends on it, its pacer or its loop. In
// closed loops each producer has a goroutine, and those that share a connection send on one lane at
// the same time: each on its own streams, with slots that [credit.Credits.TakeShared] gives out under
// a lock. They use none of the sending goroutine's fields.
//
// A lane changes pacers in two ways: its pacer gives it away itself (mayDivide), or the supervisor
// takes it while that pacer's thread is inside the client with another lane (supervise). In both the
// start of the new pacer's goroutine hands the fields over, so they need no lock.
type lane struct {
	// What is fixed before the load begins. Anyone reads it.
	plan      *plan.Plan
	recording *observe.Recording
	sending   *Sending
	Streams   []*stream.Stream // of its producers
	Acks      acker            // what the driver reports the outcomes of Send to
	shard     *recorder.Shard
	raw       *observe.RawSink   // nil: there is no raw file
	tail      *observe.TailShard // of acknowledgements; nil: they have no response times
	Conn      *transport.Conn    // nil: it is not known which connection it is
	Tap       *observe.Tap       // on Conn, set just before the window and read for measured messages only; nil: it is not followed

	Credits credit.Credits // the messages in flight; its comment says which goroutine calls what

	// The sending goroutine's.
	cursor    cursor
	key       int64      // when the pacer is to serve it next, CLOCK_MONOTONIC
	gap       int64      // mean time between its messages by the schedule, ns
	blocked   blockedLog // when its client waited for something outside the generator
	fullSince int64      // when it was found without a credit, CLOCK_MONOTONIC; 0: it has one
	fullAt    int64      // when it was last found so, CLOCK_MONOTONIC
	dirty     bool       // something was sent since the last release
	flushes   bool       // some of its clients hold messages back until Flush
	corked    bool       // its connection holds writes back until Uncork

	// Counters of messages, which the client's goroutines and the sending one add to, and anyone reads.
	extra      atomic.Int64 // handed over outside the window, without first messages
	Rejected   atomic.Int64 // measured, refused by Send
	Acked      atomic.Int64 // measured
	warm       atomic.Int64 // acknowledged outside the window
	Nacked     atomic.Int64 // measured, refused by the broker
	LastAck    atomic.Int64 // when the newest acknowledgement of a measured message came, CLOCK_MONOTONIC
	ReadLate   atomic.Int64 // ns, summed over Acked, from the arrival to the callback, where the driver reads late on purpose
	unanswered atomic.Int64 // measured, whose answer did not come in time by the driver's account: their outcome is unknown
	refusals   refusals
	_          [64]byte // other lanes' counters are on other cache lines
}

// departure is a message that is about to be sent: what it is, and when. Instants are
// CLOCK_MONOTONIC.
type departure struct {
	kind     integrity.Kind
	intended int64 // when it was due
	sent     int64 // now
	own      int64 // ns by which the generator itself was late
	measured bool  // it belongs to the window
}

// data reports whether it is a message of the load, and not one that is sent before it.
func (d *departure) data() bool { return d.kind == integrity.Data }

// transmit builds the next message of st in sl and hands it to the client. It belongs to the
// goroutine that sends the stream's messages. A message whose Send fails is taken back and counted as
// refused, and the error returned.
func (l *lane) transmit(st *stream.Stream, sl *credit.Slot, d departure) error {
	if d.measured && l.plan.DropEvery > 0 && l.sending.drops() {
		l.Credits.PutBack(sl)
		return nil
	}
	if d.measured {
		st.Sent.Add(1) // first: from sent on it is in flight for the sampler
	}
	seq, payload := st.Next, l.build(st, sl, &d)
	token := l.Credits.Open(sl, d.data(), d.sent, d.measured)
	if d.data() {
		st.Number(d.measured)
	}
	if d.measured && st.Stamps != nil {
		l.Tap.Follow(st.Stamps, seq, d.sent)
	}
	// Once Send has returned nil the slot may be another message's.
	if err := st.Send(token, payload, sl.Key); err != nil {
		l.takeBack(st, sl, &d, len(payload), err)
		return err
	}
	if d.measured {
		if st.Latest = d.sent; l.raw != nil {
			l.raw.Put(result.RawSent, st.ID, 0, seq, d.intended, d.sent, d.own)
		}
	} else if d.data() {
		l.extra.Add(1)
	}
	return nil
}

// build writes the envelope and the key of the next message of st into sl, and returns the
// payload: of its body's memory as much as the message's size.
func (l *lane) build(st *stream.Stream, sl *credit.Slot, d *departure) []byte {
	ahead, _ := l.plan.Shift(d.sent)
	envelope := integrity.Envelope{Run: l.plan.Id, Stream: uint32(st.Plan.Number), Kind: l.kindOf(d), Intended: d.intended - ahead, Sequence: st.Next, Lag: d.sent - d.intended}
	if envelope.Lag > 0 && d.own > 0 {
		envelope.Own = uint8((d.own*7 + envelope.Lag/2) / envelope.Lag)
	}
	payload, sum := sl.Payload, sl.Sum
	if l.plan.Sizes != nil {
		// Counted from the window's start: runs have equal sizes whatever came before.
		class := l.plan.Sizes.Class(uint32(st.Plan.Number), st.Next-st.First)
		size := l.plan.Sizes.Classes()[class]
		// The capacity is cut, too: a client that appends must not overwrite the rest of the body.
		payload, sum = payload[:size:size], sl.Sums[class]
		if d.measured {
			st.Bytes.Add(int64(size))
		}
	}
	envelope.Put(payload, sum)
	if st.Keys != nil {
		st.Keys.Source.Put(sl.Key, st.KeyNumber())
	}
	sl.Kind, sl.Stream, sl.Seq, sl.Intended, sl.Own = d.kind, st, st.Next, d.intended, d.own
	if sl.Measured.Load() != d.measured { // it rarely changes, and an atomic store costs more than a load
		sl.Measured.Store(d.measured)
	}
	return payload
}

// kindOf returns the kind in the envelope. Another process cannot see by its own window which messages are measured.
func (l *lane) kindOf(d *departure) integrity.Kind {
	if d.data() && !d.measured && l.plan.Crosses() {
		return integrity.Outside
	}
	return d.kind
}

// takeBack counts a message that Send has refused, and frees its slot and its credit.
func (l *lane) takeBack(st *stream.Stream, sl *credit.Slot, d *departure, size int, err error) {
	if d.measured {
		st.Sent.Add(-1)
		if l.plan.Sizes != nil {
			st.Bytes.Add(-int64(size))
		}
		l.Rejected.Add(1)
		l.refusals.add(err)
		st.Rejected.Add(sl.Seq)
		l.recording.RefusedPublish(d.intended)
		l.recording.RefusedDelivery(st.Plan.FanOut, d.intended-l.plan.Start.Load())
	} else if d.data() && driver.Final(err) {
		l.plan.Refuse(err)
	}
	if d.data() && st.Waiter != nil {
		st.Waiter.Complete(sl.Seq, clock.Now())
	}
	l.Credits.TakeBack(sl, d.data(), d.sent)
}
