package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"sixnines/internal/histograms"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// piece is an interval of an agent.
type piece struct {
	*result.Interval
	agent int
}

// interval merges intervals of one workload and phase, at most a few of each agent, and writes one. With until, the end of the
// workload's window, it ends no sooner.
func (m *merger) interval(l *load, phase string, all []piece, until int64) error {
	v := result.Interval{Workload: l.header.Workload, Phase: phase, Start: l.end, End: max(until, l.end+1)}
	for _, x := range all {
		v.End = max(v.End, x.End)
		v.Counters.Add(x.Counters)
		v.Connections = v.Connections.Plus(x.Connections)
		if err := l.books.add(x.agent, x.Ledger); err != nil {
			return fmt.Errorf("%s: %w", m.agents[x.agent].path, err)
		}
		if err := l.sums.add(x.Interval); err != nil {
			return err
		}
		v.Pauses = append(v.Pauses, x.Pauses...)
		v.Vitals = m.units.worst(v.Vitals, x.Vitals)
		v.Depth = deeper(v.Depth, x.Depth)
	}
	if phase == result.PhaseMeasure && m.probe.of(v.Workload) {
		if err := m.probe.until(v.End, &l.sums); err != nil {
			return err
		}
	}
	if l.books != nil { // what a consuming agent expects is what it received
		v.Counters.Expected = l.books.deliveries()
	}
	slices.SortStableFunc(v.Pauses, func(a, b result.Pause) int { return cmp.Compare(a.Start, b.Start) })
	v.Levels = m.levels(l, all)
	var err error
	if v.Metrics, err = l.sums.take(); err != nil {
		return err
	}
	l.counted.Add(v.Counters)
	v.InFlight, v.Backlog = l.inFlight(all), backlog(l.counted)
	l.end = v.End
	l.written++
	return m.writer.Interval(v)
}

// backlog is what was due and not sent by the counters so far.
func backlog(c result.Counters) int64 {
	return max(0, c.Scheduled-c.Sent-c.Rejected-c.NotSent)
}

// inFlight is what is not resolved. It follows from the counters so far, as in an agent's own result, unless an
// agent gave messages up: then the agents' own numbers are added.
func (l *load) inFlight(all []piece) int64 {
	n := judge.InFlight(l.header, l.counted)
	if !l.given {
		return n
	}
	n = 0
	for i, x := range all {
		if !followed(all, i) {
			n += x.InFlight
		}
	}
	return n
}

// followed reports whether an agent has another interval after number i of all.
func followed(all []piece, i int) bool {
	return slices.ContainsFunc(all[i+1:], func(x piece) bool { return x.agent == all[i].agent })
}

// readings are an interval's levels and, if another interval of its agent follows, its end.
func (x piece) readings(more bool) []result.Level {
	if !more {
		return x.Levels
	}
	last := result.Level{At: x.End, Due: x.Counters.Scheduled, Sent: x.Counters.Sent + x.Counters.Rejected, InFlight: x.InFlight}
	for _, r := range x.Levels {
		last.Due, last.Sent = last.Due-r.Due, last.Sent-r.Sent
	}
	return append(slices.Clone(x.Levels), last)
}

// levels adds the agents' readings within an interval, those of one stretch of the grid together. An agent that
// has no reading in a stretch counts with what it had next.
func (m *merger) levels(l *load, all []piece) []result.Level {
	grid := int64(scenario.IntervalFor(l.header.Window))
	if grid <= 0 || int64(l.header.Interval) <= grid {
		return nil
	}
	type place struct {
		stretch int64
		agent   int
	}
	byStretch, inFlight := map[int64]*result.Level{}, map[place]int64{}
	end := int64(0)
	for i, x := range all {
		end = max(end, x.End)
		for _, r := range x.readings(followed(all, i)) {
			k := place{r.At / grid, x.agent}
			s := byStretch[k.stretch]
			if s == nil {
				s = &result.Level{}
				byStretch[k.stretch] = s
			}
			s.At = max(s.At, r.At)
			s.Due, s.Sent, s.InFlight = s.Due+r.Due, s.Sent+r.Sent, s.InFlight+r.InFlight-inFlight[k]
			inFlight[k] = r.InFlight
		}
	}
	var levels []result.Level
	var early result.Level // what agents counted before the interval began: it is part of the first reading
	due, sent := l.counted.Scheduled, l.counted.Sent+l.counted.Rejected
	for _, k := range slices.Sorted(maps.Keys(byStretch)) {
		s := byStretch[k]
		switch {
		case s.At <= l.end:
			early.Due, early.Sent = early.Due+s.Due, early.Sent+s.Sent
			continue
		case s.At > end:
			continue
		}
		s.Due, s.Sent = s.Due+early.Due, s.Sent+early.Sent
		early = result.Level{}
		due, sent = due+s.Due, sent+s.Sent
		if over := min(sent-due, s.Sent); over > 0 {
			// Where an agent's interval ended, messages of that very instant count as sent and not yet as due: they
			// belong to the next reading.
			s.Sent, sent, early.Sent = s.Sent-over, sent-over, over
		}
		s.Backlog = max(0, due-sent)
		levels = append(levels, *s)
	}
	return levels
}

