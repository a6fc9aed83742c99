package engine

import (
	"errors"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
)

// stream is one producer's messages to one topic.
type stream struct {
	id       uint32
	plan     plan.Stream
	lane     *lane
	producer driver.Producer
	flusher  driver.Flusher // nil: the client does not buffer
	waiter   *waiter        // closed loop: told of each completion
	keys     *streamKeys    // nil: messages have none

	trial trial        // of the messages before the load
	next  uint64       // sequence number of the next message; the pacer's
	first uint64       // of the measured window; valid when begun
	last  uint64       // one past the measured window; 0: still next
	sent  atomic.Int64 // measured messages handed to the client, or just being
	bytes atomic.Int64 // of those, where sizes differ
	taken int64        // measured messages that have a sequence number; the pacer's
	// latest is when the last measured message was handed to the client; the pacer's.
	latest int64
	begun  bool

	acked *integrity.Ledger // nil without acknowledgements
	fan   *integrity.Fan    // nil unless several groups read the topic

	stamps []stamp // of the messages that are followed through their stages; nil: none is

	// Measured sequence numbers: refused by Send, refused by the broker, given up,
	// and those whose slowest delivery came when the fan had forgotten them.
	rejected, nacked, gaveUp, lastUnknown marks

	mu       sync.Mutex
	tampered map[uint64]int // corrupted deliveries whose envelope could be guessed
}

// marks are the sequence numbers of a stream's rare messages. They
// take no memory before the first, and a bit each from then on. The methods are
// safe for concurrent use.
type marks struct {
	ledger atomic.Pointer[integrity.Ledger]
	n      atomic.Int64
}

// add reports whether the number is new.
func (m *marks) add(seq uint64) bool {
	l := m.ledger.Load()
	if l == nil {
		m.ledger.CompareAndSwap(nil, integrity.NewLedger(0))
		l = m.ledger.Load()
	}
	if l.Mark(seq) == integrity.Duplicate {
		return false
	}
	m.n.Add(1)
	return true
}

func (m *marks) has(seq uint64) bool {
	l := m.ledger.Load()
	return l != nil && l.Has(seq)
}

// begin notes that the measured window begins with the next message.
func (st *stream) begin() {
	st.first, st.begun = st.next, true
	if w, ok := st.producer.(driver.WindowWatcher); ok {
		w.WindowBegins()
	}
}

// lane is one producers' connection: its streams, its payload slots, its share
// of the limits. Its pacer-side methods belong to one goroutine at a time.
type lane struct {
	plan      *plan.Plan
	session   *session
	recording *recording
	sending   *sending

	streams []*stream
	slots   *slots
	taking  sync.Mutex // of slots; closed loops only
	shard   *recorder.Shard
	limit   int64    // of messages in flight; 0: none
	oldest  int64    // no message in flight was sent before, as of the last look for what timed out; the looker's
	counted bool     // messages in flight are counted
	expiry  *expiry  // they close on delivery, not on acknowledgement
	raw     *rawSink // nil: no raw file
	tail    *tailShard
	conn    *transport.Conn // nil: not known
	tap     *tap
	dirty   bool // its pacer sent something since the last release
	flushes bool // some of its clients hold messages back until they are told
	corked  bool // its connection does
	acks    acker

	// The sending side of an open loop; its pacer's.
	cursor    cursor
	key       int64 // when it is to be looked at
	gap       int64 // mean time between its messages, ns
	blocked   blockedLog
	fullSince int64 // when it was found without a place in flight; 0: it was not
	fullAt    int64 // when that was last found
	next      *slot // for the message that is due next; nil: none is taken yet
	nextIndex uint32

	inFlight atomic.Int64
	free     freedPlace
	extra    atomic.Int64 // handed over outside the window, probes apart
	rejected atomic.Int64
	acked    atomic.Int64 // measured
	warm     atomic.Int64 // acknowledged outside the window
	nacked   atomic.Int64
	lastAck  atomic.Int64 // instant of the newest acknowledgement of a measured message
	readLate atomic.Int64 // ns, summed over acked: from an arrival to its callback, where the driver reads late on purpose
	timedOut atomic.Int64
	// unanswered counts measured messages of which the driver says that no
	// answer came in time: their outcome is unknown.
	unanswered atomic.Int64
	refusals   refusals
	_          [64]byte
}

