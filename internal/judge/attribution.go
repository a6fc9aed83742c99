package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"sixnines/result"
)

// The rules of attribution.
const (
	// shifts is how many other places in the window the tail is moved to.
	shifts = 999
	// coincidence is the probability with which any of the sources of a metric is
	// named by chance, over all of them (Bonferroni).
	coincidence = 0.05
	// stoppedPart is the part of its messages' time that a pause must have taken
	// to be their cause by arithmetic.
	stoppedPart = 0.5
	// matters is the least part of their time that a source must cover to be
	// named at all: what takes longer than the pauses that it overlaps has another cause.
	matters = 0.1
	// beyondChance is the least part of the messages that would by chance not overlap a
	// source which must overlap it all the same. Twelve of twenty where eleven are
	// expected name nothing, however well the twelve coincide with it.
	beyondChance = 0.25
	// explains is the part of a pause that must fall into a source that explains
	// pauses, such as throttling.
	explains = 0.5
)

// suspect is a source that slow messages may overlap.
type suspect struct {
	source string
	at     *cover
	cause  result.Cause
	hit    []bool // by message
	// part is how much of the time of the messages that overlap it it covers.
	part float64
	// explainedBy is the source that caused these pauses.
	explainedBy string
	// explainsStops says that this source caused another's.
	explainsStops bool
}

// attribute says of the slowest messages of each metric which sources they overlap, and
// how many of them overlap a named cause on the generator's side.
//
// For each source, the number of messages of which [intended, done] overlaps it
// is compared with the number expected had messages of these lengths been due
// anywhere in the window, which is computed exactly. Whether that is beyond
// chance is another question, for a hundred slow messages of one pause are one
// event and not a hundred: the tail as a whole, with all its clusters, is moved
// to 999 other places in the window (around its end), and the time that it has
// in common with the source at each is compared with what it had where it was.
// A source is named if no more than one place in 20, over the number of sources,
// has as much. This is a permutation test by rotation, and needs no assumption of
// how slow messages come but that the window has no beginning.
//
// A pause of the whole process and a lost connection need no such test where
// they took more than half of the time of the messages that overlap them: nothing
// is received, nor stamped, by a process that is paused.
//
// A pause has its own cause. Where throttling, steal, swapping, other processes on the
// processors, the whole machine (the idle process was paused as well) or the
// collector cover at least half of the pauses that the tail overlaps, that one is
// named, the first of them in this order, and the pause is not ([result.PauseProperties].From).
func attribute(run *result.Run, in Inputs) (found []result.Attribution, attributed map[result.Metric]int) {
	if in.End <= 0 || len(run.Tail) == 0 {
		return nil, nil
	}
	covers := coversOf(run, in)
	attributed = map[result.Metric]int{}
	for _, m := range result.Metrics() {
		var tail []result.Exemplar
		for _, x := range run.Tail {
			if x.Metric == m && x.Intended >= 0 && x.Intended < in.End && x.Done >= x.Intended && x.Done < farthest {
				tail = append(tail, x)
			}
		}
		if len(tail) == 0 {
			continue
		}
		a := result.Attribution{Metric: m, Messages: len(tail), From: math.MaxInt64}
		for _, x := range tail {
			a.From = min(a.From, x.Value)
		}
		suspects := testSources(covers, tail, in.End)
		explain(suspects, tail)
		idle := watchedIdle(run)
		explained, own := make([]bool, len(tail)), make([]bool, len(tail))
		for _, s := range suspects {
			for i, hit := range s.hit {
				explained[i] = explained[i] || hit && s.cause.Named
				own[i] = own[i] || hit && s.cause.Named && generatorSide(s.source)
			}
			s.cause.Found, s.cause.Try = causeWords(s, len(tail), idle)
			if s.cause.Text = s.cause.Found; s.cause.Try != "" {
				s.cause.Text += ": " + s.cause.Try
			}
			a.Causes = append(a.Causes, s.cause)
		}
		a.Unexplained = len(tail) - countTrue(explained)
		attributed[m] = countTrue(own)
		slices.SortStableFunc(a.Causes, func(x, y result.Cause) int {
			return cmp.Or(cmp.Compare(y.Messages, x.Messages), boolOrder(y.Named, x.Named), cmp.Compare(x.Source, y.Source))
		})
		found = append(found, a)
	}
	return found, attributed
}

