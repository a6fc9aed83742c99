package result

import "fmt"

// Oddity is an inconsistency in one metric of one interval. It is found when the interval is
// merged, since afterwards the interval's histogram is gone.
type Oddity struct {
	Interval int // from 0
	Metric   Metric
	Text     string
}

// mostOddities is the largest number of oddities that a run keeps: a hostile file could have
// any number.
const mostOddities = 64

// look looks for inconsistencies in a metric's share of an interval, with the values v, before
// the rest of it is merged into x. The share was read while messages went on, so that its
// extremes and slots may belong to a value that only the next interval counts.
func (r *Run) look(name Metric, m *MetricInterval, v values, x *Merged) {
	add := func(format string, a ...any) {
		if len(r.Oddities) < mostOddities {
			r.Oddities = append(r.Oddities, Oddity{len(r.Series), name, fmt.Sprintf(format, a...)})
		}
	}
	if n := v.index.Count(); n > 0 {
		_, first := v.index.ValueAtRank(1)
		last, _ := v.index.ValueAtRank(n)
		// A value is counted before it becomes an extreme. Until then the bucket's edge stands
		// in: the end of the lowest bucket, the beginning of the highest; both may be the same.
		edge := m.Min == first || m.Max == last
		switch {
		case m.Min > m.Max && !edge:
			add("the minimum %d exceeds the maximum %d", m.Min, m.Max)
		case m.Min < 0 || m.Min > first:
			add("the minimum is %d, and the lowest bucket ends at %d", m.Min, first)
		case m.Max < last:
			add("the maximum is %d, and the highest bucket begins at %d", m.Max, last)
		}
	} else if m.Min != 0 || m.Max != 0 {
		add("there are no values, and they are from %d to %d", m.Min, m.Max)
	}
	for i, o := range m.Own {
		if i > 0 && o.Band <= m.Own[i-1].Band {
			add("band %d of own lag comes after band %d", o.Band, m.Own[i-1].Band)
		}
		if o.Count < 0 || o.Own < 0 || o.Received < 0 || o.Total < 0 || o.Majority < 0 || o.Unknown < 0 {
			add("band %d of own lag has less than nothing", o.Band)
		}
	}
	for i, s := range m.Refused {
		// Refusals of UnknownSlot come last: as uint64, −1 is the largest number.
		if i > 0 && uint64(s[0]) <= uint64(m.Refused[i-1][0]) {
			add("refused messages of slot %d come after those of slot %d", s[0], m.Refused[i-1][0])
		}
	}
	for _, s := range m.Slots {
		if n := s[0]; n >= 0 && n < int64(len(x.Slots)) && s[1] <= x.Slots[n] {
			add("the largest value of slot %d is %d, and was %d before", n, s[1], x.Slots[n])
		}
	}
}
