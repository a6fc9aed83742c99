package merge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"sixnines/internal/judge"
	"sixnines/result"
)

// mostSlowest is how many of the slowest messages of a metric a result has.
const mostSlowest = 100

// closing merges what the agents' results say of a workload when all is over, and accounts for the segments of
// agents that were lost.
func (m *merger) closing(i int, ends []*ending) error {
	l := m.loads[i]
	v := result.Interval{Workload: l.header.Workload, Phase: result.PhaseClosing, Closing: &result.Closing{Intervals: l.written}}
	lost := map[int64]int64{}
	little := littles{partly: !closedBy(ends, i)}
	var all []*result.Interval
	for j, a := range m.agents {
		x := a.closing[i]
		if x == nil {
			continue
		}
		all = append(all, x)
		v.Counters.Add(x.Counters)
		v.Connections = v.Connections.Plus(x.Connections)
		if err := l.books.add(j, x.Ledger); err != nil {
			return fmt.Errorf("%s: %w", a.path, err)
		}
		if err := l.sums.add(x); err != nil {
			return err
		}
		v.Pauses, v.Tail = append(v.Pauses, x.Pauses...), append(v.Tail, x.Tail...)
		v.Vitals = m.units.worst(v.Vitals, x.Vitals)
		little.add(x.Vitals)
		for _, p := range x.Lost {
			lost[p[0]] += p[1]
		}
		v.ReadBack = together(v.ReadBack, x.ReadBack)
		closings(v.Closing, x.Closing)
		v.Closing.Left = append(v.Closing.Left, x.Closing.Left...)
	}
	for _, e := range ends {
		if run := e.runs[i]; !e.closed[i] && len(run.Series) > 0 {
			v.Closing.GivenUp = max(v.Closing.GivenUp, run.Series[len(run.Series)-1].End)
		}
	}
	if len(all) == 0 { // nobody is left to say when the window ended
		v.Closing.End, v.Closing.Aborted = int64(l.header.Window), true
	}
	v.Closing.GivenUp = max(v.Closing.GivenUp, l.end, v.Closing.End)
	for j, e := range ends {
		if e.closed[i] {
			if err := m.rest(l, m.agents[j], e.runs[i], e.timed[i], &v); err != nil {
				return err
			}
			continue
		}
		if m.agents[j].segment().Role == result.RoleConsumers { // it has nothing due; see books.close
			_, v.Closing.Received = lastAnswers(v.Closing, e.runs[i])
			continue
		}
		if err := m.account(l, m.agents[j], e.runs[i], e.timed[i], &v); err != nil {
			return err
		}
		v.Closing.Acked, v.Closing.Received = lastAnswers(v.Closing, e.runs[i])
	}
	if l.books != nil {
		if err := l.books.close(l, i, ends, &v, lost); err != nil {
			return err
		}
	}
	v.Start, v.End = v.Closing.GivenUp, v.Closing.GivenUp
	little.put(v.Vitals)
	if m.probe.of(v.Workload) {
		if v.Vitals == nil {
			v.Vitals = map[result.Vital]float64{}
		}
		if err := m.probe.close(v.Vitals); err != nil {
			return err
		}
	}
	v.Lost, v.Tail = pairs(lost), slowest(v.Tail)
	var err error
	if v.Metrics, err = l.sums.take(); err != nil {
		return err
	}
	l.counted.Add(v.Counters)
	if v.InFlight = judge.InFlight(l.header, l.counted); l.given {
		v.InFlight = 0
		for _, x := range all {
			v.InFlight += x.InFlight
		}
	}
	return m.writer.Interval(v)
}

// closings adds what an agent's closing record says.
func closings(into, c *result.Closing) {
	if into.End != 0 && c.End != into.End {
		into.Interrupted = true // their windows did not end together
	}
	into.End, into.GivenUp = max(into.End, c.End), max(into.GivenUp, c.GivenUp)
	into.Interrupted, into.Aborted = into.Interrupted || c.Interrupted, into.Aborted || c.Aborted
	into.Acked, into.Received, into.Synced = max(into.Acked, c.Acked), max(into.Received, c.Received), max(into.Synced, c.Synced)
	into.WarmUp += c.WarmUp
	into.Unconsumed += c.Unconsumed
	if c.EarlierFrom != 0 && (into.EarlierFrom == 0 || c.EarlierFrom < into.EarlierFrom) {
		into.EarlierFrom = c.EarlierFrom
	}
	into.EarlierTo = max(into.EarlierTo, c.EarlierTo)
}

// lastAnswers returns when the last answers came, as far as the intervals of a lost agent tell: by the end of the
// last one that has any.
func lastAnswers(c *result.Closing, run *result.Run) (acked, received int64) {
	acked, received = c.Acked, c.Received
	for _, p := range run.Series {
		if p.Counters.Acked > 0 {
			acked = max(acked, p.End)
		}
		if p.Counters.Received > 0 {
			received = max(received, p.End)
		}
	}
	return acked, received
}

// slowest returns the slowest messages of each metric, by metric and slowest first.
func slowest(all []result.Exemplar) (kept []result.Exemplar) {
	slices.SortStableFunc(all, func(a, b result.Exemplar) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(b.Value, a.Value))
	})
	count := map[result.Metric]int{}
	for _, x := range all {
		if count[x.Metric]++; count[x.Metric] <= mostSlowest {
			kept = append(kept, x)
		}
	}
	return kept
}

