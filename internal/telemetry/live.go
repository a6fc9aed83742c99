package telemetry

import (
	"maps"
	"slices"
	"sync"

	"sixnines/result"
)

// Live holds what is exported of runs while they last: of the current one and, until the
// next has ended, of the one before. It is safe for concurrent use; what
// adds to it waits for no reader for longer than a copy takes.
type Live struct {
	mu       sync.Mutex
	phase    string        // of a run whose window has not begun
	current  []*load       // empty before the window
	previous []*load       // of the run before
	runs     int           // finished
	results  int           // of these, with a result
	ended    chan struct{} // gets a value when a run has ended, if it has room
}

// NewLive returns an empty one.
func NewLive() *Live { return &Live{ended: make(chan struct{}, 1)} }

// Phase sets the phase of a run whose window has not begun.
func (l *Live) Phase(phase string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = phase
}

// Begin implements the engine's Exporter.
func (l *Live) Begin(headers []result.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = nil
	for _, h := range headers {
		l.current = append(l.current, newLoad(h, "warm-up"))
	}
}

// Interval implements the engine's Exporter.
func (l *Live) Interval(v *result.Interval, added func(visit func(m result.Metric, low, high, count int64))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.current {
		if x.header.Workload == v.Workload {
			x.add(v, added)
		}
	}
}

// add adds an interval.
func (l *load) add(v *result.Interval, added func(visit func(m result.Metric, low, high, count int64))) {
	l.phase, l.inFlight, l.backlog = v.Phase, v.InFlight, v.Backlog
	l.counters.Add(v.Counters)
	clear(l.vitals)
	maps.Copy(l.vitals, v.Vitals)
	added(func(m result.Metric, low, high, count int64) {
		h := l.metrics[m]
		if h == nil {
			h = newHistogram()
			l.metrics[m] = h
		}
		h.add(low, high, count)
	})
}

// Finish sets how the current run ended: its records and its verdict. A nil run
// left no result.
func (l *Live) Finish(run *result.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs++
	l.current, l.phase = nil, ""
	if run == nil {
		return
	}
	l.results, l.previous = l.results+1, nil
	for _, part := range run.Parts() {
		l.previous = append(l.previous, finished(part, part.Summary))
	}
	select {
	case l.ended <- struct{}{}:
	default:
	}
}

// loads is a copy of the loads to export, the previous run first; phase is that of a run
// without any other data yet.
func (l *Live) loads() (phase string, all []*load) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = append(all, l.previous...) // nothing is added to those any more
	for _, x := range l.current {
		all = append(all, x.clone())
	}
	if len(l.current) > 0 {
		return "", all // its loads say
	}
	return l.phase, all
}

// finishedRuns is how many runs have ended.
func (l *Live) finishedRuns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs
}

// withResult is how many of them left a result.
func (l *Live) withResult() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.results
}

// clone is a copy that no longer changes.
func (l *load) clone() *load {
	c := *l
	c.vitals, c.metrics = maps.Clone(l.vitals), map[result.Metric]*histogram{}
	for m, h := range l.metrics {
		x := *h
		x.native, x.classic = slices.Clone(h.native), slices.Clone(h.classic)
		c.metrics[m] = &x
	}
	return &c
}
