package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/stats"
	"sixnines/result"
)

// timelinePoints is the largest number of points of a run in a chart over time. If a run
// has more intervals, neighbours are joined: counts are added, and the largest of each
// percentile is taken, since percentiles cannot be averaged.
const timelinePoints = 600

// span is one point of a timeline.
type span struct {
	At       float64 // seconds from the start of the run's window, the middle
	Seconds  float64
	Counters result.Counters
	InFlight int64
	Backlog  int64
	Depth    int64                                // the broker's last depth; −1: none
	Metrics  map[result.Metric]result.PointMetric // figures that refused messages reach are result.Refused
	Vitals   map[result.Vital]float64             // the largest of each
	Phase    string
}

// timeline reduces the intervals of a run to what can be drawn.
func timeline(r *result.Run) []span { return timelineWithin(r, timelinePoints) }

// timelineWithin reduces the intervals of a run to at most about most points.
func timelineWithin(r *result.Run, most int) []span {
	var points []result.Point
	for _, p := range r.Series {
		if p.End > p.Start && p.Phase != result.PhaseClosing {
			points = append(points, p)
		}
	}
	refused, messages := map[result.Metric][]int64{}, messagesOf(r)
	for m, x := range r.Metrics {
		if x.Refused > 0 {
			refused[m] = among(points, refusals(r, x))
		}
	}
	k := (len(points) + most - 1) / most
	var out []span
	for i := 0; i < len(points); {
		phase := points[i].Phase
		first := points[i]
		s := span{Phase: phase, Depth: -1, Metrics: map[result.Metric]result.PointMetric{}, Vitals: map[result.Vital]float64{}}
		j := i
		for ; j < len(points) && j < i+k && points[j].Phase == phase; j++ {
			p := points[j]
			s.Seconds += time.Duration(p.End - p.Start).Seconds()
			s.Counters.Add(p.Counters)
			s.InFlight, s.Backlog = max(s.InFlight, p.InFlight), max(s.Backlog, p.Backlog)
			if p.Depth != nil {
				s.Depth = p.Depth.Messages
			}
			for m, v := range p.Metrics {
				if refused[m] == nil {
					s.Metrics[m] = worse(s.Metrics[m], supported(v, messages(m)))
				}
			}
			for m, n := range refused {
				s.Metrics[m] = worse(s.Metrics[m], supported(behindRefused(p.Metrics[m], n[j]), messages(m)))
			}
			for k, v := range p.Vitals {
				if seen, ok := s.Vitals[k]; !ok || v > seen {
					s.Vitals[k] = v
				}
			}
		}
		s.At = (r.Header.From + time.Duration((first.Start+points[j-1].End)/2)).Seconds()
		out = append(out, s)
		i = j
	}
	return out
}

// unsupported stands for a percentile of an interval that has too few messages.
const unsupported = -1

// supported leaves out the percentiles of an interval that its messages do not support,
// by the same rule as for a run; messages is the number of messages per value.
func supported(p result.PointMetric, messages float64) result.PointMetric {
	n := int64(float64(p.Count) * messages)
	for _, q := range []struct {
		p  float64
		at *int64
	}{{0.5, &p.P50}, {0.9, &p.P90}, {0.99, &p.P99}, {0.999, &p.P999}} {
		if stats.SupportOf(n, q.p) == stats.NotSupported {
			*q.at = unsupported
		}
	}
	return p
}

// messagesOf returns a function for the number of messages per value of a metric: a
// message that a thousand consumers got counts once.
func messagesOf(r *result.Run) func(result.Metric) float64 {
	all := map[result.Metric]float64{}
	for m, x := range r.Metrics {
		if x.Hist == nil {
			continue
		}
		n := x.Hist.Count() + x.Refused + x.Censored.Count()
		if n > 0 {
			all[m] = float64(judge.Samples(m, x, r.Counters)) / float64(n)
		}
	}
	return func(m result.Metric) float64 {
		if share, ok := all[m]; ok {
			return share
		}
		return 1
	}
}

// worse is the envelope of two intervals' percentiles.
func worse(a, b result.PointMetric) result.PointMetric {
	if a.Count == 0 {
		return b
	}
	if b.Count == 0 {
		return a
	}
	return result.PointMetric{Count: a.Count + b.Count, Min: min(a.Min, b.Min), P50: max(a.P50, b.P50), P90: max(a.P90, b.P90),
		P99: max(a.P99, b.P99), P999: max(a.P999, b.P999), Max: max(a.Max, b.Max)}
}

// timeLine draws one figure of each interval; NaN leaves a gap.
func timeLine(spans []span, name string, colour, dash int, value func(span) float64) line {
	l := line{Name: name, Colour: colour, Dash: dash, Dots: len(spans) <= 40}
	for _, s := range spans {
		l.X = append(l.X, s.At)
		l.Y = append(l.Y, value(s))
	}
	return l
}

