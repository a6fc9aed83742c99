package vitals

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Sources of a [Pause].
const (
	// SourceThread is the meter on a thread: the operating system or the
	// hypervisor did not let it run.
	SourceThread = "thread"
	// SourceGoroutine is the meter on a goroutine: the runtime, or the
	// operating system, did not let it run.
	SourceGoroutine = "goroutine"
	// SourceProcess marks what [Freezes] returns: both together.
	SourceProcess = "process"
)

// Pause is an interval in which a hiccup meter should have run and did not. It
// begins when the meter was due, so a stop of the process lasts up to one
// period longer than the pause that shows it.
type Pause struct {
	Start  int64  `json:"start"`  // CLOCK_MONOTONIC ns, as internal/clock counts
	End    int64  `json:"end"`    // likewise
	Source string `json:"source"` // one of the Source constants
}

// Length returns End − Start.
func (p Pause) Length() time.Duration { return time.Duration(p.End - p.Start) }

// Freezes returns the intervals in which both meters were stopped together, in
// order and disjoint, with [SourceProcess]: the whole process was frozen, by a
// SIGSTOP, a container's freezer or the hypervisor, or got no processor at all.
// A pause of one meter alone is no freeze, however long. The order of pauses
// does not matter.
func Freezes(pauses []Pause) []Pause {
	threads, goroutines := union(pauses, SourceThread), union(pauses, SourceGoroutine)
	var both []Pause
	for len(threads) > 0 && len(goroutines) > 0 {
		t, g := threads[0], goroutines[0]
		if start, end := max(t.Start, g.Start), min(t.End, g.End); start < end {
			both = append(both, Pause{Start: start, End: end, Source: SourceProcess})
		}
		if t.End < g.End {
			threads = threads[1:]
		} else {
			goroutines = goroutines[1:]
		}
	}
	return both
}

// union returns the pauses of one source in order, those that meet made one.
func union(pauses []Pause, source string) []Pause {
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
	mu      sync.Mutex
	kept    []Pause // never grows beyond its capacity
	added   uint64
	dropped uint64
}

func newPauseList(limit int) *pauseList {
	return &pauseList{kept: make([]Pause, 0, limit)}
}

// add keeps p. With the list full the shortest goes: many small pauses must
// not crowd out the freeze that invalidates the run.
func (l *pauseList) add(p Pause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	if len(l.kept) < cap(l.kept) {
		l.kept = append(l.kept, p)
		return
	}
	l.dropped++
	shortest := 0
	for i, k := range l.kept {
		if k.Length() < l.kept[shortest].Length() {
			shortest = i
		}
	}
	if l.kept[shortest].Length() < p.Length() {
		l.kept[shortest] = p
	}
}

// list returns a copy in order of Start.
func (l *pauseList) list() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := slices.Clone(l.kept)
	sortByStart(own)
	return own
}

// totals returns how many pauses were ever added and how many forgotten.
func (l *pauseList) totals() (added, dropped uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.added, l.dropped
}
