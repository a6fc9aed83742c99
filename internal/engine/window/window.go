// Package window says when a run measures, whether it is over, and how its goroutines wait for an
// instant or for each other, in real time or in virtual time.
package window

import "sync/atomic"

// Never is an instant that does not come.
const Never = int64(1) << 62

// Window is when a load, or a run, measures: from start up to end, CLOCK_MONOTONIC. Both are far
// off until they are known, and the end is only ever moved to sooner. Anyone may read it;
// start is fixed once, by the run.
type Window struct{ Start, End atomic.Int64 }

// Reset makes both instants far off.
func (w *Window) Reset() {
	w.Start.Store(Never)
	w.End.Store(Never)
}

// Fix sets both instants. Until then nothing belongs to the window.
func (w *Window) Fix(start, end int64) {
	w.End.Store(end) // first: who sees the start also sees the end
	w.Start.Store(start)
}

// EndBy moves the end to now, unless it is sooner. It reports whether it was later. A window that
// has not begun is then empty.
func (w *Window) EndBy(now int64) bool { return Lower(&w.End, max(now, w.Start.Load())) }

// NeverBegan reports whether the run was ended before the window.
func (w *Window) NeverBegan() bool { return w.End.Load() <= w.Start.Load() }

// Lower moves an instant to a sooner one, and reports whether it was later.
func Lower(t *atomic.Int64, to int64) bool {
	for was := t.Load(); to < was; was = t.Load() {
		if t.CompareAndSwap(was, to) {
			return true
		}
	}
	return false
}
