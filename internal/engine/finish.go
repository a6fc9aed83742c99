package engine

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// writeHeader writes what is known before the load begins.
func (r *run) writeHeader(start int64) error {
	if r.config.quiet != nil {
		return r.out.begin(result.Header{}, start)
	}
	s, w := r.scenario, r.workload
	text, err := s.Redacted(r.config.Entry.Secret).MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode the scenario: %w", err)
	}
	r.readNs = clockCost()
	h := result.Header{Type: "header", Format: result.Format, Version: result.Version, ID: r.fullID, Name: s.Name,
		Started: clock.Wall().Add(time.Duration(start - clock.Now())), Tool: r.config.Tool, Scenario: text,
		Pattern: string(w.Pattern), Driver: r.config.Entry.Name, Managed: r.config.Managed, Deployment: r.config.Deployment, Ack: string(r.ack),
		SameHost: r.sameHost(), Semantics: result.Semantics(r.semantics), Size: int64(w.Size), Window: r.window,
		Interval: s.Record.Interval, Slot: recorder.Slot, Cold: r.cold, Trial: r.config.Trial, Floor: r.config.Floor,
		Clock: result.Clock{Source: "CLOCK_MONOTONIC", Domain: clock.Domain(), Bracket: clock.Bracket(), ReadNs: r.readNs}}
	switch {
	case r.flatOut:
		h.Mode = result.ModeFlatOut
	case w.Loop == scenario.Closed:
		h.Mode = result.ModeClosed
	default:
		h.Mode, h.Rate = result.ModeOpen, r.plan.MeanRate()
	}
	for _, o := range s.Objectives {
		h.Objectives = append(h.Objectives, o.String())
	}
	h.Until = s.Phases.Until.String()
	if w.Messages > 0 {
		h.Window = 0 // the number of messages ends it
	}
	if info, ok := r.session.(driver.ServerInfo); ok {
		h.Broker = info.ServerInfo()
	}
	for _, f := range vitals.Fingerprint() {
		h.Machine = append(h.Machine, result.Fact(f))
	}
	add := func(name, value, note string) {
		h.Machine = append(h.Machine, result.Fact{Section: "generator", Name: name, Value: value, Note: note})
	}
	add("processors while measuring", strconv.Itoa(runtime.GOMAXPROCS(0)), "one more for each pacer, for the meter of hiccups and for the witness of what is in flight, which keep theirs")
	add("pacers", strconv.Itoa(r.pacerCount()), "")
	add("connections", fmt.Sprintf("%d for producers, %d for consumers", len(r.lanes), min(w.Connections.Consumers, len(r.layout.consumers))), "")
	if n := r.layout.maxFanOut(); n > fullChecks {
		add("checksums of deliveries", fmt.Sprintf("one in %d", n/fullChecks), "the fan-out is large; every loss and duplicate is counted all the same")
	}
	value, note := r.stageFact()
	add("stage times", value, note)
	value, note = r.receiveFact()
	add("receive lag", value, note)
	if r.side.wanted {
		value, note := r.side.fact()
		add("probe", value, note)
	}
	for _, m := range r.monitor.Missing() {
		add("not watched", m, "")
	}
	if s.Record.Raw {
		if err := r.openRaw(); err != nil {
			return err
		}
		h.Raw = baseName(rawPath(r.config.File))
	}
	return r.out.begin(h, start)
}

// clockCost measures one reading of the clock, in ns.
func clockCost() float64 {
	const n = 10_000
	from := clock.Now()
	for range n {
		clock.Now()
	}
	return float64(clock.Now()-from) / n
}

// finish closes the accounts when all senders and consumers are gone, and
// judges.
func (r *run) finish(leftover error, aborted bool) (*result.Run, error) {
	now := clock.Now()
	if leftover != nil {
		r.out.event(result.Event{At: now, Kind: "error", Detail: "while disconnecting: " + leftover.Error()})
	}
	// Deliveries that came in after the last interval.
	if late := r.counts(); late.Received != r.collected.counters.Received || late.Acked != r.collected.counters.Acked || r.side.unread() || r.rec.Behind() {
		from := r.collected.to
		if from == 0 {
			from = r.end.Load()
		}
		if err := r.collect(result.PhaseDrain, from, max(now, from+1)); err != nil {
			return nil, err
		}
	}
	closing, err := r.account(now, aborted)
	if err != nil {
		return nil, err
	}
	if err := r.out.interval(closing); err != nil {
		return nil, err
	}
	if dropped, err := r.closeRaw(); err != nil {
		return nil, err
	} else if dropped > 0 {
		r.out.event(result.Event{At: now, Kind: "raw file full", Detail: "rows without room", Count: dropped})
	}
	start := r.start.Load()
	in := judge.Inputs{End: r.end.Load() - start, Resolved: now - start, Interrupted: r.interrupted, Aborted: aborted}
	if t := r.resolvedAt(); t != 0 {
		in.Resolved = t - start
	}
	if r.flatOut {
		in.Throughput = r.throughput()
	}
	return r.out.end(func(run *result.Run) result.Summary { return *judge.Summarise(run, in) })
}

