package send

import (
	"errors"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// acker receives the outcomes of one lane's sends, on the client's goroutines, several at a time. Its
// kind is fixed for a run, so that drivers without acknowledgements do not pay for them.
type acker interface{ driver.Acks }

// plainAcks is for drivers without acknowledgements: Done returns the payload, and counts what the
// broker refused.
type plainAcks struct{ l *lane }

// Done implements [driver.Acks]. A refusal is counted before the slot is free, since it is read from the
// slot.
func (a plainAcks) Done(token uint64, err error) {
	l := a.l
	sl, ok := l.borrowed(token)
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
	if !l.Credits.Returned(sl, token) {
		l.sending.Violations.Add(1)
	}
}

// borrowed returns the slot that token borrowed; false: the driver gave a wrong token, which it counts
// as a violation.
func (l *lane) borrowed(token uint64) (*credit.Slot, bool) {
	sl, ok := l.Credits.Borrowed(token)
	if !ok {
		l.sending.Violations.Add(1)
	}
	return sl, ok
}

// brokerAcks records the broker's acknowledgements.
type brokerAcks struct{ l *lane }

// Done implements [driver.Acks]. Answered claims the answer, so of Done and Expire only one has the
// credit to give back. The slot is the message's until Release, which comes last: everything before
// reads it.
func (a brokerAcks) Done(token uint64, err error) {
	now := clock.Now() // the instant that is reported, so it is read first
	l := a.l
	sl, ok := l.borrowed(token)
	if !ok {
		return
	}
	expired, ok := l.Credits.Answered(sl, token)
	if !ok {
		l.sending.Violations.Add(1)
		return
	}
	data := sl.Kind == integrity.Data
	switch {
	case !data:
		sl.Stream.Trial.Answered(l.plan.Control, err)
	case err == nil:
		l.ack(sl, now)
	case errors.Is(err, driver.ErrTimeout):
		l.giveUp(sl, now, expired || l.Credits.EndOnDelivery())
	case errors.Is(err, driver.ErrClosed):
		// The client was closed before the broker answered: no timeout, so it is not counted as one.
		l.giveUp(sl, now, true)
	default:
		l.nack(sl, err)
	}
	var over *observe.Tap // before the window connections may not be followed yet
	if data && sl.Measured.Load() && l.plan.Flow.Timed {
		over = l.Tap
	}
	l.Credits.Release(sl, token, data && !expired, now, over)
}

// ack accounts for a message that the broker has acknowledged. The slot is still the message's: it is
// released afterwards.
func (l *lane) ack(sl *credit.Slot, now int64) {
	if st := sl.Stream; st.Acked.Mark(sl.Seq) == integrity.Duplicate {
		l.sending.Violations.Add(1)
	}
	if sl.Measured.Load() {
		now = l.observe(sl, now)
		if x := sl.Stream.AckedAt; x != nil {
			x.Set(sl.Seq, now)
		}
	} else {
		l.warm.Add(1)
	}
	if w := sl.Stream.Waiter; w != nil && l.plan.Flow.Closes == flow.OnAck {
		w.Complete(sl.Seq, now)
	}
}

// observe records the acknowledgement of a measured message, and returns when it came,
// CLOCK_MONOTONIC: before now, if the driver reads acknowledgements late on purpose.
func (l *lane) observe(sl *credit.Slot, now int64) int64 {
	received := int64(0) // ns that it lay unread in this machine; −1: not known
	if at, late := l.Tap.Arrived(now); late {
		at = max(at, sl.Sent)
		l.ReadLate.Add(now - at)
		now = at
	} else if l.plan.Flow.Timed {
		if received = l.Tap.Received(now); received >= 0 {
			l.shard.Value(recorder.LagReceiveAck, received)
		}
	}
	if l.plan.Flow.Timed {
		v := now - sl.Intended
		l.shard.Response(l.plan.Flow.AckResponse, v, sl.Own, received, sl.Intended-l.recording.Start.Load())
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
	return now
}

// nack accounts for a message that the broker has refused.
func (l *lane) nack(sl *credit.Slot, err error) {
	l.Credits.Refused(sl, l.sending.Came)
	if sl.Measured.Load() {
		l.Nacked.Add(1)
		l.refusals.add(err)
		st := sl.Stream
		st.Nacked.Add(sl.Seq)
		l.ended(st, sl.Seq)
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

// ended reports that a message of the window was refused or given up.
func (l *lane) ended(st *stream.Stream, seq uint64) {
	if tell := l.sending.Ended; tell != nil {
		tell(st, seq)
	}
}

// giveUp gives up on a message that got no answer. That is no refusal: its outcome is
// unknown, and in the distributions it is censored, or the slowest would be missing there.
// counted says that its timeout has been counted, will be where its credit is taken back, or is none.
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
		l.ended(sl.Stream, sl.Seq)
		// Nothing came until now, and nothing can any more.
		l.recording.Rec.Censor(l.plan.Flow.AckService, recorder.UnknownDue, now-sl.Sent)
		if l.plan.Flow.Timed {
			l.recording.Rec.Censor(l.plan.Flow.AckResponse, sl.Intended-l.plan.Start.Load(), now-sl.Intended)
			l.tail.GiveUp(sl.Stream.ID, sl.Seq, sl.Intended, now)
		}
	}
}
