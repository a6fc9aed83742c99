package send

import (
	"errors"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
)

// lane is one producers' connection: its streams, its payload slots, its share
// of the limits. Its pacer-side methods belong to one goroutine at a time.
type lane struct {
	plan      *plan.Plan
	recording *observe.Recording
	sending   *Sending

	Streams []*stream.Stream
	Credits credit.Credits
	shard   *recorder.Shard
	raw     *observe.RawSink // nil: no raw file
	tail    *observe.TailShard
	Conn    *transport.Conn // nil: not known
	Tap     *observe.Tap
	dirty   bool // its pacer sent something since the last release
	flushes bool // some of its clients hold messages back until they are told
	corked  bool // its connection does
	Acks    acker

	// The sending side of an open loop; its pacer's.
	cursor    cursor
	key       int64 // when it is to be looked at
	gap       int64 // mean time between its messages, ns
	blocked   blockedLog
	fullSince int64 // when it was found without a credit; 0: it was not
	fullAt    int64 // when that was last found

	extra    atomic.Int64 // handed over outside the window, probes apart
	Rejected atomic.Int64
	Acked    atomic.Int64 // measured
	warm     atomic.Int64 // acknowledged outside the window
	Nacked   atomic.Int64
	LastAck  atomic.Int64 // instant of the newest acknowledgement of a measured message
	ReadLate atomic.Int64 // ns, summed over acked: from an arrival to its callback, where the driver reads late on purpose
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
	sl, i, ok := l.borrowed(token)
	if !ok {
		return
	}
	switch {
	case sl.Kind != integrity.Data:
		sl.Stream.Trial.Answered(l.plan.Control, err)
	case err == nil:
	case errors.Is(err, driver.ErrTimeout), errors.Is(err, driver.ErrClosed): // no refusal: the outcome is unknown
	default:
		l.nack(sl, err)
	}
	if !l.Credits.Returned(sl, i, token) {
		l.sending.Violations.Add(1)
	}
}

// borrowed returns the slot that token borrowed, or counts the driver's mistake.
func (l *lane) borrowed(token uint64) (*credit.Slot, uint32, bool) {
	sl, i, ok := l.Credits.Borrowed(token)
	if !ok {
		l.sending.Violations.Add(1)
	}
	return sl, i, ok
}

// brokerAcks records the broker's acknowledgements.
type brokerAcks struct{ l *lane }

func (a brokerAcks) Done(token uint64, err error) {
	now := clock.Now()
	l := a.l
	sl, i, ok := l.borrowed(token)
	if !ok {
		return
	}
	expired, ok := l.Credits.Answered(sl, token)
	if !ok {
		l.sending.Violations.Add(1)
		return
	}
	if sl.Kind == integrity.Data {
		switch {
		case err == nil:
			l.ack(sl, now)
		case errors.Is(err, driver.ErrTimeout):
			l.giveUp(sl, now, expired || l.Credits.EndOnDelivery())
		case errors.Is(err, driver.ErrClosed):
			// The client closed before the broker answered.
			l.giveUp(sl, now, true)
		default:
			l.nack(sl, err)
		}
	} else {
		sl.Stream.Trial.Answered(l.plan.Control, err)
	}
	data := sl.Kind == integrity.Data
	var over *observe.Tap // before the window connections may not be followed yet
	if data && sl.Measured.Load() && l.plan.Flow.Timed {
		over = l.Tap
	}
	l.Credits.Release(sl, i, token, data && !expired, now, over)
}

func (l *lane) ack(sl *credit.Slot, now int64) {
	if st := sl.Stream; st.Acked.Mark(sl.Seq) == integrity.Duplicate {
		l.sending.Violations.Add(1)
	}
	if sl.Measured.Load() {
		received := int64(-1)
		if at, late := l.Tap.Arrived(now); late {
			at = max(at, sl.Sent)
			l.ReadLate.Add(now - at)
			now = at
		} else if l.plan.Flow.Timed {
			received = l.Tap.Received(now)
		}
		if l.plan.Flow.Timed {
			v := now - sl.Intended
			if received >= 0 {
				l.shard.Value(recorder.LagReceiveAck, received)
			}
			l.shard.Response(l.plan.Flow.AckResponse, v, sl.Own, received, sl.Intended-l.plan.Start.Load())
			if v > l.tail.Floor.Load() {
				l.tail.Offer(&observe.Exemplar{Value: v, Intended: sl.Intended, Sent: sl.Sent, Done: now, Own: sl.Own,
					Seq: sl.Seq, Stream: sl.Stream.ID, Consumer: -1, Partition: -1})
			}
		}
		l.shard.Value(l.plan.Flow.AckService, now-sl.Sent)
		if st := sl.Stream; st.Stamps != nil && l.recording.Stages.OnAck {
			l.recording.Split(l.Tap, st.Stamps, sl.Seq, sl.Sent, now)
		}
		l.Acked.Add(1)
		if now > l.LastAck.Load() {
			l.LastAck.Store(now)
		}
		if l.raw != nil {
			l.raw.Put(l.plan.Flow.RawAcked, sl.Stream.ID, 0, sl.Seq, sl.Intended, sl.Sent, now)
		}
	} else {
		l.warm.Add(1)
	}
	if w := sl.Stream.Waiter; w != nil && l.plan.Flow.Closes == flow.OnAck {
		w.Complete(sl.Seq, now)
	}
}

