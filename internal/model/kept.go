package model

import (
	"math"
	"slices"
)

// kept says what happens to the backlog of consumers that come late or pause. It is gone at
// the first reading, after the consumers resumed and after the peak, at which at most 1 % of
// the peak is left, or no more than before the pause. Readings are taken at the ends of
// intervals, when consumers connect, pause and resume, and at further instants that the
// method does not fix. So a condition that holds at no instant holds at no reading, one that
// holds at the end of an interval holds at a reading, and anything else may do either.
type kept struct {
	answer answerToOverload // whether the backlog was left
	gone   int64            // the last instant at which it may be found to be gone; never: it may not be found
	sooner int64            // the first such instant
}

// keeps computes what happens to the backlog of a load that does not stop.
func (l *ledger) keeps() kept {
	c := &l.w.Consumer
	from, pausedAt := l.at.Connected, int64(0)
	if c.Pause.For > 0 {
		from, pausedAt = int64(c.Pause.At+c.Pause.For), int64(c.Pause.At)
	}
	type change struct{ at, by int64 }
	var changes []change
	for _, m := range l.all {
		if m.due < 0 || m.due >= l.end || m.answer == unsent || m.answer == atOnce || m.sent > l.closed {
			continue
		}
		for g := range l.layout.groups {
			if !l.layout.groups[g].has(l.layout.streams[m.stream].topic) {
				continue
			}
			changes = append(changes, change{m.sent, 1})
			if r := l.had(m, g, false); r != nil {
				changes = append(changes, change{r.at, -1})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return int(max(-1, min(1, a.at-b.at))) })
	var mostBefore, peak int64 // at any instant
	var left int64
	type level struct{ at, left int64 } // from then on
	levels := []level{{0, 0}}
	for i, x := range changes {
		left += x.by
		if i+1 < len(changes) && changes[i+1].at == x.at {
			if x.at == from { // the reading is taken before the first delivery of the backlog
				peak = max(peak, left)
			}
			continue
		}
		levels = append(levels, level{x.at, left})
	}
	for i, x := range levels {
		until := int64(never)
		if i+1 < len(levels) {
			until = levels[i+1].at
		}
		if x.at <= pausedAt {
			mostBefore = max(mostBefore, x.left)
		}
		if until > pausedAt {
			peak = max(peak, x.left)
		}
	}
	at := func(t int64) int64 {
		t = max(t, 0)
		n, _ := slices.BinarySearchFunc(levels, t, func(x level, t int64) int { return int(max(-1, min(1, x.at-t))) })
		if n < len(levels) && levels[n].at == t {
			return levels[n].left
		}
		return levels[n-1].left
	}
	leastBefore, leastPeak, peaked := int64(0), at(from-1), from
	ends := l.ends()
	for _, t := range ends {
		if t <= pausedAt {
			leastBefore = max(leastBefore, at(t))
		} else if n := at(t); n > leastPeak {
			leastPeak = n
		}
	}
	for i, x := range levels { // the last instant that can be that of the peak
		if x.left >= leastPeak && x.at <= l.end {
			peaked = max(peaked, x.at)
			if i+1 < len(levels) {
				peaked = max(peaked, min(levels[i+1].at, l.end)-1)
			}
		}
	}
	few := func(peak, before int64) int64 { return max(before, int64(math.Ceil(keptLeft*float64(peak)))) }
	k := kept{answer: is, gone: never, sooner: never}
	for i, x := range levels { // at any instant
		until := int64(never)
		if i+1 < len(levels) {
			until = levels[i+1].at
		}
		if until > from && x.at <= l.end && x.left <= few(peak, mostBefore) {
			k.answer, k.sooner = maybe, max(x.at, from)
			break
		}
	}
	for _, t := range ends {
		if t > peaked && t <= l.end && at(t) <= few(leastPeak, leastBefore) {
			k.answer, k.gone = isNot, t
			break
		}
	}
	if from >= l.end {
		k.answer = is
	}
	return k
}

// keptLeft is the share of its peak that may be left when a backlog counts as gone.
const keptLeft = 0.01
