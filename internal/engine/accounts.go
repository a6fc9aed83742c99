package engine

import (
	"maps"
	"slices"

	"sixnines/driver"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// account makes the closing record, a reading of the clock taking readNs: what could only be known at the end, and
// the censored distributions. What nobody gave up before is given up at the
// instant at which observation ended: when the clients were told to leave.
func (ld *load) account(now int64, readNs float64, aborted bool) (result.Interval, error) {
	total := ld.counts()
	total.Negative, total.OutOfRange = 0, 0 // already in the intervals
	end := ld.end.Load()
	censor := func(id recorder.ID, st *stream, seq uint64, intended int64) {
		ld.rec.Censor(id, ld.observed-intended)
		if id != recorder.DeliveryLast {
			ld.tailOf(id).part(0, true).giveUp(st, seq, intended, ld.observed)
		}
	}
	unsent := map[*stream]uint64{} // of each stream
	// The publish side.
	for _, l := range ld.lanes {
		for intended, st := range l.unsent {
			seq := st.next + unsent[st] // which it would have had
			unsent[st]++
			total.NotSent++
			if ld.ack != driver.AckKindNone {
				censor(ld.ackResponse, st, seq, intended)
				total.Censored++
			}
			for range st.plan.fanOut {
				censor(ld.deliveryMetric(), st, seq, intended)
				total.Censored++
			}
			if st.plan.fanOut > 1 {
				censor(recorder.DeliveryLast, st, seq, intended)
			}
		}
	}
	for _, st := range ld.streams {
		if st.last == 0 {
			st.last = st.next
		}
		total.Taken += st.taken
	}
	if ld.schedule == nil {
		total.Scheduled = total.Taken
	} else {
		total.Scheduled = ld.dueBy(end - ld.start.Load())
	}
	intended := ld.intendedOf()
	for _, st := range ld.streams {
		if st.acked == nil { // of what was not refused nothing is ever heard
			total.Unknown += st.taken - st.rejected.n.Load() - st.nacked.n.Load()
			continue
		}
		if !st.begun {
			continue
		}
		forgotten, late := st.acked.Forgotten()
		total.Unknown -= forgotten + late + st.rejected.n.Load() + st.nacked.n.Load()
		for seq := range st.acked.Missing(st.first, st.last) {
			total.Unknown++
			if st.rejected.has(seq) || st.nacked.has(seq) {
				continue
			}
			total.Censored++
			if ld.timed && !st.gaveUp.has(seq) {
				censor(ld.ackResponse, st, seq, intended(st, seq, end))
			}
		}
	}
	// The delivery side.
	lost := ld.accountMissing(&total, now, intended, censor)
	delta := total
	delta.Sub(ld.told.counters)
	start := ld.start.Load()
	at := max(0, now-start) // before start if the load never began
	v := result.Interval{Phase: result.PhaseClosing, Start: at, End: at, Counters: delta,
		InFlight: ld.inFlight(total), Metrics: map[result.Metric]*result.MetricInterval{}, Vitals: map[string]float64{}}
	v.Tail = ld.exemplars()
	ld.side.close(v.Vitals)
	for _, slot := range slices.Sorted(maps.Keys(lost)) {
		v.Lost = append(v.Lost, [2]int64{slot, lost[slot]})
	}
	if ld.witness != nil && !aborted {
		ld.witness.testify(&total, ld.rec, readNs, v.Vitals)
	}
	return v, ld.rec.Unresolved(v.Metrics)
}

// accountMissing finds the messages that never arrived, group by group, and
// returns how many of those that count as in flight are known to be lost, by
// the slot in which they were due: later ones of the same stream have come, and
// nothing tells that they still may. What the broker had refused, or was given
// up, is in flight no more.
func (ld *load) accountMissing(total *result.Counters, now int64, intended func(*stream, uint64, int64) int64, censor func(recorder.ID, *stream, uint64, int64)) (lost map[int64]int64) {
	start, end := ld.start.Load(), ld.end.Load()
	lost = map[int64]int64{}
	var absent int64 // never ticked off, damaged ones included
	lastMissing := make([]marks, len(ld.streams))
	for _, g := range ld.groups {
		coming := ld.stillComing(g, now)
		for _, st := range ld.streams {
			place, bound := g.place(st)
			if !bound || !st.begun {
				continue
			}
			ledger := g.ledger(place)
			newest, any := ledger.Highest()
			forgotten, _ := ledger.Forgotten()
			absent -= forgotten + st.rejected.n.Load()
			for seq := range ledger.Missing(st.first, st.last) {
				absent++
				if st.rejected.has(seq) {
					continue
				}
				at := intended(st, seq, end)
				due := int64(recorder.UnknownDue)
				if ld.schedule != nil {
					due = at - start
				}
				nacked := st.nacked.has(seq)
				if nacked {
					ld.refusedBy(due, 1)
				} else if total.Censored++; ld.timed {
					censor(ld.deliveryMetric(), st, seq, at)
				}
				if ld.rec.Enabled(recorder.DeliveryLast) && st.fan != nil && !st.lastUnknown.has(seq) && lastMissing[st.id].add(seq) {
					if nacked {
						ld.rec.Refuse(recorder.DeliveryLast, due, 1)
					} else {
						censor(recorder.DeliveryLast, st, seq, at)
					}
				}
				if st.tampered[seq] > 0 {
					st.tampered[seq]-- // it arrived, damaged
					continue
				}
				overtaken := !coming && any && seq <= newest
				inFlight := false
				switch {
				case nacked:
					total.MissingNacked++
				case st.acked == nil || !st.acked.Has(seq):
					total.MissingUnknown++
					inFlight = ld.ack == driver.AckKindNone
				case overtaken:
					total.LostAcked++
					inFlight = true
				default:
					total.Undelivered++
				}
				if overtaken && inFlight && ld.timed {
					lost[(at-start)/int64(recorder.Slot)]++
				}
			}
		}
	}
	// A damaged copy of what came whole as well is a duplicate.
	if copies := total.Corrupted - absent; copies > 0 {
		total.Corrupted -= copies
		total.Duplicated += copies
	}
	total.Missing = absent - total.Corrupted
	// Corrupted messages whose envelope was hit too are among those counted as
	// missing by number; the unknown ones take the difference first.
	for _, n := range []*int64{&total.MissingUnknown, &total.MissingNacked, &total.Undelivered, &total.LostAcked} {
		if over := total.LostAcked + total.Undelivered + total.MissingNacked + total.MissingUnknown - max(0, total.Missing); over > 0 {
			*n -= min(*n, over)
		}
	}
	return lost
}

// stillComing reports whether messages that others have overtaken may yet be on
// their way to the group: where they take more ways than one, and measured ones
// came in the second half of the time for which they were waited for, up to now.
func (ld *load) stillComing(g *group, now int64) bool {
	waited, ways, coming := now-ld.end.Load(), 0, false
	for _, c := range ld.consumers {
		if c.group != g {
			continue
		}
		ways += max(1, len(c.highest))
		if c.unordered || !ld.config.Entry.Capabilities.Ordered {
			ways++
		}
		coming = coming || c.newest != 0 && now-c.newest < waited/2
	}
	return coming && ways > 1
}

// intendedOf returns a function that tells when a message was due, by walking
// the schedule again; in a closed loop, and flat out, where only the send knew,
// it returns the latest instant possible.
func (ld *load) intendedOf() func(st *stream, seq uint64, end int64) int64 {
	if ld.schedule == nil {
		return func(_ *stream, _ uint64, end int64) int64 { return end }
	}
	type walk struct {
		cursor schedule.Cursor
		turn   int // of the producer's streams, which is next
		at     map[*stream]uint64
	}
	walks := map[*stream]*walk{}
	start := ld.start.Load()
	return func(st *stream, seq uint64, end int64) int64 {
		// One walk per stream and group; sequence numbers are asked for in
		// ascending order, so a walk goes on, or begins anew for the next
		// group.
		w := walks[st]
		if w == nil || w.at[st] > seq {
			w = &walk{cursor: ld.schedule.Producer(st.plan.producer), at: map[*stream]uint64{}}
			ids := ld.layout.byProducer[st.plan.producer]
			// The window's first message went to the stream with the least
			// first sequence number in turn.
			var before uint64
			for _, id := range ids {
				w.at[ld.streams[id]] = ld.streams[id].first
				before += ld.streams[id].first
			}
			w.turn = int(before % uint64(len(ids)))
			walks[st] = w
		}
		ids := ld.layout.byProducer[st.plan.producer]
		for {
			offset, ok := w.cursor.Next()
			if !ok {
				return end
			}
			this := ld.streams[ids[w.turn]]
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
