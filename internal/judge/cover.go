package judge

import (
	"cmp"
	"math"
	"slices"

	"sixnines/result"
)

// cover is a set of instants, ns: ordered intervals that do not overlap. An interval
// of length 0 is an instant.
type cover struct {
	starts, ends []int64
	before       []int64 // total length of the intervals before this one
}

// coverOf makes a cover of intervals in any order.
func coverOf(pauses []result.Pause) *cover {
	list := slices.Clone(pauses)
	slices.SortFunc(list, byStart)
	c := &cover{}
	var sum int64
	for _, p := range list {
		if p.End < p.Start || p.End > farthest || p.Start < -farthest {
			continue // a damaged or hostile file
		}
		n := len(c.ends)
		if n > 0 && p.Start <= c.ends[n-1] {
			if more := p.End - c.ends[n-1]; more > 0 {
				c.ends[n-1], sum = p.End, sum+more
			}
			continue
		}
		c.starts, c.ends, c.before = append(c.starts, p.Start), append(c.ends, p.End), append(c.before, sum)
		sum += p.End - p.Start
	}
	return c
}

// farthest is the largest plausible instant, ns (18 years); the sum of a few such
// instants cannot overflow.
const farthest = math.MaxInt64 / 16

func byStart(a, b result.Pause) int { return cmp.Compare(a.Start, b.Start) }

// from is the index of the first interval that ends at or after t.
func (c *cover) from(t int64) int {
	i, _ := slices.BinarySearch(c.ends, t)
	return i
}

// meets reports whether [a, b] and the cover have an instant in common.
func (c *cover) meets(a, b int64) bool {
	i := c.from(a)
	return i < len(c.starts) && c.starts[i] <= b
}

// upTo is how much of the time before t is covered.
func (c *cover) upTo(t int64) int64 {
	i := c.from(t)
	if i == len(c.ends) {
		if i == 0 {
			return 0
		}
		return c.before[i-1] + c.ends[i-1] - c.starts[i-1]
	}
	return c.before[i] + max(0, t-c.starts[i])
}

// length is how much of [a, b] is covered.
func (c *cover) length(a, b int64) int64 { return c.upTo(b) - c.upTo(a) }

// total is how much is covered in all.
func (c *cover) total() int64 { return c.upTo(farthest) }

// chance is the probability that an interval of this length meets the cover if it
// begins anywhere in [0, window): the share of the window that the cover has when each
// of its intervals is extended at its front by that length.
func (c *cover) chance(length, window int64) float64 {
	var sum, reached int64 // reached: instants before it are already in the sum
	for i := range c.starts {
		a, b := max(c.starts[i]-length, reached), min(c.ends[i], window)
		if b > a {
			sum, reached = sum+b-a, b
		}
	}
	return min(1, float64(sum)/float64(max(window, 1)))
}