func (l *lane) nack(sl *credit.Slot, err error) {
	l.Credits.Refused(sl, l.sending.Came)
	if sl.Measured.Load() {
		l.Nacked.Add(1)
		l.refusals.add(err)
		st := sl.Stream
		st.Nacked.Add(sl.Seq)
		l.recording.RefusedPublish(sl.Intended)
		if l.raw != nil {
			l.raw.Put(result.RawNacked, st.ID, 0, sl.Seq, sl.Intended, sl.Sent, clock.Now())
		}
	} else if driver.Final(err) {
		l.plan.Refuse(err)
	}
	if w := sl.Stream.Waiter; w != nil {
		w.Complete(sl.Seq, clock.Now())
	}
}

// giveUp gives up on a message that got no answer. That is no refusal: its outcome is
// unknown, and in the distributions it is censored, or the slowest would be missing there.
// counted: that it timed out has been counted already, or will be by whoever takes its
// credit back.
func (l *lane) giveUp(sl *credit.Slot, now int64, counted bool) {
	if w := sl.Stream.Waiter; w != nil { // its loop counts what that gives up
		answered := l.plan.Flow.Closes == flow.OnAck && w.Complete(sl.Seq, now)
		counted = counted || !answered
	}
	if !counted && sl.Measured.Load() {
		l.Credits.TimedOut.Add(1)
	}
	if sl.Measured.Load() {
		l.unanswered.Add(1)
		sl.Stream.GaveUp.Add(sl.Seq)
		// Nothing came until now, and nothing can any more.
		l.recording.Rec.Censor(l.plan.Flow.AckService, now-sl.Sent)
		if l.plan.Flow.Timed {
			l.recording.Rec.Censor(l.plan.Flow.AckResponse, now-sl.Intended)
			l.tail.GiveUp(sl.Stream.ID, sl.Seq, sl.Intended, now)
		}
	}
}

// transmit builds a message in sl and hands it to the client. sending, if not
// nil, holds the instant while the send goes on, for the supervisor.
func (l *lane) transmit(st *stream.Stream, sl *credit.Slot, index uint32, kind integrity.Kind, intended, sent, own int64, measured bool, sending *atomic.Int64) error {
	if measured && l.plan.DropEvery > 0 && l.sending.forgets() {
		if sending != nil {
			sending.Store(sent)
		}
		l.Credits.PutBack(sl, index)
		return nil
	}
	if measured {
		st.Sent.Add(1) // from sent on it is under way, for the sampler
	}
	env := integrity.Envelope{Run: l.plan.Id, Stream: st.ID, Kind: kind, Intended: intended, Sequence: st.Next, Lag: sent - intended}
	if env.Lag > 0 && own > 0 {
		env.Own = uint8((own*7 + env.Lag/2) / env.Lag)
	}
	payload, sum := sl.Payload, sl.Sum
	if l.plan.Sizes != nil {
		class := l.plan.Sizes.Class(st.ID, st.Next-st.First) // the n-th of the window, whatever came before
		size := l.plan.Sizes.Classes()[class]
		payload, sum = payload[:size:size], sl.Sums[class] // a client that appends must not reach the rest
		if measured {
			st.Bytes.Add(int64(len(payload)))
		}
	}
	env.Put(payload, sum)
	if st.Keys != nil {
		st.Keys.Source.Put(sl.Key, st.KeyNumber())
	}
	sl.Kind, sl.Stream, sl.Seq = kind, st, st.Next
	if sl.Measured.Load() != measured { // it rarely changes, and a store costs more
		sl.Measured.Store(measured)
	}
	sl.Intended, sl.Own = intended, own
	token := l.Credits.Open(sl, index, kind == integrity.Data, sent, measured)
	if kind == integrity.Data {
		st.Next++
		if measured {
			st.Taken++
		}
	}
	if st.Stamps != nil && measured {
		l.Tap.Follow(st.Stamps, env.Sequence, sent)
	}
	if sending != nil {
		sending.Store(sent)
	}
	var err error
	if st.Keys == nil {
		err = st.Producer.Send(token, payload)
	} else {
		err = st.Keys.Send(token, payload, sl.Key)
	}
	if err != nil {
		if l.plan.Sizes != nil && measured {
			st.Bytes.Add(-int64(len(payload)))
		}
		l.refuse(st, sl, index, kind, sent, err)
		return err
	}
	if measured {
		st.Latest = sent
	}
	if kind == integrity.Data {
		if !measured {
			l.extra.Add(1)
		} else if l.raw != nil {
			l.raw.Put(result.RawSent, st.ID, 0, env.Sequence, intended, sent, own)
		}
	}
	return nil
}

// refuse takes back a message that Send returned an error for.
func (l *lane) refuse(st *stream.Stream, sl *credit.Slot, index uint32, kind integrity.Kind, sent int64, err error) {
	if kind == integrity.Data {
		if sl.Measured.Load() {
			st.Sent.Add(-1)
			l.Rejected.Add(1)
			l.refusals.add(err)
			st.Rejected.Add(sl.Seq)
			l.recording.RefusedPublish(sl.Intended)
			l.recording.RefusedDelivery(st.Plan.FanOut, sl.Intended-l.plan.Start.Load())
		} else if driver.Final(err) {
			l.plan.Refuse(err)
		}
		if st.Waiter != nil {
			st.Waiter.Complete(sl.Seq, clock.Now())
		}
	}
	l.Credits.TakeBack(sl, index, kind == integrity.Data, sent)
}