// resolvedAt returns when the last measured message was resolved, 0 if nothing
// tells.
func (r *run) resolvedAt() int64 {
	t := r.collected.synced
	for _, l := range r.lanes {
		t = max(t, l.lastAck.Load())
	}
	for _, c := range r.consumers {
		t = max(t, c.newest)
	}
	return t
}

// throughput is what a flat-out run came to. What the broker refused, and what
// did not arrive where it should, is none.
func (r *run) throughput() *result.Throughput {
	c := r.counts()
	through := c.Sent - c.Nacked
	if r.ack != driver.AckKindNone {
		through = c.Acked
	}
	if c.Expected > 0 { // in messages
		through = min(through, int64(math.Round(float64(c.Received)*float64(c.Sent)/float64(c.Expected))))
	}
	t := &result.Throughput{Messages: through, Bytes: through * int64(r.workload.Size), Received: c.Received, Until: "the last send returned"}
	stop := r.end.Load()
	switch {
	case c.Acked > 0:
		t.Until = "the last acknowledgement"
	case len(r.consumers) > 0:
		t.Until = "the last delivery"
	case r.collected.synced != 0:
		t.Until = "a round trip to the broker after the last message"
	}
	if at := r.resolvedAt(); at != 0 {
		stop = at
	}
	t.Elapsed = time.Duration(max(1, stop-r.start.Load()))
	t.PerSecond = float64(t.Messages) / t.Elapsed.Seconds()
	t.ReceivedPerSecond = float64(t.Received) / t.Elapsed.Seconds()
	return t
}

// account makes the closing record: what could only be known at the end, and
// the censored distributions. What nobody gave up before is given up at the
// instant at which observation ended: when the clients were told to leave.
func (r *run) account(now int64, aborted bool) (result.Interval, error) {
	total := r.counts()
	total.Negative, total.OutOfRange = 0, 0 // already in the intervals
	end := r.end.Load()
	censor := func(id recorder.ID, st *stream, seq uint64, intended int64) {
		r.rec.Censor(id, r.observed-intended)
		if id != recorder.DeliveryLast {
			r.tailOf(id).part(0, true).giveUp(st, seq, intended, r.observed)
		}
	}
	unsent := map[*stream]uint64{} // of each stream
	// The publish side.
	for _, l := range r.lanes {
		for intended, st := range l.unsent {
			seq := st.next + unsent[st] // which it would have had
			unsent[st]++
			total.NotSent++
			if r.ack != driver.AckKindNone {
				censor(r.ackResponse, st, seq, intended)
				total.Censored++
			}
			for range st.plan.fanOut {
				censor(r.deliveryMetric(), st, seq, intended)
				total.Censored++
			}
			if st.plan.fanOut > 1 {
				censor(recorder.DeliveryLast, st, seq, intended)
			}
		}
	}
	for _, st := range r.streams {
		if st.last == 0 {
			st.last = st.next
		}
		total.Taken += st.taken
	}
	if r.plan == nil {
		total.Scheduled = total.Taken
	} else {
		total.Scheduled = r.dueBy(end - r.start.Load())
	}
	intended := r.intendedOf()
	for _, st := range r.streams {
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
			if r.paced && !st.gaveUp.has(seq) {
				censor(r.ackResponse, st, seq, intended(st, seq, end))
			}
		}
	}
	// The delivery side.
	lost := r.accountMissing(&total, now, intended, censor)
	delta := total
	delta.Sub(r.collected.counters)
	start := r.start.Load()
	v := result.Interval{Phase: result.PhaseClosing, Start: now - start, End: now - start, Counters: delta,
		InFlight: r.inFlight(total), Metrics: map[result.Metric]*result.MetricInterval{}, Vitals: map[string]float64{}}
	v.Pauses = append(r.newPauses(start), r.tcp.interval(start, true, v.Vitals)...)
	if n := r.tcp.unseen; n > 0 {
		r.out.event(result.Event{At: now, Kind: "pauses", Detail: "stretches with TCP retransmissions that are not listed", Count: int64(n)})
	}
	v.Tail = r.exemplars()
	r.side.close(v.Vitals)
	for _, slot := range slices.Sorted(maps.Keys(lost)) {
		v.Lost = append(v.Lost, [2]int64{slot, lost[slot]})
	}
	if r.witness != nil && !aborted {
		r.witness.testify(&total, r.rec, r.readNs, v.Vitals)
	}
	return v, r.rec.Unresolved(v.Metrics)
}

