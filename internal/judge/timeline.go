package judge

import (
	"fmt"
	"math/bits"

	"sixnines/internal/spell"
	"sixnines/result"
)

// timeline returns contradictions in the order and the counters of a run's intervals, among
// each other and with the closing record and the header. same says that the version that
// reads the run also wrote it.
func timeline(run *result.Run, same bool) []Problem {
	t := &timetable{run: run, closing: run.Closing, same: same, last: -1}
	for i := range run.Series {
		if run.Series[i].Phase != result.PhaseClosing {
			t.last = i
		}
	}
	for i := range run.Series {
		t.interval(i, &run.Series[i])
	}
	t.whole()
	return t.found
}

// timetable is the state of one pass over the intervals of a run.
type timetable struct {
	run      *result.Run
	closing  *result.Closing
	same     bool
	last     int             // index of the interval before the closing record, −1 if none
	sum      result.Counters // of all intervals so far
	phase    string          // of the previous interval
	end      int64           // ns: end of the window's intervals so far
	measured int64           // number of the window's intervals so far
	found    []Problem
}

func (t *timetable) add(where, format string, a ...any) {
	t.found = append(t.found, Problem{where, fmt.Sprintf(format, a...)})
}

// paced reports whether the window's end was fixed before it was reached. It is false for one
// of several workloads, whose whole window may lie in one interval of the run that ended late.
func (t *timetable) paced() bool {
	h := &t.run.Header
	return h.Workload == "" && (h.Mode == result.ModeOpen || h.Mode == result.ModeClosed && h.Window > 0)
}

func (t *timetable) interval(i int, p *result.Point) {
	where := fmt.Sprintf("intervals.%d", i)
	h, k := &t.run.Header, &p.Counters
	before := t.sum
	t.sum.Add(*k)
	switch p.Phase {
	case result.PhaseMeasure, result.PhaseDrain, result.PhaseClosing:
		if phaseRank(p.Phase) < phaseRank(t.phase) || t.phase == result.PhaseClosing {
			t.add(where, "it is of the phase %q, after one of %q", p.Phase, t.phase)
		}
	default:
		t.add(where, "there is no phase %q", p.Phase)
	}
	t.phase = p.Phase
	if p.Phase == result.PhaseClosing {
		if p.Start != t.closing.GivenUp || p.End != p.Start {
			t.add(where, "it is from %d to %d, and what was left was given up at %d", p.Start, p.End, t.closing.GivenUp)
		}
	} else {
		t.timed(where, p)
		for _, f := range []struct {
			name string
			n    int64
		}{{"sent", k.Sent}, {"scheduled", k.Scheduled}, {"acked", k.Acked}, {"nacked", k.Nacked}, {"rejected", k.Rejected}, {"received", k.Received}, {"expected", k.Expected}} {
			if f.n < 0 {
				t.add(where+".counters."+f.name, "it is %d", f.n)
			}
		}
	}
	if want := max(0, t.sum.Scheduled-t.sum.Sent-t.sum.Rejected-t.sum.NotSent); p.Backlog != want && (p.Phase != result.PhaseClosing || t.same) {
		t.add(where+".backlog", "it is %d, by the counters %d", p.Backlog, want)
	}
	if h.Sizes == "" && h.Size > 0 {
		if want := k.Sent * h.Size; k.BytesSent != want {
			t.add(where+".counters.bytes_sent", "it is %d, and %s of %d bytes are %d", k.BytesSent, spell.Plural(k.Sent, "message"), h.Size, want)
		}
		if want := k.Received * h.Size; k.BytesRecv != want {
			t.add(where+".counters.bytes_received", "it is %d, and %s of %d bytes are %d", k.BytesRecv, spell.Plural(k.Received, "message"), h.Size, want)
		}
	}
	if whole := &t.run.Counters; whole.TimedOut == 0 && (h.Ack == ackNone || whole.Unknown == 0) { // messages given up are not in flight, and the counters do not say when
		if want := InFlight(h, t.sum); p.InFlight != want {
			t.add(where+".in_flight", "it is %d, by the counters %d", p.InFlight, want)
		}
	}
	t.levels(where, before, p)
}

// timed checks an interval's instants. Its length is not checked: a collector that was late
// for one interval may be in time for the next.
func (t *timetable) timed(where string, p *result.Point) {
	if p.Phase == result.PhaseMeasure {
		t.end = p.End
		t.measured++
	}
	switch {
	case p.End <= p.Start:
		t.add(where, "it has no length: from %d to %d", p.Start, p.End)
	case p.End > t.closing.GivenUp:
		t.add(where, "it ends at %d, and the run was over at %d", p.End, t.closing.GivenUp)
	case !t.paced():
	case p.Phase == result.PhaseMeasure && p.End > t.closing.End:
		t.add(where, "it ends at %d, and the window at %d", p.End, t.closing.End)
	case p.Phase == result.PhaseDrain && p.Start < t.closing.End:
		t.add(where, "it begins at %d, in the window, which ends at %d", p.Start, t.closing.End)
	}
}

