package judge

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// evidence is the input of the gates. They only read it.
type evidence struct {
	run     *result.Run
	in      Inputs
	summary *result.Summary // without its verdict
	measure []*result.Point // the measured window
	timed   []*result.Point // the window and the drain
	whole   []*result.Point // the same, with the parts over which the gates are not held
	cores   float64         // processors that the generator may use; 0: unknown
	// outside is the machine's number of processors divided by the number that the generator may
	// run on; at least 1, and 1 if unknown.
	outside float64
	freezes []result.Pause // pauses of the whole process within the window, in order
	acts    []Stretch      // of the actions that happened and explain something
	left    []stretch      // parts over which the gates are not held
	away    int64          // how much of the window these take, ns
	// attributed is how many of a metric's slowest messages overlap a named cause on the
	// generator's side.
	attributed map[result.Metric]int
}

func newEvidence(run *result.Run, in Inputs, s *result.Summary) *evidence {
	e := &evidence{run: run, in: in, summary: s, outside: 1}
	e.acts = slices.DeleteFunc(Stretches(run, s.Costs), func(x Stretch) bool { return !x.Happened || x.Explains() == "" })
	if all, allowed := countList(e.fact(factOnline)), countList(e.fact(factAllowed)); allowed > 0 {
		e.outside = max(1, float64(all)/float64(allowed))
	}
	for i := range run.Series {
		p := &run.Series[i]
		switch p.Phase {
		case result.PhaseMeasure:
			e.measure = append(e.measure, p)
			e.timed = append(e.timed, p)
		case result.PhaseDrain:
			e.timed = append(e.timed, p)
		}
	}
	e.whole = e.timed
	if n, err := strconv.ParseFloat(strings.TrimSpace(e.fact(result.FactProcessors)), 64); err == nil && n >= 1 {
		e.cores = n
	}
	e.freezes = freezes(run.Pauses, in.End)
	return e
}

// fact returns a fact about the machine from the header, "" if it is missing.
func (e *evidence) fact(name string) string {
	for _, f := range e.run.Header.Machine {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// countList counts the numbers in a list in the kernel's form, such as 0-3,8; 0 if it is malformed.
func countList(list string) (n int) {
	for _, part := range strings.Split(list, ",") {
		first, last, several := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			return 0
		}
		to := from
		if several {
			if to, err = strconv.Atoi(last); err != nil || to < from {
				return 0
			}
		}
		n += to - from + 1
	}
	return n
}

// outsideActions returns the evidence of what lies outside of the effects of actions: its
// intervals, pauses and response times; nil if there were no effects, or nothing is outside.
func (e *evidence) outsideActions() *evidence {
	costs := e.summary.Costs
	if len(costs) == 0 || e.summary.Outside == nil {
		return nil
	}
	part, _ := outside(e.run, costs)
	x, run, s := *e, *e.run, *e.summary
	x.run, x.summary, x.left = &run, &s, nil
	for _, c := range costs {
		x.left = append(x.left, stretch{c.From, max(c.Gone, c.From+1)})
	}
	run.Metrics, s.Histograms = maps.Clone(run.Metrics), maps.Clone(s.Outside)
	maps.Copy(run.Metrics, part.Metrics)
	keep := func(points []*result.Point) []*result.Point {
		return slices.DeleteFunc(slices.Clone(points), func(p *result.Point) bool { return x.leaves(p.Start, p.End) })
	}
	x.measure, x.timed = keep(e.measure), keep(e.timed)
	x.away = e.in.End
	for _, p := range x.measure {
		x.away -= p.End - p.Start
	}
	if len(x.measure) == 0 {
		return nil
	}
	run.Pauses = slices.DeleteFunc(slices.Clone(run.Pauses), func(p result.Pause) bool { return x.leaves(p.Start, p.End) })
	x.freezes = freezes(run.Pauses, x.in.End)
	return &x
}

// leaves reports whether a part of the window is not held as a whole.
func (e *evidence) leaves(from, to int64) bool {
	return slices.ContainsFunc(e.left, func(s stretch) bool { return s.start < to && s.end > from })
}

// window is the length of what is held of the measured window in ns, at least 1.
func (e *evidence) window() float64 { return float64(max(e.in.End-e.away, 1)) }

// responses returns the response metrics that have percentiles.
func (e *evidence) responses() []result.Metric { return e.published(result.Metric.IsResponse) }

// latencies returns the latencies that have percentiles.
func (e *evidence) latencies() []result.Metric { return e.published(result.Metric.IsLatency) }

// published returns the metrics of a kind that have percentiles, in the order of reports.
func (e *evidence) published(kind func(result.Metric) bool) []result.Metric {
	return slices.DeleteFunc(result.Metrics(), func(m result.Metric) bool {
		d := e.summary.Histograms[m]
		return !kind(m) || !d.Published()
	})
}

// reaches returns the published percentiles that an event can affect if it affected the given
// share, 0 to 1, of the messages: those of at least 1 − share.
func (e *evidence) reaches(share float64) (names []result.Percentile) {
	for _, name := range result.Percentiles() {
		for _, m := range e.latencies() {
			if _, ok := e.summary.Histograms[m].At(name); ok && 1-percentOf(name)/100 <= share*(1+1e-9) {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// mostDue returns the largest share of the window's messages that can have been due in a given
// share of its time, by its readings: a pause of 1 % of the window affects half of the messages
// if half of the bursts fall into it.
func (e *evidence) mostDue(share float64) float64 {
	type stretch struct{ length, due float64 }
	var stretches []stretch
	var all, most float64
	for _, p := range e.measure {
		for start, l := range p.Stretches {
			if l.Due > 0 {
				stretches = append(stretches, stretch{float64(max(l.At-start, 1)), float64(l.Due)})
				all += float64(l.Due)
			}
		}
	}
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Compare(b.due/b.length, a.due/a.length) })
	left := share * e.window()
	for _, s := range stretches {
		part := min(left/s.length, 1)
		most, left = most+part*s.due, left-part*s.length
	}
	return max(share, most/max(all, 1))
}

// freezes returns when the whole process was paused within [0, end]: where both hiccup
// meters were paused at once, or where a pause is recorded as the process's. A pause of one
// meter alone is that of a thread or of the Go runtime, and its effect on messages is in
// their own lag.
func freezes(pauses []result.Pause, end int64) []result.Pause {
	var found []result.Pause
	add := func(start, stop int64) {
		if start, stop = max(start, 0), min(stop, end); start < stop {
			found = append(found, result.Pause{Start: start, End: stop, Source: result.PauseProcess})
		}
	}
	threads, goroutines := union(pauses, result.PauseThread), union(pauses, result.PauseGoroutine)
	for len(threads) > 0 && len(goroutines) > 0 {
		t, g := threads[0], goroutines[0]
		add(max(t.Start, g.Start), min(t.End, g.End))
		if t.End < g.End {
			threads = threads[1:]
		} else {
			goroutines = goroutines[1:]
		}
	}
	for _, p := range union(pauses, result.PauseProcess) {
		add(p.Start, p.End)
	}
	return union(found, result.PauseProcess)
}

// union returns the pauses of one source in order; pauses that touch or overlap are merged.
func union(pauses []result.Pause, source result.PauseSource) []result.Pause {
	var own []result.Pause
	for _, p := range pauses {
		if p.Source == source && p.Start < p.End {
			own = append(own, p)
		}
	}
	slices.SortFunc(own, byStart)
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

// span writes ns as a duration for users.
func span(ns int64) string { return spell.Duration(ns) }
