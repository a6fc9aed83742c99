// Package window says when a run measures, whether it is over, and how its goroutines wait for an
// instant or for each other, in real time or in virtual time.
package window

import "sync/atomic"

// Never is an instant that does not come.
const Never = int64(1) << 62

// Window is when a load, or a run, measures: from Start up to End, CLOCK_MONOTONIC. Both are Never until
// the run's goroutine fixes them. From then on Start does not change, and any goroutine may move End to
// sooner. An unpaced load's End bounds its warm-up before that. Any goroutine reads.
type Window struct{ Start, End atomic.Int64 }

// Reset makes both instants Never. Nothing reads the window yet.
func (w *Window) Reset() {
	w.Start.Store(Never)
	w.End.Store(Never)
}

// Fix sets both instants. Until then nothing belongs to the window.
func (w *Window) Fix(start, end int64) {
	w.End.Store(end) // first: a goroutine that reads this start reads this end, or a sooner one
	w.Start.Store(start)
}

// EndBy moves the end to now, CLOCK_MONOTONIC, unless it is sooner already, and reports whether it moved.
// A window that has not begun is then empty. It is safe for concurrent use.
func (w *Window) EndBy(now int64) bool { return Lower(&w.End, max(now, w.Start.Load())) }

// NeverBegan reports whether the window is empty, since the run was ended before it, or not fixed yet.
func (w *Window) NeverBegan() bool { return w.End.Load() <= w.Start.Load() }

// Lower moves an instant to a sooner one, and reports whether it moved. It is safe for concurrent use:
// of several callers the soonest instant stays.
func Lower(t *atomic.Int64, to int64) bool {
	for was := t.Load(); to < was; was = t.Load() {
		if t.CompareAndSwap(was, to) {
			return true
		}
	}
	return false
}
