package vitals

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"sixnines/result"
)

// Pause is an interval in which a hiccup meter was late, or between two readings
// of a counter that grew. A meter's pause begins when the meter was due, so the
// process may have been paused for up to one period longer. A counter's pause is
// up to two looks longer than what was counted.
type Pause struct {
	Start  int64              `json:"start"` // CLOCK_MONOTONIC ns, as internal/clock counts
	End    int64              `json:"end"`   // likewise
	Source result.PauseSource `json:"source"`
}

// Length returns End − Start.
func (p Pause) Length() time.Duration { return time.Duration(p.End - p.Start) }

// Freezes returns the intervals in which the thread and the goroutine meter were
// paused at the same time, ordered and disjoint, with [result.PauseProcess]: the whole
// process was stopped, by a SIGSTOP, a container's freezer or the hypervisor, or got no
// processor at all. A pause of one meter alone is not a freeze, however long. pauses may be
// in any order and is not changed.
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

// union returns the pauses of one source in order, with touching ones joined.
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
	reported uint64 // pauses with a number up to this were returned by unreported, or dropped
}

type keptPause struct {
	Pause
	number uint64 // counts from 1
}

func newPauseList(limit int) *pauseList {
	return &pauseList{kept: make([]keptPause, 0, limit)}
}

// add adds p. If the list is full it drops the shortest pause: of those returned by
// unreported if it has any, else of all including p. So many small pauses do not displace
// the freeze that invalidates the run, and old pauses do not displace new ones.
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

// unreported appends the pauses added since the last call, in no order.
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

// endingAfter appends the pauses that ended after an instant, in no order.
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
