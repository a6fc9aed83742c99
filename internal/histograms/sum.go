package histograms

import "fmt"

// Sum adds decoded histograms of one layout, counter by counter. The zero value is empty. It is not safe
// for concurrent use.
type Sum struct {
	lowest, highest, digits int64
	geometry                hdrGeometry
	counts                  []int64 // nil: nothing was added since the layout is unknown
	total                   int64
	top                     int // one more than the highest counter that is not zero
}

// Add adds a histogram. Its layout must be that of those added before.
func (s *Sum) Add(c *Counts) error {
	if s.counts == nil {
		s.lowest, s.highest, s.digits, s.counts = c.lowest, c.highest, c.Digits, make([]int64, c.geometry.counts())
		s.geometry = c.geometry
	}
	if c.lowest != s.lowest || c.highest != s.highest || c.Digits != s.digits {
		return fmt.Errorf("a histogram of %s among histograms of %s, whose buckets cannot be added", c.Layout(), layout(s.lowest, s.highest, s.digits))
	}
	for i, at := range c.index {
		s.counts[at] += c.count[i]
		s.total += c.count[i]
		s.top = max(s.top, at+1)
	}
	return nil
}

// Known reports whether a histogram was added, with or without values: the layout is then known.
func (s *Sum) Known() bool { return s.counts != nil }

// Count returns the number of values.
func (s *Sum) Count() int64 { return s.total }

// Ranks returns the order statistics of the sum so far.
func (s *Sum) Ranks() *RankIndex {
	x := &RankIndex{}
	for i, n := range s.counts[:s.top] {
		if n > 0 {
			x.add(s.geometry, i, n)
		}
	}
	return x
}

// Reset takes all values away and keeps the layout.
func (s *Sum) Reset() {
	clear(s.counts[:s.top])
	s.total, s.top = 0, 0
}

// Encode returns the sum as text, see [Encoder]. The layout is known.
func (s *Sum) Encode(e *Encoder) (string, error) {
	e.Begin(s.lowest, s.highest, s.digits)
	for _, n := range s.counts[:s.top] {
		e.Count(n)
	}
	text, err := e.Append(nil)
	return string(text), err
}
