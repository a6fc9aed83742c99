package vitals

import (
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

const (
	// quickLook is how often the cheap counters are looked at: how
	// precisely a stretch can be placed decides how well a slow message can be
	// from its neighbours. BenchmarkLook has the cost.
	quickLook = int64(20 * time.Millisecond)
	// slowLook is for counters in ticks of 10 ms, which show nothing shorter.
	slowLook = int64(100 * time.Millisecond)
	// mergeWithin is how far a stretch may be in the past and still go on.
	mergeWithin = slowLook + slowLook/2
	// freshLook is how recent a look must be for none to be needed.
	freshLook = quickLook / 2
)

// stretch places growth by ns between two readings. Readings are a fixed time
// apart; where this process was paused they are farther, and a little growth
// before or after must not be taken for what went on all the time. What is
// counted when it is over is at the end.
func stretch(from, to, grown, every int64) Pause {
	return Pause{Start: max(from, to-max(grown, 2*every)), End: to}
}

// watcher looks at the counters of one source of pauses.
type watcher interface {
	// look appends the stretches in which they grew by what matters, in order,
	// none of which ends after now. It is called at growing instants.
	look(now int64, out []Pause) ([]Pause, error)
	close()
}

// watched is a watcher that could be opened.
type watched struct {
	source result.PauseSource
	every  int64 // between two looks, ns
	watcher
	next int64
	open Pause             // its last stretch, if it may go on
	past [pastLength]Pause // the ones before
	n    int               // how many there were
}

// pastLength is how many stretches of a source are remembered, for gaps of the
// idle process that overlap several: 16 periods of a quota are 1.6 s.
const pastLength = 16

// watcherOpener makes a watcher whose first stretch begins at now, or says why
// it cannot be opened.
type watcherOpener struct {
	source result.PauseSource
	every  int64
	open   func(now int64) (watcher, error)
}

// watch turns counters into pauses. Safe for concurrent use.
type watch struct {
	pauses *pauseList                                 // of counters
	gaps   *pauseList                                 // of meters, for the idle process's
	miss   func(source result.PauseSource, err error) // a source will give no more
	stop   atomic.Bool

	mu      sync.Mutex
	list    []*watched
	idle    []idleGap
	latest  int64 // when the last look was
	scratch []Pause
}

// idleGap waits for two looks: only then is it known whether a quota caused it.
type idleGap struct {
	Pause
	looks int
}

// maxIdleGaps bounds the gaps that wait between two looks.
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

// run looks until it is stopped.
func (w *watch) run() {
	for !w.stop.Load() {
		time.Sleep(time.Duration(quickLook))
		w.look(clock.Now())
	}
}

// look looks at what is due.
func (w *watch) look(now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked(now, false)
}

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

// settle ends the stretch that x has open.
func (w *watch) settle(x *watched) {
	if x.open == (Pause{}) {
		return
	}
	w.pauses.add(x.open)
	x.past[x.n%pastLength] = x.open
	x.n++
	x.open = Pause{}
}

// idleGap takes a gap of the idle process.
func (w *watch) idleGap(p Pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) == maxIdleGaps { // no looks are taken: better a gap too many than none
		w.gaps.add(w.idle[0].Pause)
		w.idle = append(w.idle[:0], w.idle[1:]...)
	}
	w.idle = append(w.idle, idleGap{Pause: p})
}

// judgeIdle decides on the gaps of the idle process that two looks were taken
// after. The caller holds w.mu.
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

// throttled reports whether a quota ran out during half of p or more: a gap that a
// quota causes says nothing of the machine.
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

// flush ends all stretches as of now; one that goes on begins again.
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

// going returns the stretches that may go on.
func (w *watch) going(out []Pause) []Pause {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.list {
		if x.open != (Pause{}) {
			out = append(out, x.open)
		}
	}
	return out
}

// close takes a last look and ends everything; run must have returned.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked(clock.Now(), true)
	w.lookLocked(clock.Now(), false) // the second for gaps that wait for two
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
