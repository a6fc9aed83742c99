package vitals

import (
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

const (
	// quickLook is the interval between readings of the cheap counters. It is the
	// precision of a stretch, and so of telling a slow message from its neighbours.
	// BenchmarkLook has the cost.
	quickLook = int64(20 * time.Millisecond)
	// slowLook is the interval for counters in ticks of 10 ms.
	slowLook = int64(100 * time.Millisecond)
	// mergeWithin is how long ago a stretch may have ended and still be continued.
	mergeWithin = slowLook + slowLook/2
	// freshLook is the age of the last look below which flush takes no new one.
	freshLook = quickLook / 2
)

// stretch returns the pause for a counter that grew by grown ns between two readings
// that should be every ns apart. If this process was paused, the readings are further
// apart; the pause is then cut to the time that the growth can have taken, at the end
// of the interval, because the counters grow when a wait is over.
func stretch(from, to, grown, every int64) Pause {
	return Pause{Start: max(from, to-max(grown, 2*every)), End: to}
}

// watcher looks at the counters of one source of pauses.
type watcher interface {
	// look appends the stretches in which the counters grew enough to matter, in
	// order of time; a stretch ends at now or before. now grows from call to call.
	// After an error the watcher is closed. The caller holds watch.mu.
	look(now int64, out []Pause) ([]Pause, error)
	close()
}

// watched is a watcher that could be opened.
type watched struct {
	source result.PauseSource
	every  int64 // between two looks, ns
	watcher
	next int64             // when the next look is due
	open Pause             // the last stretch, if it may go on; else zero
	past [pastLength]Pause // a ring of the stretches before
	n    int               // how many stretches have ended
}

// pastLength is the number of stretches of a source that are remembered, for gaps
// of the idle process that overlap several: 16 periods of a quota are 1.6 s.
const pastLength = 16

// watcherOpener makes a watcher whose first stretch begins at now, or says why
// it cannot be opened.
type watcherOpener struct {
	source result.PauseSource
	every  int64
	open   func(now int64) (watcher, error)
}

// watch turns counters into pauses. Safe for concurrent use: its own goroutine looks,
// the monitor's callers flush, and the reader of the idle process adds gaps.
type watch struct {
	pauses *pauseList                                 // of counters
	gaps   *pauseList                                 // of meters; gets the idle process's gaps
	miss   func(source result.PauseSource, err error) // called when a source has failed for good
	stop   atomic.Bool                                // ends run

	mu      sync.Mutex // guards the fields below and all of watched
	list    []*watched
	idle    []idleGap
	latest  int64 // when the last look was
	scratch []Pause
}

// idleGap is a gap of the idle process that waits for two looks: only then is it known
// whether a quota caused it.
type idleGap struct {
	Pause
	looks int
}

// maxIdleGaps bounds the gaps that wait for looks.
const maxIdleGaps = 1024

func newWatch(pauses, gaps *pauseList, openers []watcherOpener, now int64, miss func(result.PauseSource, error)) *watch {
	w := &watch{pauses: pauses, gaps: gaps, miss: miss, latest: now, scratch: make([]Pause, 0, 64)}
	for _, o := range openers {
		x, err := o.open(now)
		if err != nil {
			miss(o.source, err)
			continue
		}
		w.list = append(w.list, &watched{source: o.source, every: o.every, watcher: x, next: now + o.every})
	}
	return w
}

// run takes a look every quickLook until stop is set.
func (w *watch) run() {
	for !w.stop.Load() {
		time.Sleep(time.Duration(quickLook))
		w.look(clock.Now())
	}
}

// look reads the counters that are due.
func (w *watch) look(now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked(now, false)
}

// lookLocked reads the counters that are due, or all. The caller holds w.mu.
func (w *watch) lookLocked(now int64, all bool) {
	if now <= w.latest {
		return
	}
	w.latest = now
	for i := 0; i < len(w.list); i++ {
		x := w.list[i]
		if now < x.next && !all {
			continue
		}
		x.next = now + x.every
		grown, err := x.look(now, w.scratch[:0])
		if err != nil {
			w.miss(x.source, err)
			w.settle(x)
			x.close()
			w.list = append(w.list[:i], w.list[i+1:]...)
			i--
			continue
		}
		for _, p := range grown {
			p.Source = x.source
			if x.open != (Pause{}) && p.Start <= x.open.End {
				x.open.Start, x.open.End = min(x.open.Start, p.Start), max(x.open.End, p.End)
				continue
			}
			w.settle(x)
			x.open = p
		}
		if now-x.open.End > mergeWithin {
			w.settle(x)
		}
	}
	w.judgeIdle()
}

// settle ends the open stretch of x, if it has one. The caller holds w.mu.
func (w *watch) settle(x *watched) {
	if x.open == (Pause{}) {
		return
	}
	w.pauses.add(x.open)
	x.past[x.n%pastLength] = x.open
	x.n++
	x.open = Pause{}
}

// idleGap adds a gap of the idle process; judgeIdle decides on it after two looks.
func (w *watch) idleGap(p Pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) == maxIdleGaps { // looks are missing: keep the oldest gap without judging it
		w.gaps.add(w.idle[0].Pause)
		w.idle = append(w.idle[:0], w.idle[1:]...)
	}
	w.idle = append(w.idle, idleGap{Pause: p})
}

// judgeIdle decides on the idle process's gaps after which two looks were taken: a
// gap that a quota caused is dropped. The caller holds w.mu.
func (w *watch) judgeIdle() {
	waiting := w.idle[:0]
	for _, g := range w.idle {
		if g.looks++; g.looks < 2 {
			waiting = append(waiting, g)
		} else if !w.throttled(g.Pause) {
			w.gaps.add(g.Pause)
		}
	}
	w.idle = waiting
}

// throttled reports whether a quota stopped the process during half of p or more: such
// a gap says nothing about the machine. The caller holds w.mu.
func (w *watch) throttled(p Pause) bool {
	for _, x := range w.list {
		if x.source != result.PauseThrottled {
			continue
		}
		held := overlap(p, x.open)
		for _, past := range x.past { // disjoint, and the empty ones overlap nothing
			held += overlap(p, past)
		}
		return 2*held >= int64(p.Length())
	}
	return false
}

func overlap(a, b Pause) int64 { return max(0, min(a.End, b.End)-max(a.Start, b.Start)) }

// flush ends all stretches at now; one that goes on begins again with the next look.
func (w *watch) flush(now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now-w.latest >= freshLook {
		w.lookLocked(now, false)
	}
	for _, x := range w.list {
		w.settle(x)
	}
}

// close takes a last look, ends all stretches and closes the counters. run must have
// returned.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked(clock.Now(), true)
	w.lookLocked(clock.Now(), false) // a second look, for gaps that wait for two
	for _, x := range w.list {
		w.settle(x)
		x.close()
	}
	w.list = nil
	for _, g := range w.idle {
		w.gaps.add(g.Pause)
	}
	w.idle = nil
}
