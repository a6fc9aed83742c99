package histograms

import "sixnines/internal/loglinear"

// bands divides values by octave and eighth of an octave: coarse enough to keep
// sums for each band, fine enough that a percentile falls into a narrow one.
const bands loglinear.Grid = 3

// Bands is the number of bands; bands are numbered from 0.
const Bands = 61 * 8

// BandOf returns the band of a value in ns. Each value below 8 has a band of its
// own; negative values are in band 0.
func BandOf(v int64) int {
	return bands.Index(max(v, 0))
}

// BandFloor returns the smallest value of a band, in ns.
func BandFloor(b int) int64 { return bands.Floor(b) }
