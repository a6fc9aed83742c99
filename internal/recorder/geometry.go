package recorder

import (
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// geometry is HdrHistogram's layout of buckets for values from 1 ns: linear
// sub-buckets fine enough for the wanted digits, doubled in width each octave.
type geometry struct {
	highest int64
	digits  int
	half    uint  // log2 of half the number of sub-buckets
	mask    int64 // sub-buckets − 1
	length  int
}

// newGeometry spans 1 ns to at least highest with 2 or 3 significant digits.
func newGeometry(highest int64, digits int) geometry {
	h := hdr.New(1, highest, digits)
	half := uint(10)
	if digits == 2 {
		half = 7
	}
	g := geometry{digits: digits, half: half, mask: 1<<(half+1) - 1, length: len(h.Export().Counts)}
	// The last bucket's end, not the asked range: what fits is not clamped.
	g.highest = g.ceiling(g.length - 1)
	return g
}

// index returns the place of v, 0 ≤ v ≤ highest.
func (g *geometry) index(v int64) int {
	shift := uint(63-bits.LeadingZeros64(uint64(v|g.mask))) - g.half
	return int(shift)<<g.half + int(v>>shift)
}

// floor returns the smallest value of bucket i.
func (g *geometry) floor(i int) int64 {
	if i <= int(g.mask) {
		return int64(i)
	}
	shift := uint(i>>g.half) - 1
	return (int64(i) - int64(shift)<<g.half) << shift
}

// ceiling returns the largest value of bucket i.
func (g *geometry) ceiling(i int) int64 {
	if i <= int(g.mask) {
		return int64(i)
	}
	return g.floor(i) + 1<<(uint(i>>g.half)-1) - 1
}

// middle returns HdrHistogram's median equivalent value of bucket i.
func (g *geometry) middle(i int) int64 {
	lo := g.floor(i)
	return lo + (g.ceiling(i)-lo+1)>>1
}
