package histograms

import "sixnines/internal/loglinear"

// BlockValues is the number of values of the grid of blocks, see package result. Value v of the
// grid stands for those in (BlockValue(v−1), BlockValue(v)]. For the slowest tenth of an interval
// that is 1/256 of an octave, or 0.3 %; for the others only 64 values an octave are used, 1 % each.
const BlockValues = (63 - blockBits + 1) << blockBits

const (
	blockBits = 8
	bodyBits  = 6 // of values not in the slowest tenth
	joined    = 1<<(blockBits-bodyBits) - 1
)

// BlockValue returns the largest value, in ns, that value v of the grid stands for.
func BlockValue(v int) int64 {
	return loglinear.Grid(blockBits).Ceiling(v)
}

// BlockValueOf returns the value of the grid that stands for ns.
func BlockValueOf(ns int64) int {
	return loglinear.Grid(blockBits).Index(max(ns, 0))
}

// CoarseCeiling returns the last of the four values of the grid that are joined outside the
// slowest tenth, which include v.
func CoarseCeiling(v int) int {
	if v >= 1<<blockBits {
		return v | joined
	}
	return v
}

// CoarseValue returns the smallest value of the grid that value v of a block may
// stand for: v itself, or the first of the four that are joined outside the
// slowest tenth, if v is the last of them.
func CoarseValue(v int) int {
	if v >= 1<<blockBits && v&joined == joined {
		return v &^ joined
	}
	return v
}
