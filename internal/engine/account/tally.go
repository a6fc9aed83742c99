package account

import (
	"math/bits"

	"sixnines/internal/clock"
	"sixnines/internal/engine/send"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// reported is what intervals have had of a load's counters so far, and
// what it has for the next interval.
type reported struct {
	Counters result.Counters
	To       int64            // end of the last interval; 0 without intervals
	schedule *schedule.Merged // how far the schedule has come due
	next     int64
	more     bool
	due      int64
	Levels   []result.Level          // of the interval at hand
	readings []result.BacklogReading // likewise
	Pauses   []result.Pause          // likewise
	Level    level
	Pacers   send.PacerWatch
	// Unmeasured is how many messages had been sent outside the window.
	Unmeasured int64
	intervals  int64 // written
}

// level is what had been counted at the last reading.
type level struct{ At, due, sent int64 }

// TakeLevel reads what is due, sent and in flight within an interval.
func (a *Accounts) TakeLevel(now int64) {
	c := a.Counts()
	if a.Schedule != nil {
		// Up to this very instant, after the others were read: what was sent was due.
		c.Scheduled = a.dueBy(min(clock.Now()+1, a.End.Load()) - a.Start.Load())
	}
	k := &a.Reported
	// As in sinceLast, what was counted as sent is not taken back.
	due, sent := max(c.Scheduled, k.Level.due), max(c.Sent+c.Rejected, k.Level.sent)
	k.Levels = append(k.Levels, result.Level{At: now - a.Start.Load(), Due: due - k.Level.due, Sent: sent - k.Level.sent,
		InFlight: a.inFlight(c), Backlog: max(0, due-sent)})
	k.Level = level{At: now, due: due, sent: sent}
}

// Counts sums the counters of the window so far. What can only be known at the
// end (missing, unknown, censored) is left at zero.
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
		c.Foreign += k.Foreign.Load()
		c.Earlier += k.Earlier.Load()
		c.EarlierDuplicated += k.EarlierAgain.Load()
	}
	if a.Schedule == nil { // else the schedule says
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

// sinceLast returns what was counted since it was called last.
func (a *Accounts) sinceLast(counters result.Counters) result.Counters {
	delta := counters
	delta.Sub(a.Reported.Counters)
	a.Reported.Counters = counters
	return delta
}

// Interval makes the record of the interval [from, to) of what has been recorded
// and counted. What it is made of is used again for the next one: garbage is not
// collected while the window lasts.
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
		// As of now, after the others were read: nothing is sent before it is due.
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

// dueBy returns how many messages of the window are due before offset. It
// walks the schedule once, along with the run.
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
// past the window, and what they handed over was answered and delivered.
func (a *Accounts) Resolved() bool {
	if a.NeverBegan() {
		return true
	}
	if !a.Sending.IsPast() {
		return false
	}
	c := a.Counts()
	return a.Answered(c) && c.Received+c.Corrupted >= c.Expected
}

// Answered reports whether the broker has answered what was sent so far, or it was
// given up.
func (a *Accounts) Answered(c result.Counters) bool {
	return !a.Flow.Acked || c.Acked+c.Nacked+a.Sending.Unanswered() >= c.Sent
}

// Within reports whether the load has a part in the run's interval from runFrom to to.
// Before its window it has none, and none while an interval that began before its window
// ends in it: what has come until then belongs to the next one, or to this one if there
// is no next.
func (a *Accounts) Within(runFrom, to int64) bool {
	start := a.Start.Load()
	return to > max(a.Reported.To, start) && (runFrom >= start || a.Stopped.Load())
}

// Next returns the load's next interval, which goes on until to: it begins where its last
// one ended, or with its window.
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

// KeepPauses keeps the pauses that ended in the load's window, or later, for its
// next interval, with instants from the window's start.
func (a *Accounts) KeepPauses(all []result.Pause) {
	for _, p := range all {
		p.Start -= int64(a.Part.From)
		p.End -= int64(a.Part.From)
		if p.End > 0 {
			a.Reported.Pauses = append(a.Reported.Pauses, p)
		}
	}
}