// accountMissing finds the messages that never arrived, group by group, and
// returns how many of those that count as in flight are known to be lost, by
// the slot in which they were due: later ones of the same stream have come, and
// nothing tells that they still may. What the broker had refused, or was given
// up, is in flight no more.
func (r *run) accountMissing(total *result.Counters, now int64, intended func(*stream, uint64, int64) int64, censor func(recorder.ID, *stream, uint64, int64)) (lost map[int64]int64) {
	start, end := r.start.Load(), r.end.Load()
	lost = map[int64]int64{}
	var absent int64 // never ticked off, damaged ones included
	lastMissing := make([]marks, len(r.streams))
	for _, g := range r.groups {
		coming := r.stillComing(g, now)
		for _, st := range r.streams {
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
				if r.plan != nil {
					due = at - start
				}
				nacked := st.nacked.has(seq)
				if nacked {
					r.refusedBy(due, 1)
				} else if total.Censored++; r.paced {
					censor(r.deliveryMetric(), st, seq, at)
				}
				if r.rec.Enabled(recorder.DeliveryLast) && st.fan != nil && !st.lastUnknown.has(seq) && lastMissing[st.id].add(seq) {
					if nacked {
						r.rec.Refuse(recorder.DeliveryLast, due, 1)
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
					inFlight = r.ack == driver.AckKindNone
				case overtaken:
					total.LostAcked++
					inFlight = true
				default:
					total.Undelivered++
				}
				if overtaken && inFlight && r.paced {
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
func (r *run) stillComing(g *group, now int64) bool {
	waited, ways, coming := now-r.end.Load(), 0, false
	for _, c := range r.consumers {
		if c.group != g {
			continue
		}
		ways += max(1, len(c.highest))
		if c.unordered || !r.config.Entry.Capabilities.Ordered {
			ways++
		}
		coming = coming || c.newest != 0 && now-c.newest < waited/2
	}
	return coming && ways > 1
}

// deliveryMetric is the response metric of deliveries, deliveryService the
// service metric.
func (r *run) deliveryMetric() recorder.ID {
	if r.workload.Pattern == scenario.Deliver {
		return recorder.DeliveryResponse
	}
	return recorder.RoundTripResponse
}

func (r *run) deliveryService() recorder.ID {
	if r.workload.Pattern == scenario.Deliver {
		return recorder.DeliveryService
	}
	return recorder.RoundTripService
}

// intendedOf returns a function that tells when a message was due, by walking
// the schedule again; in a closed loop, and flat out, where only the send knew,
// it returns the latest instant possible.
func (r *run) intendedOf() func(st *stream, seq uint64, end int64) int64 {
	if r.plan == nil {
		return func(_ *stream, _ uint64, end int64) int64 { return end }
	}
	type walk struct {
		cursor schedule.Cursor
		turn   int // of the producer's streams, which is next
		at     map[*stream]uint64
	}
	walks := map[*stream]*walk{}
	start := r.start.Load()
	return func(st *stream, seq uint64, end int64) int64 {
		// One walk per stream and group; sequence numbers are asked for in
		// ascending order, so a walk goes on, or begins anew for the next
		// group.
		w := walks[st]
		if w == nil || w.at[st] > seq {
			w = &walk{cursor: r.plan.Producer(st.plan.producer), at: map[*stream]uint64{}}
			ids := r.layout.byProducer[st.plan.producer]
			// The window's first message went to the stream with the least
			// first sequence number in turn.
			var before uint64
			for _, id := range ids {
				w.at[r.streams[id]] = r.streams[id].first
				before += r.streams[id].first
			}
			w.turn = int(before % uint64(len(ids)))
			walks[st] = w
		}
		ids := r.layout.byProducer[st.plan.producer]
		for {
			offset, ok := w.cursor.Next()
			if !ok {
				return end
			}
			this := r.streams[ids[w.turn]]
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