// acker receives the outcomes of one lane's sends. Its kind is fixed for a
// run, so that drivers without acknowledgements do not pay for them.
type acker interface{ driver.Acks }

// plainAcks is for drivers without acknowledgements: Done only returns the
// payload.
type plainAcks struct{ l *lane }

func (a plainAcks) Done(token uint64, err error) {
	l := a.l
	sl, i, ok := l.slotOf(token)
	if !ok {
		return
	}
	switch {
	case sl.kind != integrity.Data:
		sl.stream.trial.answered(l.plan.Control, err)
	case err == nil:
	case errors.Is(err, driver.ErrTimeout), errors.Is(err, driver.ErrClosed): // no refusal: the outcome is unknown
	default:
		l.nack(sl, err)
	}
	if gen := token >> 32 << 2; sl.state.CompareAndSwap(gen|slotBorrowed, gen) {
		l.slots.release(i)
		l.free.freed()
	} else {
		l.sending.violations.Add(1)
	}
}

// slotOf returns the slot that token borrowed, or counts the driver's mistake.
func (l *lane) slotOf(token uint64) (*slot, uint32, bool) {
	i := uint32(token)
	if int(i) < len(l.slots.all) {
		sl := &l.slots.all[i]
		if st := sl.state.Load(); st>>2 == token>>32 && st&slotMask != slotFree {
			return sl, i, true
		}
	}
	l.sending.violations.Add(1)
	return nil, 0, false
}

// brokerAcks records the broker's acknowledgements.
type brokerAcks struct{ l *lane }

func (a brokerAcks) Done(token uint64, err error) {
	now := clock.Now()
	l := a.l
	sl, i, ok := l.slotOf(token)
	if !ok {
		return
	}
	// Of two Dones with the same token one wins; the other is a violation.
	gen := token >> 32 << 2
	expired := false
	if !sl.state.CompareAndSwap(gen|slotBorrowed, gen|slotExpired) {
		if !sl.state.CompareAndSwap(gen|slotExpired, gen|slotMask) {
			l.sending.violations.Add(1)
			return
		}
		expired = true
	}
	if sl.kind == integrity.Data {
		switch {
		case err == nil:
			l.ack(sl, now)
		case errors.Is(err, driver.ErrTimeout):
			l.unanswer(sl, now, expired || l.expiry != nil)
		case errors.Is(err, driver.ErrClosed):
			// The client closed before the broker answered.
			l.unanswer(sl, now, true)
		default:
			l.nack(sl, err)
		}
	} else {
		sl.stream.trial.answered(l.plan.Control, err)
	}
	data := sl.kind == integrity.Data
	var over *tap // before the window connections may not be followed yet
	if data && sl.measured.Load() && l.plan.Flow.Timed {
		over = l.tap
	}
	sl.state.Store(gen)
	l.slots.release(i)
	if data && !expired && l.counted && l.expiry == nil {
		l.inFlight.Add(-1)
	}
	l.free.freedBy(now, over)
}

