package recorder

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/loglinear"
)

// geometry is HdrHistogram's layout of buckets for values from 1 ns, fine enough for the
// wanted digits.
type geometry struct {
	loglinear.Grid
	highest int64
	digits  int
	length  int
}

// newGeometry spans 1 ns to at least highest with 2 or 3 significant digits.
func newGeometry(highest int64, digits int) geometry {
	h := hdr.New(1, highest, digits)
	g := geometry{Grid: 10, digits: digits, length: len(h.Export().Counts)}
	if digits == 2 {
		g.Grid = 7
	}
	// The last bucket's end, not the requested range: values that fit are not clamped.
	g.highest = g.Ceiling(g.length - 1)
	return g
}

// middle returns HdrHistogram's median equivalent value of bucket i.
func (g *geometry) middle(i int) int64 {
	lo := g.Floor(i)
	return lo + (g.Ceiling(i)-lo+1)>>1
}
