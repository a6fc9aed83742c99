// Package loglinear has the one grid of buckets by which values are counted: as
// HdrHistogram's, each octave is divided into the same number of buckets of one width.
package loglinear

import "math/bits"

// Grid divides each octave into 2^Grid buckets, and the values below the first such
// octave into buckets of one: a bucket is at most 2^−Grid of its values wide.
type Grid uint

// Index returns the bucket of v ≥ 0.
func (g Grid) Index(v int64) int {
	shift := uint(bits.Len64(uint64(v)|(2<<(g&63)-1))) - 1 - uint(g)
	return int(shift<<(g&63)) + int(v>>(shift&63))
}

// Floor returns the smallest value of bucket i.
func (g Grid) Floor(i int) int64 {
	shift := max(i>>g, 1) - 1
	return (int64(i) - int64(shift)<<g) << shift
}

// Ceiling returns the largest value of bucket i.
func (g Grid) Ceiling(i int) int64 { return g.Floor(i+1) - 1 }
