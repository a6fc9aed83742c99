// Package account makes records of counters: what was sent and received interval by interval,
// the sampler of what is in flight, and the closing record, in which every message is in one
// account. It keeps what it has reported before.
package account

import (
	"maps"
	"slices"

	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/readback"
	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/stream"
	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// Accounts count what was sent and received: from interval to interval, and closed at the end. They
// write no counter that senders and consumers have; they read them.
type Accounts struct {
	*plan.Plan
	Session    *session.Session
	Recording  *observe.Recording
	Sending    *send.Sending
	Receiving  *receive.Receiving
	Back       *readback.Back // nil: what the broker keeps is not read back
	Unconsumed int64          // [result.Closing.Unconsumed]; the run's goroutine sets it when the consumers leave

	// Reported is the collector's; when that has ended, the run's goroutine's.
	Reported reported
	// Sampler is made by the run's goroutine before the load begins; nil: there is nothing to sample.
	Sampler *sampler
	// Follower is made with the load and is the collector's from the window on; nil: the window's length
	// is fixed.
	Follower *Follower
	holding  holding // under a lock of its own
}

// Account makes the closing record: what could only be known at the end, and the censored
// distributions. now is CLOCK_MONOTONIC, and readNs how long a reading of the clock takes. A message
// that was not given up before is given up at Observed, when clients began to close. It is called once,
// when senders, consumers and the collector have ended: it reads fields of theirs that are not atomic.
// The error is the recorder's.
func (a *Accounts) Account(now int64, readNs float64, aborted bool) (result.Interval, error) {
	total := a.Counts()
	total.Negative, total.OutOfRange = 0, 0 // already in the intervals
	end := a.End.Load()
	censor := func(id recorder.ID, st *stream.Stream, seq uint64, intended int64) {
		due := int64(recorder.UnknownDue)
		if a.Schedule != nil {
			due = intended - a.Start.Load()
		}
		a.Recording.Rec.Censor(id, due, a.Observed-intended)
		if id != recorder.DeliveryLast {
			a.Recording.TailOf(id).Part(0, true).GiveUp(st.ID, seq, intended, a.Observed)
		}
	}
	// A message that was sent has waited from then on.
	censorSent := func(id recorder.ID, st *stream.Stream, intended int64) {
		a.Recording.Rec.Censor(id, recorder.UnknownDue, a.Observed-a.sentBy(st, intended))
	}
	unsent := map[*stream.Stream]uint64{} // messages, by stream
	// The publish side.
	for _, l := range a.Sending.Lanes {
		for intended, st := range l.Unsent {
			seq := st.Next + unsent[st] // the number that it would have had
			unsent[st]++
			total.NotSent++
			if a.Flow.Acked {
				censor(a.Flow.AckResponse, st, seq, intended)
				total.Censored++
			}
			for range st.Plan.FanOut {
				censor(a.Flow.Response, st, seq, intended)
				total.Censored++
			}
			if st.Plan.FanOut > 1 {
				censor(recorder.DeliveryLast, st, seq, intended)
			}
		}
	}
	for _, st := range a.Sending.Streams {
		st.End()
		total.Taken += st.Taken
	}
	if a.Schedule == nil {
		total.Scheduled = total.Taken
	} else {
		total.Scheduled = a.dueBy(end - a.Start.Load())
	}
	intended := a.intendedOf()
	for _, st := range a.Sending.Streams {
		if st.Acked == nil { // the outcome of those that were not refused is unknown
			total.Unknown += st.Taken - st.Rejected.N.Load() - st.Nacked.N.Load()
			continue
		}
		if !st.Begun {
			continue
		}
		_, late := st.Acked.Forgotten()
		total.Unknown -= late + st.Rejected.N.Load() + st.Nacked.N.Load()
		a.unanswered(&total, st, intended)
		for seq := range st.Acked.Missing(st.First, st.Last) {
			total.Unknown++
			if st.Rejected.Has(seq) || st.Nacked.Has(seq) {
				continue
			}
			total.Censored++
			if st.GaveUp.Has(seq) {
				continue
			}
			at := intended(st, seq, end)
			censorSent(a.Flow.AckService, st, at)
			if a.Flow.Timed {
				censor(a.Flow.AckResponse, st, seq, at)
			}
		}
	}
	// The delivery side.
	keep := keeping{Accounts: a, lost: losses{start: a.Start.Load()}}
	if a.Back != nil && !aborted {
		keep.record = a.Back.Record()
	}
	lost := a.accountMissing(&total, &keep, intended, censor, censorSent)
	total.EarlierMissing = a.Receiving.Earlier.Missing()
	delta := total
	delta.Sub(a.Reported.Counters)
	start := a.Start.Load()
	at := max(0, now-start) // before start if the load never began
	v := result.Interval{Phase: result.PhaseClosing, Start: at, End: at, Counters: delta,
		InFlight: a.inFlight(total), Metrics: map[result.Metric]*result.MetricInterval{}, Vitals: map[result.Vital]float64{}}
	v.Tail, v.ReadBack = a.exemplars(), keep.close()
	for _, slot := range slices.Sorted(maps.Keys(lost)) {
		v.Lost = append(v.Lost, [2]int64{slot, lost[slot]})
	}
	if early, shifted := a.Receiving.Early(); shifted {
		v.Vitals[result.VitalDeliveryEarly] = float64(early)
	}
	if a.Sampler != nil && !aborted {
		a.Sampler.assess(&total, a.Recording.Rec, readNs, v.Vitals)
	}
	return v, a.Recording.Rec.Unresolved(v.Metrics)
}

// accountMissing finds the messages that never arrived, group by group, adds them to total, and
// returns how many of those that count as in flight are no backlog, by the number of the slot
// (recorder.Slot) in which they were due, see [result.Interval.Lost]. A message is no backlog in two cases: later messages
// of its stream have come, and it is not still coming; or, without acknowledgements, nothing of
// its stream has come, and nothing else came to the group in the second half of the wait: what was
// acknowledged may still be at the broker then. An acknowledged one of the first case is lost only if that is
// proven, see [receive.Receiving.Proves]. A message that the broker refused, or
// that was given up, is not in flight any more. Where the broker was read back, what it keeps is a backlog and not
// lost, and what it does not keep is.
func (a *Accounts) accountMissing(total *result.Counters, keep *keeping, intended func(*stream.Stream, uint64, int64) int64, censor func(recorder.ID, *stream.Stream, uint64, int64), censorSent func(recorder.ID, *stream.Stream, int64)) (lost map[int64]int64) {
	start, end := a.Start.Load(), a.End.Load()
	lost = map[int64]int64{}
	var absent int64 // deliveries that were expected and not ticked off, damaged ones included
	var damaged damage
	gaps := forgotten{Accounts: a, total: total, keep: keep, intended: intended, lost: lost, last: map[[2]uint64]int64{}}
	lastMissing := make([]stream.Marks, len(a.Sending.Streams))
	for i, g := range a.Receiving.Groups {
		coming, ended := a.Receiving.StillComing(g, a.Observed)
		proven := a.Receiving.Proves(g, a.Observed)
		for _, st := range a.Sending.Streams {
			ledger, bound := g.Ledger(st)
			if !bound || !st.Begun {
				continue
			}
			damaged.of(a, g.Damaged(st), st, ledger, intended)
			newest, any := ledger.Highest()
			absent += gaps.undelivered(st, ledger, !coming && any, newest, proven) - st.Rejected.N.Load()
			for seq := range ledger.Missing(st.First, st.Last) {
				absent++
				if st.Rejected.Has(seq) {
					continue
				}
				at := intended(st, seq, end)
				due := int64(recorder.UnknownDue)
				if a.Schedule != nil {
					due = at - start
				}
				nacked := st.Nacked.Has(seq)
				if nacked {
					a.Recording.RefusedBy(due, 1)
				} else {
					total.Censored++
					censorSent(a.Flow.Service, st, at)
					if a.Flow.Timed {
						censor(a.Flow.Response, st, seq, at)
					}
				}
				if a.Recording.Rec.Enabled(recorder.DeliveryLast) && st.Fan != nil && !st.LastUnknown.Has(seq) && lastMissing[st.ID].Add(seq) {
					if nacked {
						a.Recording.Rec.Refuse(recorder.DeliveryLast, due, 1)
					} else {
						censor(recorder.DeliveryLast, st, seq, at)
					}
				}
				if damaged.came(seq) {
					continue
				}
				fate := keep.fate(i, st, seq)
				overtaken, silent := !coming && any && seq <= newest, ended && (!any || newest < st.First)
				inFlight := false
				switch {
				case nacked:
					total.MissingNacked++
				case st.Acked == nil || !st.Acked.Has(seq):
					total.MissingUnknown++
					inFlight = !a.Flow.Acked
				case fate == readback.Kept:
					total.Undelivered++
				case fate == readback.Removed, fate == readback.Dropped: // it will not come, and is not known to be lost
					total.Undelivered++
					inFlight = true
				case fate == readback.Gone || overtaken && at < proven:
					total.LostAcked++
					inFlight = true
				default: // overtaken, it may come again, but is in no queue
					total.Undelivered++
					inFlight = overtaken && fate == readback.Unread
				}
				if (overtaken || silent || fate != readback.Unread) && inFlight && a.Flow.Timed {
					lost[(at-start)/int64(recorder.Slot)]++
				}
			}
		}
	}
	if a.Flow.Listens { // what is missing, and which copies are duplicates, follows from the ledgers of all
		return lost
	}
	judge.SettleDamaged(total, absent, damaged.known, damaged.copies)
	return lost
}

// sentBy returns an instant, CLOCK_MONOTONIC, before which a message was certainly sent, as near to it as
// is known when the message itself is forgotten. There are two bounds: the greatest lag of the messages
// that were due in the same tenth of a second, and the send of the last message of its stream. In a
// closed or unpaced loop only the second is known.
func (a *Accounts) sentBy(st *stream.Stream, intended int64) int64 {
	if a.Schedule == nil {
		return st.Latest
	}
	return min(st.Latest, intended+a.Recording.Rec.LagAtMost(intended-a.Start.Load()))
}

// intendedOf returns a function that returns when a message was due, CLOCK_MONOTONIC, by walking the
// schedule again. In a closed or unpaced loop, where only the send knew it, the function returns end,
// the latest instant possible.
func (a *Accounts) intendedOf() func(st *stream.Stream, seq uint64, end int64) int64 {
	if a.Schedule == nil {
		return func(_ *stream.Stream, _ uint64, end int64) int64 { return end }
	}
	type walk struct {
		cursor schedule.Cursor
		turn   int                       // index, among the producer's streams, of the next message's
		at     map[*stream.Stream]uint64 // sequence number of each stream's next message
	}
	walks := map[*stream.Stream]*walk{}
	start := a.Start.Load()
	return func(st *stream.Stream, seq uint64, end int64) int64 {
		// One walk per stream and group; sequence numbers are asked for in
		// ascending order, so a walk goes on, or begins anew for the next
		// group.
		w := walks[st]
		if w == nil || w.at[st] > seq {
			w = &walk{cursor: a.Schedule.Producer(st.Plan.Producer), at: map[*stream.Stream]uint64{}}
			ids := a.Layout.ByProducer[st.Plan.Producer]
			// The window's first message went to the stream with the least
			// first sequence number in turn.
			var before uint64
			for _, id := range ids {
				w.at[a.Sending.Streams[id]] = a.Sending.Streams[id].First
				before += a.Sending.Streams[id].First
			}
			w.turn = int(before % uint64(len(ids)))
			walks[st] = w
		}
		ids := a.Layout.ByProducer[st.Plan.Producer]
		for {
			offset, ok := w.cursor.Next()
			if !ok {
				return end
			}
			this := a.Sending.Streams[ids[w.turn]]
			if w.turn++; w.turn == len(ids) {
				w.turn = 0
			}
			n := w.at[this]
			w.at[this]++
			if this == st && n == seq {
				return start + offset
			}
		}
	}
}

// exemplars returns the slowest messages as the result file has them: instants are ns from the
// window's start. It takes no lock: it is called when no more are added.
func (a *Accounts) exemplars() (out []result.Exemplar) {
	start := a.Start.Load()
	parts := false // does any consumer see more than one part of a topic?
	for _, c := range a.Receiving.Consumers {
		parts = parts || c.Partitions() > 1
	}
	for _, t := range a.Recording.Tails {
		for _, e := range t.Slowest() {
			st := &a.Layout.Streams[e.Stream]
			x := result.Exemplar{Metric: t.Metric.Metric(), Value: e.Value, Producer: a.ProducerNumber(st.Producer), Consumer: a.ConsumerNumber(int(e.Consumer)),
				Topic: a.Layout.Topics[st.Topic], Partition: e.Partition, Sequence: e.Seq,
				Intended: e.Intended - start, Sent: observe.UnknownInstant, Done: e.Done - start, Own: e.Own}
			if e.Sent != observe.UnknownInstant {
				x.Sent = e.Sent - start
			}
			if !parts {
				x.Partition = -1
			}
			out = append(out, x)
		}
	}
	return out
}
