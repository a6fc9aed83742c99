package result

import (
	"cmp"
	"slices"

	"sixnines/internal/histograms"
)

// maxDueCells is the largest number of cells of a run: when it would have more, each two
// neighbours are joined.
const maxDueCells = 1024

// DueCell is a part of the window with the answered messages that were due in it. Its methods
// do not change it.
type DueCell struct {
	Start, End int64 // ns from the window's start
	buckets    []dueBucket
	own        []OwnBand // of their values
}

// dueBucket counts values of one bucket of a histogram, whose edges, ns, are inclusive.
type dueBucket struct{ low, high, n int64 }

// Count returns the number of answered messages.
func (c *DueCell) Count() (n int64) {
	for _, b := range c.buckets {
		n += b.n
	}
	return n
}

// Above returns how many of them lie in buckets whose upper edge is above v.
func (c *DueCell) Above(v int64) (n int64) {
	for _, b := range c.buckets {
		if b.high > v {
			n += b.n
		}
	}
	return n
}

// Join returns both cells as one.
func (c DueCell) Join(d DueCell) DueCell {
	all := slices.Concat(c.buckets, d.buckets)
	slices.SortFunc(all, func(a, b dueBucket) int { return cmp.Compare(a.high, b.high) })
	sum := all[:0]
	for _, b := range all {
		if last := len(sum) - 1; last >= 0 && sum[last].high == b.high {
			sum[last].n += b.n
			continue
		}
		sum = append(sum, b)
	}
	return DueCell{c.Start, d.End, slices.Clip(sum), joinOwn(slices.Concat(c.own, d.own))}
}

// joinOwn returns one entry for each band, in order. It changes all.
func joinOwn(all []OwnBand) []OwnBand {
	slices.SortFunc(all, func(a, b OwnBand) int { return cmp.Compare(a.Band, b.Band) })
	sum := all[:0]
	for _, b := range all {
		if last := len(sum) - 1; last >= 0 && sum[last].Band == b.Band {
			sum[last].Add(b)
			continue
		}
		sum = append(sum, b)
	}
	return slices.Clip(sum)
}

// acts reports whether something happened to the load by plan.
func (h *Header) acts() bool {
	return len(h.Actions) > 0 || h.ConsumersFrom != "" || h.ConsumersPause != ""
}

// addDue adds an interval's response times to the cells in which their messages were due, in a
// run with actions. A message that was resolved in an interval, with a response time within a
// bucket, was due in the interval less that time. Its middle counts, so an error is at most half
// of an interval and half of a bucket. No message was due outside the window.
func (r *Run) addDue(p *Point, shares map[Metric]values) {
	h := &r.Header
	if !h.acts() || h.Interval <= 0 || p.End <= p.Start {
		return
	}
	if r.cell == 0 {
		// At least a slot: when refused messages were due is not known any better.
		r.cell = int64(h.Interval) * max(1, (int64(h.Slot)+int64(h.Interval)-1)/int64(h.Interval))
	}
	if p.Phase == PhaseMeasure {
		r.dueUntil = p.End
	}
	if r.dueUntil <= 0 {
		return
	}
	for r.dueUntil > r.cell*maxDueCells {
		r.cell *= 2
		for _, x := range r.Metrics {
			for i := 0; i < len(x.due); i += 2 {
				c := x.due[i]
				if i+1 < len(x.due) {
					c = c.Join(x.due[i+1])
				}
				x.due[i/2] = c
			}
			half := (len(x.due) + 1) / 2
			clear(x.due[half:])
			x.due = x.due[:half]
		}
	}
	middle := p.Start + (p.End-p.Start)/2
	for m, v := range shares {
		if !m.IsResponse() {
			continue
		}
		x := r.Metrics[m]
		for int64(len(x.due))*r.cell < r.dueUntil {
			x.due = append(x.due, DueCell{})
		}
		v.index.Buckets(func(low, high, n int64) {
			at := min(max(middle-(low+(high-low)/2), 0), r.dueUntil-1) / r.cell
			x.due[at].buckets = append(x.due[at].buckets, dueBucket{low, high, n})
		})
		for _, b := range v.own {
			if b.Count > 0 {
				at := min(max(middle-b.Total/b.Count, 0), r.dueUntil-1) / r.cell
				x.due[at].own = append(x.due[at].own, b)
			}
		}
	}
}

