package vitals

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"sixnines/result"
)

// Pause is an interval in which a hiccup meter should have run and did not, or
// between the looks at a counter that grew. A meter's begins when it was due, so
// a pause of the process lasts up to one period longer than the interval that shows
// it; a counter's interval lasts longer than what it shows, by up to two looks.
type Pause struct {
	Start  int64              `json:"start"` // CLOCK_MONOTONIC ns, as internal/clock counts
	End    int64              `json:"end"`   // likewise
	Source result.PauseSource `json:"source"`
}

// Length returns End − Start.
func (p Pause) Length() time.Duration { return time.Duration(p.End - p.Start) }

// Freezes returns the intervals in which both meters were stopped together, in
// order and disjoint, with [result.PauseProcess]: the whole process was frozen, by a
// SIGSTOP, a container's freezer or the hypervisor, or got no processor at all.
// A pause of one meter alone is no freeze, however long. The order of pauses
// does not matter.
func Freezes(pauses []Pause) []Pause {
	threads, goroutines := union(pauses, result.PauseThread), union(pauses, result.PauseGoroutine)
	var both []Pause
	for len(threads) > 0 && len(goroutines) > 0 {
		t, g := threads[0], goroutines[0]
		if start, end := max(t.Start, g.Start), min(t.End, g.End); start < end {
			both = append(both, Pause{Start: start, End: end, Source: result.PauseProcess})
		}
		if t.End < g.End {
			threads = threads[1:]
		} else {
			goroutines = goroutines[1:]
		}
	}
	return both
}

// union returns the pauses of one source in order, those that touch made one.
func union(pauses []Pause, source result.PauseSource) []Pause {
	var own []Pause
	for _, p := range pauses {
		if p.Source == source && p.Start < p.End {
			own = append(own, p)
		}
	}
	sortByStart(own)
	merged := own[:0]
	for _, p := range own {
		if n := len(merged); n > 0 && p.Start <= merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, p.End)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

func sortByStart(pauses []Pause) {
	slices.SortFunc(pauses, func(a, b Pause) int { return cmp.Compare(a.Start, b.Start) })
}

// pauseList keeps the longest pauses up to a limit and counts the rest. Safe
// for concurrent use.
type pauseList struct {
	mu       sync.Mutex
	kept     []keptPause // never grows beyond its capacity
	added    uint64
	dropped  uint64
	reported uint64 // how many of those added unreported has returned or never will
}

type keptPause struct {
	Pause
	number uint64 // counts from 1
}

func newPauseList(limit int) *pauseList {
	return &pauseList{kept: make([]keptPause, 0, limit)}
}

// add keeps p. With the list full the shortest is dropped, of those that were returned
// already if there are any: many small pauses must not displace the freeze that
// invalidates the run, nor old ones the next.
func (l *pauseList) add(p Pause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	next := keptPause{p, l.added}
	if len(l.kept) < cap(l.kept) {
		l.kept = append(l.kept, next)
		return
	}
	l.dropped++
	shortest := 0
	for i, k := range l.kept {
		s := l.kept[shortest]
		if reported := k.number <= l.reported; reported != (s.number <= l.reported) {
			if reported {
				shortest = i
			}
		} else if k.Length() < s.Length() {
			shortest = i
		}
	}
	if s := l.kept[shortest]; s.number <= l.reported || s.Length() < p.Length() {
		l.kept[shortest] = next
	}
}

// unreported returns those that were added since the last call, in no order.
func (l *pauseList) unreported(out []Pause) []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kept {
		if k.number > l.reported {
			out = append(out, k.Pause)
		}
	}
	l.reported = l.added
	return out
}

// endingAfter appends those that ended after an instant, in no order.
func (l *pauseList) endingAfter(at int64, out []Pause) []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kept {
		if k.End > at {
			out = append(out, k.Pause)
		}
	}
	return out
}

// list returns a copy in order of Start.
func (l *pauseList) list() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := make([]Pause, len(l.kept))
	for i, k := range l.kept {
		own[i] = k.Pause
	}
	sortByStart(own)
	return own
}

// totals returns how many pauses were ever added and how many were dropped.
func (l *pauseList) totals() (added, dropped uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.added, l.dropped
}
