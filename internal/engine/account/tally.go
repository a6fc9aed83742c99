package account

import (
	"math/bits"

	"sixnines/internal/clock"
	"sixnines/internal/engine/send"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// reported is what intervals have had of a load's counters so far, and what is kept for the next
// interval. It has no lock: see Accounts.Reported.
type reported struct {
	Counters result.Counters  // sums over the intervals so far
	To       int64            // end of the last interval, CLOCK_MONOTONIC; 0 without intervals
	schedule *schedule.Merged // the part of the window's schedule after what dueBy has walked; nil: it has not begun
	next     int64            // when the first message of that is due, ns from the window's start
	more     bool             // there is one
	due      int64            // messages that dueBy has walked
	Levels   []result.Level   // of the interval at hand; the memory is used again, as that of the next two
	readings []result.BacklogReading
	Pauses   []result.Pause // instants are ns from the window's start
	Level    level
	Pacers   send.PacerWatch // how busy pacers were, as of the last interval
	// Unmeasured is how many messages had been sent outside the window by the last interval.
	Unmeasured int64
	intervals  int64 // that were written
}

// level is what had been counted at the last reading: At is CLOCK_MONOTONIC, the others are messages
// since the window's start.
type level struct{ At, due, sent int64 }

// TakeLevel adds to the interval at hand what is due, sent and in flight at now, CLOCK_MONOTONIC. It
// belongs to the collector.
func (a *Accounts) TakeLevel(now int64) {
	c := a.Counts()
	if a.Schedule != nil {
		// Up to this instant, read after the other counters: what was sent by then was due.
		c.Scheduled = a.dueBy(min(clock.Now()+1, a.End.Load()) - a.Start.Load())
	}
	k := &a.Reported
	// As in Interval, what was counted as sent is not taken back.
	due, sent := max(c.Scheduled, k.Level.due), max(c.Sent+c.Rejected, k.Level.sent)
	k.Levels = append(k.Levels, result.Level{At: now - a.Start.Load(), Due: due - k.Level.due, Sent: sent - k.Level.sent,
		InFlight: a.inFlight(c), Backlog: max(0, due-sent)})
	k.Level = level{At: now, due: due, sent: sent}
}

// Counts sums the counters of the window so far. What can only be known at the
// end (missing, unknown, censored) is left at zero. It is safe for concurrent use. The counters are read
// one after the other while they grow, so differences between them may be off by what happens meanwhile.
func (a *Accounts) Counts() result.Counters {
	var c result.Counters
	for _, st := range a.Sending.Streams {
		n := st.Sent.Load()
		c.Sent += n
		if len(a.Receiving.Groups) > 0 {
			c.Expected += n * int64(st.Plan.FanOut)
		}
		c.BytesSent += st.Bytes.Load()
		c.LastUnknown += st.LastUnknown.N.Load()
		c.EndedReceived += st.EndedReceived.Load()
	}
	for _, l := range a.Sending.Lanes {
		c.Rejected += l.Rejected.Load()
		c.Acked += l.Acked.Load()
		c.Nacked += l.Nacked.Load()
		c.TimedOut += l.Credits.TimedOut.Load()
	}
	for _, k := range a.Receiving.Consumers {
		c.Received += k.Received.Load()
		c.BytesRecv += k.Bytes.Load()
		c.Duplicated += k.Duplicated.Load()
		c.Redelivered += k.Redelivered.Load()
		c.Reordered += k.Reordered.Load()
		c.Late += k.Late.Load()
		c.Corrupted += k.Corrupted.Load()
		c.CorruptedCopies += k.CorruptedCopies.Load()
		c.Foreign += k.Foreign.Load()
		c.Earlier += k.Earlier.Load()
		c.EarlierDuplicated += k.EarlierAgain.Load()
	}
	c.CorruptedCopies = min(c.CorruptedCopies, c.Corrupted) // one may be counted before its delivery is
	c.Corrupted -= c.CorruptedCopies
	c.Duplicated += c.CorruptedCopies
	if a.Flow.Listens { // how many were sent, other processes know
		c.Expected = c.Received + c.Corrupted
	}
	if a.Schedule == nil { // else it is what the schedule has: see dueBy
		c.Scheduled = c.Sent + c.Rejected
	}
	c.LateReplies = a.Receiving.LateReplies.Load()
	c.Violations = a.Sending.Violations.Load()
	c.Takeovers = a.Sending.Takeovers.Load()
	c.Dropped = a.Session.Dropped.Load()
	c.Returned = a.Session.Returned.Load()
	c.Denied = a.Session.Denied.Load()
	if size, alike := a.Workload.Size.Fixed(); alike {
		c.BytesSent, c.BytesRecv = c.Sent*int64(size), c.Received*int64(size)
	}
	return c
}

// sinceLast returns what was counted since it was called last. It belongs to the collector.
func (a *Accounts) sinceLast(counters result.Counters) result.Counters {
	delta := counters
	delta.Sub(a.Reported.Counters)
	a.Reported.Counters = counters
	return delta
}

// Interval makes the record of the interval [from, to), CLOCK_MONOTONIC, of what has been recorded
// and counted. It is valid until the next call, which uses its memory again: garbage is not
// collected while the window lasts. It belongs to the collector. The error is the recorder's.
func (a *Accounts) Interval(phase string, from, to int64) (v result.Interval, err error) {
	start := a.Start.Load()
	counters := a.Counts()
	// A send in progress that is refused in the end was counted as sent meanwhile. It stays
	// so, and is not refused yet, until later sends make up for it: the count does not fall.
	if over := a.Reported.Counters.Sent - counters.Sent; over > 0 {
		counters.Sent += over
		counters.Rejected = max(counters.Rejected-over, a.Reported.Counters.Rejected)
	}
	counters.Expected = max(counters.Expected, a.Reported.Counters.Expected)
	counters.BytesSent = max(counters.BytesSent, a.Reported.Counters.BytesSent)
	if a.Schedule != nil {
		// Up to now, read after the other counters: nothing is sent before it is due, so no more can be sent than are due.
		counters.Scheduled = a.dueBy(min(clock.Now(), a.End.Load()) - start)
	}
	metrics, clamps, err := a.Recording.Rec.Encode()
	if err != nil {
		return v, err
	}
	delta := a.sinceLast(counters)
	// Clamps come from the recorder, by interval.
	delta.Negative, delta.OutOfRange = clamps.Negative, clamps.OutOfRange
	v = result.Interval{Phase: phase, Start: from - start, End: to - start, Metrics: metrics, Counters: delta,
		InFlight: a.inFlight(counters), Backlog: max(0, counters.Scheduled-counters.Sent-counters.Rejected), Levels: a.Reported.Levels, Depth: a.Receiving.Depth.Newest.Swap(nil)}
	a.Reported.readings = a.held(a.Reported.readings, v.End)
	v.Readings = a.Reported.readings
	a.Reported.Level = level{At: to, due: counters.Scheduled, sent: counters.Sent + counters.Rejected}
	return v, nil
}

// dueBy returns how many messages of the window are due before offset, ns from its start. It walks
// the schedule once, along with the run, so offsets must ascend. It belongs to the collector, and to
// the run's goroutine when that has ended.
func (a *Accounts) dueBy(offset int64) int64 {
	k := &a.Reported
	if k.schedule == nil {
		all := make([]int, a.Workload.Producers)
		for i := range all {
			all[i] = i
		}
		k.schedule = a.Schedule.Merge(all, schedule.Window)
		k.next, _, k.more = k.schedule.Next()
	}
	for k.more && k.next < offset {
		k.due++
		k.next, _, k.more = k.schedule.Next()
	}
	return k.due
}

// inFlight returns how many measured messages are not resolved: not
// acknowledged or not delivered, whichever are more. A broker that acknowledges
// at once may well be one whose consumers fall behind.
func (a *Accounts) inFlight(c result.Counters) int64 {
	var unacknowledged, undelivered int64
	if a.Flow.Acked {
		unacknowledged = c.Sent - c.Acked - c.Nacked - a.Sending.Unanswered()
	}
	if c.Expected > 0 && c.Sent > 0 { // in messages
		// expected × sent overflows 64 bits: 10⁹ messages × 100 consumers need 67.
		hi, lo := bits.Mul64(uint64(max(0, c.Expected-c.Received-c.Corrupted+c.EndedReceived)), uint64(c.Sent))
		messages, _ := bits.Div64(hi, lo, uint64(c.Expected))
		undelivered = int64(messages) - c.Nacked - a.Sending.Unanswered()
	}
	return max(unacknowledged, undelivered, 0)
}

// Resolved reports whether nothing measured is outstanding: all senders are
// past the window, and what they handed over was answered and delivered. It is safe for concurrent use:
// IsPast is read first, since only then the number sent grows no more.
func (a *Accounts) Resolved() bool {
	if a.NeverBegan() {
		return true
	}
	if a.Flow.Listens {
		return false // what is still on its way, it does not know
	}
	if !a.Sending.IsPast() {
		return false
	}
	c := a.Counts()
	return a.Answered(c) && c.Received+c.Corrupted >= c.Expected
}

// Answered reports whether every message that c counts as sent was answered by the broker, or given up.
// Without acknowledgements it is true.
func (a *Accounts) Answered(c result.Counters) bool {
	return !a.Flow.Acked || c.Acked+c.Nacked+a.Sending.Unanswered() >= c.Sent
}

// Within reports whether the load has an interval of its own in the run's interval from runFrom to to,
// CLOCK_MONOTONIC. It has not before its window, nor in an interval that began before its window: what
// came in that belongs to the next one, or to this one if it is the last.
func (a *Accounts) Within(runFrom, to int64) bool {
	start := a.Start.Load()
	return to > max(a.Reported.To, start) && (runFrom >= start || a.Stopped.Load())
}

// Next returns the load's next interval, which ends at to, or at the window's end if that is sooner. It
// begins where the load's last one ended, or with its window. Instants are CLOCK_MONOTONIC. It belongs
// to the collector.
func (a *Accounts) Next(phase string, to int64) (own string, from, until int64) {
	from = max(a.Reported.To, a.Start.Load())
	switch end := a.End.Load(); {
	case from >= end:
		phase = result.PhaseDrain
	case phase == result.PhaseMeasure && to > end:
		to = end
	}
	a.Reported.To = to
	a.Reported.intervals++
	return phase, from, to
}

// KeepPauses keeps for the load's next interval the pauses that ended in its window or later. Their
// instants are ns from the start of the run's window, and are kept as ns from that of the load's. It
// belongs to the collector.
func (a *Accounts) KeepPauses(all []result.Pause) {
	for _, p := range all {
		p.Start -= int64(a.Part.From)
		p.End -= int64(a.Part.From)
		if p.End > 0 {
			a.Reported.Pauses = append(a.Reported.Pauses, p)
		}
	}
}