// closedBy reports whether all agents wrote the closing record of load i.
func closedBy(ends []*ending, i int) bool {
	return !slices.ContainsFunc(ends, func(e *ending) bool { return !e.closed[i] })
}

// littles adds what the agents' samplers counted: numbers in flight add up, and so do the squares of the
// errors that chance makes in them. If an agent counted nothing the sum is of fewer messages than the stamps
// are, and there is no check.
type littles struct {
	known, partly            bool
	area, errors, late, span float64 // message·ns; its square; ns; ns
	samples                  float64
}

func (x *littles) add(v map[result.Vital]float64) {
	sampled, a := v[result.VitalLittleSampled]
	span, b := v[result.VitalLittleSpan]
	tolerance, c := v[result.VitalLittleTolerance]
	if !a || !b || !c {
		x.partly = true
		return
	}
	x.area += sampled * span
	x.errors += tolerance * sampled * span * tolerance * sampled * span
	x.late += v[result.VitalLittleReadLate]
	x.samples += v[result.VitalLittleSamples]
	x.span, x.known = max(x.span, span), true
}

func (x *littles) put(v map[result.Vital]float64) {
	if x.partly || !x.known || x.span <= 0 {
		for _, name := range []result.Vital{result.VitalLittleSampled, result.VitalLittleSpan, result.VitalLittleSamples, result.VitalLittleTolerance, result.VitalLittleReadLate} {
			delete(v, name)
		}
		return
	}
	v[result.VitalLittleSampled], v[result.VitalLittleSpan], v[result.VitalLittleSamples] = x.area/x.span, x.span, x.samples
	if v[result.VitalLittleTolerance] = 0; x.area > 0 {
		v[result.VitalLittleTolerance] = math.Sqrt(x.errors) / x.area
	}
	if _, known := v[result.VitalLittleReadLate]; known {
		v[result.VitalLittleReadLate] = x.late
	}
}

// together adds what two agents read back.
func together(a, b *result.ReadBack) *result.ReadBack {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		return a
	}
	c := *a
	if a.Outcome != b.Outcome {
		c.Outcome = result.ReadBackPartly
	}
	c.Why = cmp.Or(a.Why, b.Why)
	c.From, c.To = min(a.From, b.From), max(a.To, b.To)
	c.Places = slices.Concat(a.Places, b.Places)
	c.MorePlaces = a.MorePlaces + b.MorePlaces + int64(max(0, len(c.Places)-result.MostReadPlaces))
	c.Places = c.Places[:min(len(c.Places), result.MostReadPlaces)]
	c.Whole = a.Whole && b.Whole
	for _, f := range []struct {
		to *int64
		n  int64
	}{{&c.Read, b.Read}, {&c.Corrupted, b.Corrupted}, {&c.Foreign, b.Foreign}, {&c.Duplicated, b.Duplicated}, {&c.Unmeasured, b.Unmeasured},
		{&c.Kept, b.Kept}, {&c.LostAcked, b.LostAcked}, {&c.Removed, b.Removed}, {&c.KeptUnknown, b.KeptUnknown}, {&c.GoneUnknown, b.GoneUnknown},
		{&c.KeptRefused, b.KeptRefused}, {&c.GoneRefused, b.GoneRefused}, {&c.Unread, b.Unread}, {&c.InLog, b.InLog}, {&c.NotInLog, b.NotInLog}} {
		*f.to += f.n
	}
	if !c.Whole {
		c.InLog, c.NotInLog, c.Gone = 0, 0, nil
	} else {
		c.Gone = losses(a.Gone, b.Gone)
	}
	c.Lost = losses(a.Lost, b.Lost)
	return &c
}

// losses adds two lists of lost messages.
func losses(a, b *result.Losses) *result.Losses {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		return a
	}
	c := result.Losses{Count: a.Count + b.Count, Undated: a.Undated + b.Undated, MoreRanges: a.MoreRanges + b.MoreRanges}
	switch {
	case a.First == 0 && a.Last == 0:
		c.First, c.Last = b.First, b.Last
	case b.First == 0 && b.Last == 0:
		c.First, c.Last = a.First, a.Last
	default:
		c.First, c.Last = min(a.First, b.First), max(a.Last, b.Last)
	}
	c.Ranges = slices.Concat(a.Ranges, b.Ranges)
	slices.SortFunc(c.Ranges, func(a, b result.LostRange) int { return cmp.Compare(b.Count(), a.Count()) })
	if over := len(c.Ranges) - result.MostLostRanges; over > 0 {
		c.Ranges, c.MoreRanges = c.Ranges[:result.MostLostRanges], c.MoreRanges+int64(over)
	}
	slices.SortFunc(c.Ranges, func(a, b result.LostRange) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.From, b.From))
	})
	slots := map[int64]result.LostSlot{}
	for _, s := range slices.Concat(a.Slots, b.Slots) {
		was, known := slots[s.Slot]
		if known {
			s.Count, s.First, s.Last = s.Count+was.Count, min(s.First, was.First), max(s.Last, was.Last)
		}
		slots[s.Slot] = s
	}
	for _, n := range slices.Sorted(maps.Keys(slots)) {
		c.Slots = append(c.Slots, slots[n])
	}
	return &c
}