// deeper adds what two agents' brokers say that they hold.
func deeper(a, b *result.Depth) *result.Depth {
	switch {
	case b == nil:
		return a
	case a == nil:
		d := *b
		return &d
	}
	a.At, a.Messages, a.Unacknowledged = max(a.At, b.At), a.Messages+b.Messages, a.Unacknowledged || b.Unacknowledged
	return a
}

// units are the units of vitals that were asked for: each is looked up in a long table once, and a thousand agents have some
// fifty of them each second.
type units map[result.Vital]result.Unit

func (u units) of(v result.Vital) result.Unit {
	unit, known := u[v]
	if !known {
		unit = v.Properties().Unit
		u[v] = unit
	}
	return unit
}

// worst adds an agent's vitals to those of others: counts are added, and of what describes one machine or process
// the largest value stands, as of the agent that has the least room.
func (u units) worst(into, of map[result.Vital]float64) map[result.Vital]float64 {
	if len(of) > 0 && into == nil {
		into = map[result.Vital]float64{}
	}
	for v, x := range of {
		switch was, known := into[v]; {
		case u.of(v) == result.UnitCount:
			into[v] = was + x
		case !known || x > was:
			into[v] = x
		}
	}
	return into
}

// sums are the metrics of one interval, added over the agents. Its memory is used again.
type sums struct {
	of      map[result.Metric]*sum
	decoder histograms.Decoder
	encoder histograms.Encoder
}

// sum is one metric of them.
type sum struct {
	used           bool // some agent has it in this interval
	hist, censored histograms.Sum
	min, max       int64
	slots          map[int64]int64
	largest        map[int64]int64 // of each slot, in the intervals before
	unanswered     map[int64]int64
	refused        map[int64]int64
	own            map[int]result.OwnBand
}

func (s *sums) add(v *result.Interval) error {
	if s.of == nil {
		s.of = map[result.Metric]*sum{}
	}
	for name, m := range v.Metrics {
		if m == nil {
			continue
		}
		x := s.of[name]
		if x == nil {
			x = &sum{largest: map[int64]int64{}, slots: map[int64]int64{}, unanswered: map[int64]int64{}, refused: map[int64]int64{}, own: map[int]result.OwnBand{}}
			s.of[name] = x
		}
		if err := x.add(m, &s.decoder); err != nil {
			return fmt.Errorf("metric %s: %w", name, err)
		}
	}
	return nil
}

func (x *sum) add(m *result.MetricInterval, z *histograms.Decoder) error {
	x.used = true
	if m.Hist != "" {
		c, err := z.Decode(m.Hist)
		if err != nil {
			return err
		}
		before := x.hist.Count()
		if err := x.hist.Add(c); err != nil {
			return err
		}
		switch after := x.hist.Count(); {
		case after == before: // without values its extremes say nothing
		case before == 0:
			x.min, x.max = m.Min, m.Max
		default:
			x.min, x.max = min(x.min, m.Min), max(x.max, m.Max)
		}
	}
	if m.Censored != "" {
		c, err := z.Decode(m.Censored)
		if err != nil {
			return err
		}
		if err := x.censored.Add(c); err != nil {
			return err
		}
	}
	for _, p := range m.Slots {
		if p[1] > x.largest[p[0]] {
			x.largest[p[0]], x.slots[p[0]] = p[1], p[1]
		}
	}
	for _, p := range m.Unanswered {
		x.unanswered[p[0]] += p[1]
	}
	for _, p := range m.Refused {
		x.refused[p[0]] += p[1]
	}
	for _, b := range m.Own {
		o := x.own[b.Band]
		o.Band = b.Band
		o.Add(b)
		x.own[b.Band] = o
	}
	return nil
}

// take returns the sums and begins anew.
func (s *sums) take() (map[result.Metric]*result.MetricInterval, error) {
	out := map[result.Metric]*result.MetricInterval{}
	for name, x := range s.of {
		if !x.used {
			continue
		}
		m := &result.MetricInterval{Min: x.min, Max: x.max, Slots: pairs(x.slots), Unanswered: pairs(x.unanswered), Refused: pairs(x.refused)}
		for _, b := range slices.Sorted(maps.Keys(x.own)) {
			m.Own = append(m.Own, x.own[b])
		}
		var err error
		if x.hist.Known() {
			if m.Hist, err = x.hist.Encode(&s.encoder); err != nil {
				return nil, err
			}
			x.hist.Reset()
		}
		if x.censored.Known() && x.censored.Count() > 0 {
			if m.Censored, err = x.censored.Encode(&s.encoder); err != nil {
				return nil, err
			}
			x.censored.Reset()
		}
		out[name] = m
		clear(x.slots)
		clear(x.unanswered)
		clear(x.refused)
		clear(x.own)
		x.used, x.min, x.max = false, 0, 0
	}
	return out, nil
}

// pairs returns a map as pairs in the order in which result files have them: an unknown slot comes last.
func pairs(m map[int64]int64) (all [][2]int64) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k != result.UnknownSlot {
			all = append(all, [2]int64{k, m[k]})
		}
	}
	if n, known := m[result.UnknownSlot]; known {
		all = append(all, [2]int64{result.UnknownSlot, n})
	}
	return all
}