func (l *lane) ack(sl *slot, now int64) {
	if st := sl.stream; st.acked.Mark(sl.seq) == integrity.Duplicate {
		l.sending.violations.Add(1)
	}
	if sl.measured.Load() {
		received := int64(-1)
		if at, late := l.tap.arrived(now); late {
			at = max(at, sl.sent)
			l.readLate.Add(now - at)
			now = at
		} else if l.plan.Flow.Timed {
			received = l.tap.received(now)
		}
		if l.plan.Flow.Timed {
			v := now - sl.intended
			if received >= 0 {
				l.shard.Value(recorder.LagReceiveAck, received)
			}
			l.shard.Response(l.plan.Flow.AckResponse, v, sl.own, received, sl.intended-l.plan.Start.Load())
			if v > l.tail.floor.Load() {
				l.tail.offer(&exemplar{value: v, intended: sl.intended, sent: sl.sent, done: now, own: sl.own,
					seq: sl.seq, stream: sl.stream.id, consumer: -1, partition: -1})
			}
		}
		l.shard.Value(l.plan.Flow.AckService, now-sl.sent)
		if st := sl.stream; st.stamps != nil && l.recording.stages.onAck {
			l.recording.split(l.tap, st.stamps, sl.seq, sl.sent, now)
		}
		l.acked.Add(1)
		if now > l.lastAck.Load() {
			l.lastAck.Store(now)
		}
		if l.raw != nil {
			l.raw.put(l.plan.Flow.RawAcked, sl.stream.id, 0, sl.seq, sl.intended, sl.sent, now)
		}
	} else {
		l.warm.Add(1)
	}
	if w := sl.stream.waiter; w != nil && l.plan.Flow.Closes == flow.OnAck {
		w.complete(sl.seq, now)
	}
}

func (l *lane) nack(sl *slot, err error) {
	if l.expiry != nil && l.expiry.closed(sl.sent, sl.measured.Load()) {
		l.inFlight.Add(-1) // what was refused is not delivered, nor replied to
	}
	if sl.measured.Load() {
		l.nacked.Add(1)
		l.refusals.add(err)
		st := sl.stream
		st.nacked.add(sl.seq)
		l.recording.refusedPublish(sl.intended)
		if l.raw != nil {
			l.raw.put(result.RawNacked, st.id, 0, sl.seq, sl.intended, sl.sent, clock.Now())
		}
	} else if driver.Final(err) {
		l.plan.Refuse(err)
	}
	if w := sl.stream.waiter; w != nil {
		w.complete(sl.seq, clock.Now())
	}
}

// unanswer gives up on a message that got no answer. That is no refusal: its
// outcome is unknown, and in the distributions it is censored, or the slowest
// would be missing there. placeless: that it loses its place in flight is counted, or
// will be.
func (l *lane) unanswer(sl *slot, now int64, placeless bool) {
	if w := sl.stream.waiter; w != nil { // its loop counts what that gives up
		answered := l.plan.Flow.Closes == flow.OnAck && w.complete(sl.seq, now)
		placeless = placeless || !answered
	}
	if !placeless && sl.measured.Load() {
		l.timedOut.Add(1)
	}
	if sl.measured.Load() {
		l.unanswered.Add(1)
		sl.stream.gaveUp.add(sl.seq)
		// Nothing came until now, and nothing can any more.
		l.recording.rec.Censor(l.plan.Flow.AckService, now-sl.sent)
		if l.plan.Flow.Timed {
			l.recording.rec.Censor(l.plan.Flow.AckResponse, now-sl.intended)
			l.tail.giveUp(sl.stream.id, sl.seq, sl.intended, now)
		}
	}
}