// Due returns the answered messages of a response metric by when they were due, in cells of
// equal length, except that the last may be shorter; nil in runs without actions.
func (r *Run) Due(m Metric) []DueCell {
	x := r.Metrics[m]
	if x == nil || r.cell == 0 || !m.IsResponse() {
		return nil
	}
	n := int((r.dueUntil + r.cell - 1) / r.cell)
	all := append(slices.Clip(x.due), make([]DueCell, n-len(x.due))...)
	for i := range all {
		all[i].Start = int64(i) * r.cell
		all[i].End = min(all[i].Start+r.cell, r.dueUntil)
	}
	return all
}

// DueIn returns the run reduced to the messages of response metrics that were due in the cells
// that keep returns true for, and the length of these cells, ns. Each cell counts as one block.
// Refused and unanswered messages are those of the slots whose middle lies in such a cell; of
// the unanswered ones the least bound counts, since it is not known which waited how long.
func (r *Run) DueIn(keep func(c *DueCell) bool) (part *Run, length int64) {
	part = &Run{Header: r.Header, Metrics: map[Metric]*Merged{}, Counters: r.Counters, perBlock: 1}
	for m, x := range r.Metrics {
		cells := r.Due(m)
		if cells == nil || x.Hist == nil && x.Refused == 0 && len(x.UnansweredAt) == 0 {
			continue
		}
		length, part.measured = 0, 0
		y := x.empty()
		for i := range cells {
			if c := &cells[i]; keep(c) {
				length += c.End - c.Start
				part.measured++
				y.take(x, c)
			}
		}
		y.of(x, r.Header, func(at int64) bool {
			i := int(at / r.cell)
			return i < len(cells) && keep(&cells[i])
		})
		part.Metrics[m] = y
	}
	return part, length
}

// empty returns a metric without values, with histograms as x has them.
func (x *Merged) empty() *Merged {
	h := x.Hist
	if h == nil {
		h = x.Censored
	}
	y := &Merged{Own: make([]OwnBand, len(x.Own))}
	for i := range y.Own {
		y.Own[i].Band = i
	}
	if h != nil {
		y.Hist = NewHistogram(h.Layout())
	}
	return y
}

// take adds the values of a cell of x to y, as one block.
func (y *Merged) take(x *Merged, c *DueCell) {
	cell := DueCell{}.Join(*c)
	joined := cell.buckets
	for _, b := range joined {
		_ = y.Hist.Record(b.high, b.n) // of a histogram of this geometry: cannot fail
		if low := max(b.low, x.Min); y.Max == 0 || low < y.Min {
			y.Min = low
		}
		y.Max = max(y.Max, min(b.high, x.Max))
	}
	ranks := histograms.RanksIn(func(visit func(low, high, n int64)) {
		for _, b := range joined {
			visit(b.low, b.high, b.n)
		}
	})
	y.blocks = append(y.blocks, blockOf(ranks, true))
	for _, b := range cell.own {
		y.Own[b.Band].Add(b)
	}
}

// of adds the slots of x whose middle is kept, and the refused and unanswered messages in them.
func (y *Merged) of(x *Merged, h Header, keep func(at int64) bool) {
	kept := func(slot int64) bool { return slot >= 0 && keep(slot*int64(h.Slot)+int64(h.Slot)/2) }
	for i, v := range x.Slots {
		if kept(int64(i)) && v > 0 {
			y.Slots = append(y.Slots, make([]int64, i+1-len(y.Slots))...)
			y.Slots[i] = v
		}
	}
	for _, p := range x.RefusedAt {
		if kept(p[0]) {
			y.Refused += p[1]
			y.RefusedAt = append(y.RefusedAt, p)
		}
	}
	var n int64
	for _, p := range x.UnansweredAt {
		if kept(p[0]) {
			n += p[1]
			y.UnansweredAt = append(y.UnansweredAt, p)
		}
	}
	if n > 0 && y.Hist != nil {
		*y = *y.WithPending(n)
	}
}