// wholeOf returns the subjects, but of several workloads of one run only the one that
// began first, which saw the whole run.
func wholeOf(subjects []*subject) []*subject {
	first := map[string]*subject{} // by the run's number
	for _, s := range subjects {
		if f := first[s.run.Header.ID]; f == nil || s.run.Header.From < f.run.Header.From {
			first[s.run.Header.ID] = s
		}
	}
	return slices.DeleteFunc(slices.Clone(subjects), func(s *subject) bool {
		return s.run.Header.Workload != "" && first[s.run.Header.ID] != s
	})
}

// momentsOf lists the events, pauses and refusals of the runs that fall into the
// window.
// What workloads of one run have in common is listed once.
func momentsOf(subjects []*subject) []moment {
	var acts, out, refused []moment
	whole := wholeOf(subjects)
	for _, s := range subjects {
		h := &s.run.Header
		told := !slices.Contains(whole, s)
		lead := ""
		if s.letter != "" {
			lead = s.letter + ": "
		}
		for _, e := range s.run.Events {
			if told && e.Workload == "" {
				continue
			}
			if e.Action != nil && e.Kind != result.EventActionFailed {
				continue // the stretch of its action shows it
			}
			at := (h.From + time.Duration(e.At)).Seconds()
			label := plain(string(e.Kind))
			if d := plain(e.Detail); d != "" {
				label += ": " + d
			}
			out = append(out, moment{From: at, To: at, Label: lead + label})
		}
		for _, a := range s.stretches() {
			if a.Happened && len(h.Actions) > 0 {
				acts = append(acts, moment{From: (h.From + time.Duration(a.From)).Seconds(), To: (h.From + time.Duration(a.Over)).Seconds(), Label: lead + actionHead(&a) + " " + plain(a.Line())})
			}
		}
		for _, x := range refusals(s.run, mostRefused(s.run)) {
			refused = append(refused, moment{From: h.From.Seconds() + x.from, To: h.From.Seconds() + x.to, Label: lead + "messages refused", Strip: true, Refused: true})
		}
		if told {
			continue
		}
		for _, p := range s.run.Pauses {
			m := moment{From: (h.From + time.Duration(p.Start)).Seconds(), To: (h.From + time.Duration(p.End)).Seconds(), Label: lead + pauseText(p), Pause: true}
			if source := p.Source.Properties(); source.Counter {
				m.Strip, m.Label = true, lead+source.Means+" somewhere in here ("+sourceName(string(p.Source))+")"
			}
			out = append(out, m)
		}
	}
	stretches := append(strips(out), strips(refused)...)
	out = slices.DeleteFunc(out, func(m moment) bool { return m.Strip })
	// Each kind has its own limit: the stretches of a counter are longer than the pauses
	// that matter, and would use up a common limit.
	// No number of events leaves out an action, and the numbers follow time.
	out = longest(append(acts, out...))
	slices.SortStableFunc(out, func(a, b moment) int { return cmp.Compare(a.From, b.From) })
	out = append(out, stretches...)
	n := 0
	for i := range out {
		if !out[i].Pause && !out[i].Refused {
			n++
			out[i].Mark = strconv.Itoa(n)
		}
	}
	return out
}

// strips joins the stretches of counters that touch, as far as they are of the
// same run and source, in order; and those that are near each other, until a
// picture can show them all.
func strips(all []moment) []moment {
	out := stripsWithin(all, 0)
	for gap := 1e-3; len(out) > momentLimit && gap < 1e9; gap *= 2 {
		out = stripsWithin(all, gap)
	}
	return out
}

// stripsWithin joins stretches with at most gap seconds between them.
func stripsWithin(all []moment, gap float64) []moment {
	var out []moment
	last := map[string]int{} // index of the last stretch, by its text
	for _, m := range all {
		if !m.Strip {
			continue
		}
		if i, ok := last[m.Label]; ok && m.From <= out[i].To+gap {
			out[i].To = max(out[i].To, m.To)
			continue
		}
		last[m.Label] = len(out)
		out = append(out, m)
	}
	return out
}

// momentLimit is the most events and pauses that a picture shows.
const momentLimit = 60

// longest keeps the events and the longest pauses, in order, up to momentLimit in total.
func longest(all []moment) []moment {
	if len(all) <= momentLimit {
		return all
	}
	floor := 0.0
	for n := len(all); n > momentLimit && floor < 1e9; {
		floor = max(floor*2, 1e-6)
		n = 0
		for _, m := range all {
			if !m.Pause || m.To-m.From >= floor {
				n++
			}
		}
	}
	var out []moment
	for _, m := range all {
		if (!m.Pause || m.To-m.From >= floor) && len(out) < momentLimit {
			out = append(out, m)
		}
	}
	return out
}

// positiveLog returns log10 of a latency; NaN, a gap, if there is no latency, too few
// messages support it, or refused messages reach it.
func positiveLog(count, ns int64) float64 {
	if count == 0 || ns == result.Refused || ns == unsupported {
		return math.NaN()
	}
	return logOf(ns)
}

// untilOf is the end of the last interval of all runs, in seconds.
func untilOf(subjects []*subject) float64 {
	var end int64
	for _, s := range subjects {
		for _, p := range s.run.Series {
			if p.Phase == result.PhaseMeasure {
				end = max(end, int64(s.run.Header.From)+p.End)
			}
		}
	}
	return time.Duration(end).Seconds()
}
