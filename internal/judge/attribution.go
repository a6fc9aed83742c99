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
	// coincidence is the probability that chance alone names any source of a metric; it is
	// divided among the sources (Bonferroni).
	coincidence = 0.05
	// stoppedPart is the part of the messages' time above which a pause is their cause by
	// arithmetic, without a test.
	stoppedPart = 0.5
	// matters is the least part of the messages' time that a source must cover to be named
	// at all: a message that takes far longer than the pauses it overlaps has another cause.
	matters = 0.1
	// beyondChance is the least part of those messages, which chance would leave without an
	// overlap, that must overlap the source all the same. Where chance explains 11 of 20,
	// 12 name nothing, however well the 12 coincide with the source.
	beyondChance = 0.25
	// explains is the part of the pauses that a source such as throttling must cover to be
	// their cause.
	explains = 0.5
)

// suspect is a source that slow messages may overlap.
type suspect struct {
	source string
	at     *cover
	cause  result.Cause
	hit    []bool // by message
	// part is the share, 0 to 1, of the overlapping messages' time that the source covers.
	part float64
	// explainedBy is the source that caused these pauses.
	explainedBy string
	// explainsStops says that this source caused another source's pauses.
	explainsStops bool
}

// attribute returns, for each metric, which sources its slowest messages overlap, and how
// many of them overlap a named cause on the generator's side.
//
// For each source, the number of messages whose [intended, done] overlaps it is compared
// with the number expected if messages of these lengths were due anywhere in the window,
// which is computed exactly. That number alone does not decide, because a hundred slow
// messages of one pause are one event, not a hundred. So the whole tail, with all its
// clusters, is shifted to 999 other places in the window (wrapping at its end), and the
// time that it shares with the source at each place is compared with the time at its real
// place. A source is named if at most 1/20 of the places, divided by the number of sources,
// share as much. This is a permutation test by rotation; its only assumption is that the
// window may be treated as a circle.
//
// A pause of the whole process and a lost connection need no such test where they cover
// more than half of the time of the messages that overlap them: a paused process neither
// receives nor stamps anything.
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
			// A pause that both meters saw is the process's, and is reported as that.
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

// eventSpans returns the time spans of the events that can be causes: a lost connection
// until all are back, a dead broker until the first is back, and any other event for as
// long as it says.
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

// rotations returns the share, above 0 to 1, of the places in the window at which the tail has
// at least as much in common with the cover as at its real place, which is counted as well.
// Common is covered time in ns, or the number of messages where the cover is of instants.
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

// explain looks for the source that caused the named sources, as far as the tail overlaps
// them, and names that one instead.
func explain(suspects []*suspect, tail []result.Exemplar) {
	byName := map[string]*suspect{}
	for _, s := range suspects {
		byName[s.source] = s
	}
	for _, source := range result.Pauses() { // a source comes before those that may explain it
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
