package telemetry

import (
	"maps"
	"slices"
	"sync"

	"sixnines/result"
)

// Live holds the exported data of runs: of the current one and, until the next one has
// ended, of the previous one. It is safe for concurrent use. A reader holds the lock only
// while it copies, so the engine does not wait for a scrape or a push.
type Live struct {
	mu       sync.Mutex    // guards all fields but ended
	phase    string        // of a run whose window has not begun
	current  []*load       // empty before Begin
	previous []*load       // of the last run with a result; not changed any more
	runs     int           // finished
	results  int           // finished with a result
	ended    chan struct{} // capacity 1; gets a value, without blocking, when a run has left a result
}

// NewLive returns a Live without runs.
func NewLive() *Live { return &Live{ended: make(chan struct{}, 1)} }

// Phase sets the phase of a run that is being set up; Begin's loads have phases of their own.
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

// add adds an interval. The caller holds Live.mu.
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

// Finish ends the current run. run has its records and summary; a nil run left no result, and
// the previous run's data stay.
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

// loads returns a copy of the loads to export, the previous run first. phase is that of a
// run that is being set up and has no load yet, else empty.
func (l *Live) loads() (phase string, all []*load) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = append(all, l.previous...) // these do not change any more
	for _, x := range l.current {
		all = append(all, x.clone())
	}
	if len(l.current) > 0 {
		return "", all // its loads have the phase
	}
	return l.phase, all
}

// finishedRuns returns how many runs have ended, with or without a result.
func (l *Live) finishedRuns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs
}

// withResult returns how many runs have left a result.
func (l *Live) withResult() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.results
}

// clone returns a deep copy. The caller holds Live.mu.
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
