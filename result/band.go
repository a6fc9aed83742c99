package result

import "math/bits"

// Bands divide values by octave and eighth of an octave: coarse enough to keep
// sums for each, fine enough that a percentile falls into a narrow one.

// Bands is the number of bands.
const Bands = 61 * 8

// BandOf returns the band of a value; values below 8 have bands of their own,
// negative values band 0.
func BandOf(v int64) int {
	if v < 8 {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - 1 // 2^e ≤ v
	return (e-2)*8 + int(v>>(e-3))&7
}

// BandFloor returns the smallest value of a band.
func BandFloor(b int) int64 {
	if b < 8 {
		return int64(b)
	}
	e := b/8 + 2
	return 1<<e | int64(b%8)<<(e-3)
}