// transmit builds a message in sl and hands it to the client. sending, if not
// nil, holds the instant while the send goes on, for the supervisor.
func (l *lane) transmit(st *stream, sl *slot, index uint32, kind integrity.Kind, intended, sent, own int64, measured bool, sending *atomic.Int64) error {
	if measured && l.plan.DropEvery > 0 && l.sending.forgets() {
		if sending != nil {
			sending.Store(sent)
		}
		sl.state.Store(sl.state.Load() &^ slotMask)
		l.slots.release(index)
		return nil
	}
	if measured {
		st.sent.Add(1) // from sent on it is under way, for the sampler
		st.latest = sent
	}
	env := integrity.Envelope{Run: l.plan.Id, Stream: st.id, Kind: kind, Intended: intended, Sequence: st.next, Lag: sent - intended}
	if env.Lag > 0 && own > 0 {
		env.Own = uint8((own*7 + env.Lag/2) / env.Lag)
	}
	payload, sum := sl.payload, sl.sum
	if l.plan.Sizes != nil {
		class := l.plan.Sizes.Class(st.id, st.next-st.first) // the n-th of the window, whatever came before
		size := l.plan.Sizes.Classes()[class]
		payload, sum = payload[:size:size], sl.sums[class] // a client that appends must not reach the rest
		if measured {
			st.bytes.Add(int64(len(payload)))
		}
	}
	env.Put(payload, sum)
	if st.keys != nil {
		st.keys.source.Put(sl.key, st.keyNumber())
	}
	sl.kind, sl.stream, sl.seq = kind, st, st.next
	if sl.measured.Load() != measured { // it rarely changes, and a store costs more
		sl.measured.Store(measured)
	}
	sl.intended, sl.own = intended, own
	if l.counted {
		atomic.StoreInt64(&sl.sent, sent) // expire looks at it
	} else {
		sl.sent = sent
	}
	gen := (sl.state.Load()>>2 + 1) & 0xffffffff
	sl.state.Store(gen<<2 | slotBorrowed)
	if kind == integrity.Data {
		st.next++
		if measured {
			st.taken++
		}
		if l.counted {
			l.inFlight.Add(1)
			if l.expiry != nil {
				l.expiry.opened(sent, measured)
			}
		}
	}
	if st.stamps != nil && measured {
		l.follow(st, env.Sequence, sent)
	}
	if sending != nil {
		sending.Store(sent)
	}
	token := gen<<32 | uint64(index)
	var err error
	if st.keys == nil {
		err = st.producer.Send(token, payload)
	} else {
		err = st.keys.send(token, payload, sl.key)
	}
	if err != nil {
		if l.plan.Sizes != nil && measured {
			st.bytes.Add(-int64(len(payload)))
		}
		l.refuse(st, sl, index, kind, sent, err)
		return err
	}
	if kind == integrity.Data {
		if !measured {
			l.extra.Add(1)
		} else if l.raw != nil {
			l.raw.put(result.RawSent, st.id, 0, env.Sequence, intended, sent, own)
		}
	}
	return nil
}

// refuse takes back a message that Send returned an error for.
func (l *lane) refuse(st *stream, sl *slot, index uint32, kind integrity.Kind, sent int64, err error) {
	if kind == integrity.Data {
		if sl.measured.Load() {
			st.sent.Add(-1)
			l.rejected.Add(1)
			l.refusals.add(err)
			st.rejected.add(sl.seq)
			l.recording.refusedPublish(sl.intended)
			l.recording.refusedDelivery(st.plan.FanOut, sl.intended-l.plan.Start.Load())
		} else if driver.Final(err) {
			l.plan.Refuse(err)
		}
		if st.waiter != nil {
			st.waiter.complete(sl.seq, clock.Now())
		}
	}
	measured := sl.measured.Load()
	was := sl.state.Swap(sl.state.Load() &^ slotMask)
	l.slots.release(index) // from here on it may be another message's
	if kind != integrity.Data || !l.counted {
		return
	}
	// One that timed out while Send lasted has lost its place already.
	if l.expiry == nil && was&slotMask == slotBorrowed || l.expiry != nil && l.expiry.closed(sent, measured) {
		l.inFlight.Add(-1)
	}
}

// expire takes messages that were sent before horizon out of those in flight.
// The payloads of those that wait for an acknowledgement stay borrowed until
// Done. Before it has found one that old it does not look: slots are more memory
// than the processors' caches, which the senders need.
func (l *lane) expire(horizon int64) {
	if l.expiry != nil {
		n, measured := l.expiry.sweep(horizon)
		l.inFlight.Add(-n)
		l.timedOut.Add(measured)
		l.free.freed()
		return
	}
	if !l.counted || horizon <= l.oldest {
		return
	}
	oldest := clock.Now() // what is sent from now on is younger, or by no more than a send lasts
	for i := range l.slots.there.Load() {
		sl := &l.slots.all[i]
		st := sl.state.Load()
		if st&slotMask != slotBorrowed {
			continue
		}
		if sent, measured := atomic.LoadInt64(&sl.sent), sl.measured.Load(); sent >= horizon {
			oldest = min(oldest, sent)
		} else if sl.state.CompareAndSwap(st, st&^slotMask|slotExpired) {
			l.inFlight.Add(-1)
			if measured {
				l.timedOut.Add(1)
			}
			l.free.freed()
		}
	}
	l.oldest = oldest
}
