package engine

import (
	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// told is the collector's: what it has already written of a load's counters, and
// what it has for the next interval.
type told struct {
	counters result.Counters
	to       int64            // instant up to which there are intervals; 0: there are none
	schedule *schedule.Merged // how far the schedule has come due
	next     int64
	more     bool
	due      int64
	levels   []result.Level // of the interval at hand
	pauses   []result.Pause // likewise
	level    level
	pacers   pacerWatch
}

// level is what had been counted at the last reading.
type level struct{ at, due, sent int64 }

// takeLevel reads what is due, sent and in flight within an interval.
func (ld *load) takeLevel(now int64) {
	c := ld.counts()
	if ld.schedule != nil {
		c.Scheduled = ld.dueBy(min(now, ld.end.Load()) - ld.start.Load())
	}
	k := &ld.told
	// As in sinceLast, what was counted as sent is not taken back.
	due, sent := max(c.Scheduled, k.level.due), max(c.Sent+c.Rejected, k.level.sent)
	k.levels = append(k.levels, result.Level{At: now - ld.start.Load(), Due: due - k.level.due, Sent: sent - k.level.sent,
		InFlight: ld.inFlight(c), Backlog: max(0, due-sent)})
	k.level = level{at: now, due: due, sent: sent}
}

// tend takes what timed out out of the messages in flight, up to a sixty-fourth
// of the time limit later: each look goes through all that are.
func (ld *load) tend() {
	now := clock.Now()
	if now-ld.tended < int64(ld.workload.Timeout)/64 {
		return
	}
	ld.tended = now
	horizon := now - int64(ld.workload.Timeout)
	for _, l := range ld.lanes {
		if l.counted {
			l.expire(horizon)
		}
	}
}

// forgets reports whether the message that is about to be sent is one that
// [Config.Forget] drops.
func (ld *load) forgets() bool { return ld.due.Add(1)%ld.forget == 0 }

// counts sums the counters of the window so far. What can only be known at the
// end (missing, unknown, censored) is left at zero.
func (ld *load) counts() result.Counters {
	var c result.Counters
	for _, st := range ld.streams {
		n := st.sent.Load()
		c.Sent += n
		if len(ld.groups) > 0 {
			c.Expected += n * int64(st.plan.fanOut)
		}
		c.BytesSent += st.bytes.Load()
		c.LastUnknown += st.lastUnknown.n.Load()
	}
	for _, l := range ld.lanes {
		c.Rejected += l.rejected.Load()
		c.Acked += l.acked.Load()
		c.Nacked += l.nacked.Load()
		c.TimedOut += l.timedOut.Load()
	}
	for _, k := range ld.consumers {
		c.Received += k.received.Load()
		c.BytesRecv += k.bytes.Load()
		c.Duplicated += k.duplicated.Load()
		c.Redelivered += k.redelivered.Load()
		c.Reordered += k.reordered.Load()
		c.Late += k.late.Load()
		c.Corrupted += k.corrupted.Load()
		c.Foreign += k.foreign.Load()
	}
	if ld.schedule == nil { // else the schedule says
		c.Scheduled = c.Sent + c.Rejected
	}
	c.LateReplies = ld.lateReplies.Load()
	c.Violations = ld.violations.Load()
	c.Handovers = ld.handovers.Load()
	c.Dropped = ld.dropped.Load()
	c.Returned = ld.returned.Load()
	if size, alike := ld.workload.Size.Fixed(); alike {
		c.BytesSent, c.BytesRecv = c.Sent*int64(size), c.Received*int64(size)
	}
	return c
}

// sinceLast returns what was counted since it was called last.
func (ld *load) sinceLast(counters result.Counters) result.Counters {
	delta := counters
	delta.Sub(ld.told.counters)
	ld.told.counters = counters
	return delta
}

// interval makes the record of the interval [from, to) of what has been recorded
// and counted. What it is made of is used again for the next one: garbage is not
// collected while the window lasts.
func (ld *load) interval(phase string, from, to int64) (v result.Interval, err error) {
	start := ld.start.Load()
	ld.rec.Snapshot()
	counters := ld.counts()
	// A send in progress that is refused in the end was counted as sent
	// meanwhile; that is not taken back before others make up for it.
	counters.Sent = max(counters.Sent, ld.told.counters.Sent)
	counters.Expected = max(counters.Expected, ld.told.counters.Expected)
	counters.BytesSent = max(counters.BytesSent, ld.told.counters.BytesSent)
	if ld.schedule != nil {
		// As of now, after the others were read: nothing is sent before it is due.
		counters.Scheduled = ld.dueBy(min(clock.Now(), ld.end.Load()) - start)
	}
	metrics, clamps, err := ld.rec.Encode()
	if err != nil {
		return v, err
	}
	delta := ld.sinceLast(counters)
	// Clamps come from the recorder, by interval.
	delta.Negative, delta.OutOfRange = clamps.Negative, clamps.OutOfRange
	v = result.Interval{Phase: phase, Start: from - start, End: to - start, Metrics: metrics, Counters: delta,
		InFlight: ld.inFlight(counters), Backlog: max(0, counters.Scheduled-counters.Sent-counters.Rejected), Levels: ld.told.levels}
	ld.told.level = level{at: to, due: counters.Scheduled, sent: counters.Sent + counters.Rejected}
	return v, nil
}

// dueBy returns how many messages of the window are due before offset. It
// walks the schedule once, along with the run.
func (ld *load) dueBy(offset int64) int64 {
	k := &ld.told
	if k.schedule == nil {
		all := make([]int, ld.workload.Producers)
		for i := range all {
			all[i] = i
		}
		k.schedule = ld.schedule.Merge(all, schedule.Window)
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
func (ld *load) inFlight(c result.Counters) int64 {
	var unacknowledged, undelivered int64
	if ld.ack != driver.AckKindNone {
		unacknowledged = c.Sent - c.Acked - c.Nacked - ld.unanswered()
	}
	if c.Expected > 0 && c.Sent > 0 { // in messages
		undelivered = (c.Expected-c.Received-c.Corrupted)*c.Sent/c.Expected - c.Nacked - ld.unanswered()
	}
	return max(unacknowledged, undelivered, 0)
}

// unanswered returns how many measured messages the driver has given up on.
func (ld *load) unanswered() (n int64) {
	for _, l := range ld.lanes {
		n += l.unanswered.Load()
	}
	return n
}