func countTrue(list []bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// coversOf returns when each source was active.
func coversOf(run *result.Run, in Inputs) map[string]*cover {
	covers := map[string]*cover{}
	put := func(source string, list []result.Pause) {
		if c := coverOf(list); len(c.starts) > 0 {
			covers[source] = c
		}
	}
	by := map[result.PauseSource][]result.Pause{}
	for _, p := range run.Pauses {
		by[p.Source] = append(by[p.Source], p)
	}
	stops := coverOf(freezes(run.Pauses, farthest))
	for source, list := range by {
		switch source {
		case result.PauseProcess:
			continue
		case result.PauseThread, result.PauseGoroutine:
			// What both meters missed is the process's pause, and reported as that.
			list = slices.DeleteFunc(slices.Clone(list), func(p result.Pause) bool {
				return 2*stops.length(p.Start, p.End) > p.End-p.Start
			})
		}
		put(string(source), list)
	}
	if len(stops.starts) > 0 {
		covers[string(result.PauseProcess)] = stops
	}
	for kind, list := range eventSpans(run.Events, in) {
		put(string(kind), list)
	}
	return covers
}

// eventSpans returns the times of what events report: a lost connection
// until all are back, a dead broker until the first is back, and anything else at
// its instant. What the run itself reports is no cause.
func eventSpans(events []result.Event, in Inputs) map[result.EventKind][]result.Pause {
	spans := map[result.EventKind][]result.Pause{}
	last := max(in.End, in.Resolved)
	var lost, from int64
	list := slices.Clone(events)
	slices.SortStableFunc(list, func(a, b result.Event) int { return cmp.Compare(a.At, b.At) })
	for i, e := range list {
		if !e.Kind.Properties().Cause {
			continue
		}
		switch e.Kind {
		case result.EventDisconnected:
			if lost == 0 {
				from = e.At
			}
			lost += e.Happened()
		case result.EventReconnected:
			if lost == 0 {
				continue // the loss itself was not reported
			}
			if lost = max(0, lost-e.Happened()); lost == 0 {
				spans[result.EventDisconnected] = append(spans[result.EventDisconnected], result.Pause{Start: from, End: e.Until()})
			}
		case result.EventBrokerEnded:
			end := e.At
			for _, later := range list[i:] {
				if later.Kind == result.EventReconnected {
					end = later.At
					break
				}
			}
			spans[e.Kind] = append(spans[e.Kind], result.Pause{Start: e.At, End: end})
		default:
			spans[e.Kind] = append(spans[e.Kind], result.Pause{Start: e.At, End: e.Until()})
		}
	}
	if lost > 0 {
		spans[result.EventDisconnected] = append(spans[result.EventDisconnected], result.Pause{Start: from, End: max(from, last)})
	}
	return spans
}

// testSources compares each source with the tail. Sources that no message overlaps
// are left out.
func testSources(covers map[string]*cover, tail []result.Exemplar, window int64) []*suspect {
	var suspects []*suspect
	for _, source := range slices.Sorted(maps.Keys(covers)) {
		s := &suspect{source: source, at: covers[source], hit: make([]bool, len(tail)), cause: result.Cause{Source: source}}
		var met, common int64
		for i, x := range tail {
			s.cause.Expected += s.at.chance(x.Done-x.Intended, window) / float64(len(tail))
			if s.hit[i] = s.at.meets(x.Intended, x.Done); s.hit[i] {
				s.cause.Messages++
				met += x.Done - x.Intended
				common += s.at.length(x.Intended, x.Done)
			}
		}
		if s.cause.Messages == 0 {
			continue
		}
		s.cause.Share = float64(s.cause.Messages) / float64(len(tail))
		s.part = float64(common) / float64(max(met, 1))
		suspects = append(suspects, s)
	}
	for _, s := range suspects {
		instants := s.at.total() == 0
		switch {
		case !instants && s.part < matters:
		case (s.source == string(result.PauseProcess) || s.source == string(result.EventDisconnected)) && s.part > stoppedPart:
			s.cause.Named = true
		case s.cause.Share > s.cause.Expected && s.cause.Share-s.cause.Expected >= beyondChance*(1-s.cause.Expected):
			s.cause.Named = s.at.rotations(tail, window, instants) <= coincidence/float64(len(suspects))
		}
	}
	return suspects
}

// rotations returns the share of the places in the window, the one where it was
// included, at which the tail has at least as much in common with the cover as
// where it was: time, or messages where the cover is of instants.
func (c *cover) rotations(tail []result.Exemplar, window int64, instants bool) float64 {
	at := func(shift int64) (sum int64) {
		for _, x := range tail {
			from := (x.Intended + shift) % window
			to := from + x.Done - x.Intended
			switch {
			case !instants:
				sum += c.length(from, to)
			case c.meets(from, to):
				sum++
			}
		}
		return sum
	}
	here, n := at(0), 1
	for k := range shifts {
		// Multiples of the golden section spread evenly and coincide with no
		// period that pauses may have.
		_, place := math.Modf(float64(k+1) * (math.Sqrt(5) - 1) / 2)
		if at(int64(place*float64(window))) >= here {
			n++
		}
	}
	return float64(n) / (shifts + 1)
}

// explain looks for what caused the sources that were named, as far as the tail
// overlaps them, and names that instead.
func explain(suspects []*suspect, tail []result.Exemplar) {
	byName := map[string]*suspect{}
	for _, s := range suspects {
		byName[s.source] = s
	}
	for _, source := range result.Pauses() { // each before what may explain it
		s := byName[string(source.Source)]
		if s == nil || !s.cause.Named {
			continue
		}
		for _, from := range source.From {
			x := byName[string(from)]
			if x == nil {
				continue
			}
			var stood, common int64
			for i := range s.at.starts {
				if a, b := s.at.starts[i], s.at.ends[i]; meetsAny(tail, a, b) {
					stood += b - a
					common += x.at.length(a, b)
				}
			}
			if stood > 0 && float64(common) >= explains*float64(stood) {
				x.cause.Named, x.explainsStops, s.cause.Named, s.explainedBy = true, true, false, string(from)
				break
			}
		}
	}
}

func meetsAny(tail []result.Exemplar, a, b int64) bool {
	return slices.ContainsFunc(tail, func(x result.Exemplar) bool { return x.Intended <= b && x.Done >= a })
}
