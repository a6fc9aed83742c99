package histograms

import "sixnines/internal/loglinear"

const bands loglinear.Grid = 3

// Bands divide values by octave and eighth of an octave: coarse enough to keep
// sums for each, fine enough that a percentile falls into a narrow one.

// Bands is the number of bands.
const Bands = 61 * 8

// BandOf returns the band of a value; values below 8 have bands of their own,
// negative values band 0.
func BandOf(v int64) int {
	return bands.Index(max(v, 0))
}

// BandFloor returns the smallest value of a band.
func BandFloor(b int) int64 { return bands.Floor(b) }