// levels checks the readings within an interval. before are the counters at its start.
func (t *timetable) levels(where string, before result.Counters, p *result.Point) {
	var due, sent int64
	for n, l := range p.Levels {
		due, sent = due+l.Due, sent+l.Sent
		at := fmt.Sprintf("%s.levels.%d", where, n)
		waiting := before.Scheduled + due - before.Sent - before.Rejected - sent
		if want := max(0, waiting); l.Backlog != want {
			t.add(at+".backlog", "it is %d, by the counters %d", l.Backlog, want)
		}
		// Earlier versions read the schedule before the counters.
		if waiting < 0 && t.same {
			t.add(at, "%s more sent than were due by then", spell.Plural(-waiting, "message"))
		}
		if l.Due < 0 || l.Sent < 0 || l.InFlight < 0 {
			t.add(at, "less than nothing was due, sent or in flight: %d, %d, %d", l.Due, l.Sent, l.InFlight)
		}
	}
	// A window that is ended early takes back messages that were already counted, in the
	// interval in which it ends, so counters may be below 0.
	if due > max(0, p.Counters.Scheduled) || sent > max(0, p.Counters.Sent+p.Counters.Rejected) {
		t.add(where+".levels", "%s due and %s sent, and in the whole interval %s and %s",
			spell.Count(due), spell.Count(sent), spell.Count(p.Counters.Scheduled), spell.Count(p.Counters.Sent+p.Counters.Rejected))
	}
}

// whole checks all intervals together against the closing record and the header.
func (t *timetable) whole() {
	h, c := &t.run.Header, t.closing
	if t.phase != result.PhaseClosing {
		t.add("intervals", "the last one is of the phase %q, and none closes the accounts", t.phase)
	}
	if n := int64(t.last) + 1; n != c.Intervals {
		t.add("intervals", "there are %d before the closing record, and %d were written", n, c.Intervals)
	}
	if t.paced() && c.End > 0 && !c.Aborted && t.end != c.End {
		t.add("intervals", "those of the window end at %d, and the window at %d", t.end, c.End)
	}
	// One interval for each tick, and one to the end.
	if most := c.End/max(int64(h.Interval), 1) + 2; t.paced() && h.Interval > 0 && t.measured > most {
		t.add("intervals", "%d in a window of %s, which has at most %d of %s", t.measured, spell.Duration(c.End), most, spell.Period(h.Interval))
	}
	if t.paced() && h.Until == "" && !c.Interrupted && c.End != int64(h.Window) {
		t.add("closing.window_end", "it is %d, and a window of %s that nobody ended early ends at %d", c.End, spell.Period(h.Window), int64(h.Window))
	}
	if c.Interrupted && h.Window > 0 && c.End >= int64(h.Window) && !h.Fleet.Uneven() {
		t.add("closing.interrupted", "the window of %s was interrupted, and lasted until %d", spell.Period(h.Window), c.End)
	}
	last := int64(0)
	if t.last >= 0 {
		last = t.run.Series[t.last].End
	}
	for _, x := range []struct {
		name string
		at   int64
	}{{"last_acked", c.Acked}, {"last_received", c.Received}, {"synced", c.Synced}} {
		if x.at < 0 || x.at > max(last, c.GivenUp) {
			t.add("closing."+x.name, "it is %d, and the run lasted until %d", x.at, max(last, c.GivenUp))
		}
	}
	n := &t.run.Counters
	if (n.Acked > 0) != (c.Acked != 0) {
		t.add("closing.last_acked", "it is %d, and %s acknowledged", c.Acked, spell.Plural(n.Acked, "message"))
	}
	if (n.Received > 0) != (c.Received != 0) {
		t.add("closing.last_received", "it is %d, and %s received", c.Received, spell.Plural(n.Received, "message"))
	}
	var lost int64
	least, most := n.LostAcked, n.LostAcked+n.Undelivered // not everything undelivered is a backlog
	if b := t.run.ReadBack; b != nil && n.Expected > 0 {
		least, most = least+b.Removed+b.Dropped, most-b.Kept
	}
	for i, l := range t.run.Lost {
		if lost += l[1]; i > 0 && l[0] <= t.run.Lost[i-1][0] {
			t.add("lost", "slot %d comes after slot %d", l[0], t.run.Lost[i-1][0])
		}
	}
	switch {
	case h.Ack != ackNone && n.Corrupted == 0 && h.Mode == result.ModeOpen && (lost < least || lost > most):
		t.add("lost", "%s, and by the counters %s to %s", spell.Plural(lost, "message"), spell.Count(least), spell.Count(most))
	case lost > n.Missing && n.Corrupted == 0 && n.Foreign == 0: // damaged messages are recognised only later
		t.add("lost", "%s, and only %s missing", spell.Plural(lost, "message"), spell.Count(n.Missing))
	}
}

// phaseRank orders the phases in time.
func phaseRank(phase string) int {
	switch phase {
	case result.PhaseDrain:
		return 1
	case result.PhaseClosing:
		return 2
	}
	return 0
}

// InFlight returns how many messages are unresolved by the counters so far, like
// Interval.InFlight, if none was given up.
func InFlight(h *result.Header, c result.Counters) int64 {
	var unacknowledged, undelivered int64
	if h.Ack != ackNone {
		unacknowledged = c.Sent - c.Acked - c.Nacked
	}
	if c.Expected > 0 && c.Sent > 0 {
		hi, lo := bits.Mul64(uint64(max(0, c.Expected-c.Received-c.Corrupted+c.EndedReceived)), uint64(c.Sent))
		if hi < uint64(c.Expected) { // else the counters are impossible, and other checks say so
			messages, _ := bits.Div64(hi, lo, uint64(c.Expected))
			undelivered = int64(messages) - c.Nacked
		}
	}
	return max(unacknowledged, undelivered, 0)
}
