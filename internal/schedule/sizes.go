package schedule

import (
	"math"
	"slices"

	"sixnines/scenario"
)

const (
	// sizeEntries is how many equally likely entries the table of sizes has.
	sizeEntries = 1 << 16
	// sizeClasses is how many different sizes there are at most: those of a
	// continuous distribution are rounded to a geometric grid, of 0.7 % where the
	// largest is a thousand times the smallest.
	sizeClasses = 1024
)

// Sizes gives the size of each message, which depends on its scenario and seed and on
// nothing else: the n-th message of a stream has the same size on every broker. It is
// immutable.
type Sizes struct {
	classes []int // the sizes that there are, in bytes, ascending
	table   []uint16
	seed    uint64
	mean    float64
}

// NewSizes returns the sizes of a load; each message's is drawn on its
// own; nil where all are alike.
func NewSizes(s scenario.Sizes, seed uint64) *Sizes {
	if _, fixed := s.Fixed(); fixed {
		return nil
	}
	x := &Sizes{table: make([]uint16, sizeEntries), seed: seed}
	drawn := make([]int, sizeEntries)
	for i, size := range s.Quantiles(sizeEntries) {
		drawn[i] = int(size)
	}
	x.classes = slices.Clone(drawn)
	slices.Sort(x.classes)
	x.classes = slices.Compact(x.classes)
	if len(x.classes) > sizeClasses {
		least, most := float64(x.classes[0]), float64(x.classes[len(x.classes)-1])
		step := math.Log(most/least) / (sizeClasses - 1)
		for i, v := range drawn {
			drawn[i] = int(math.Round(least * math.Exp(step*math.Round(math.Log(float64(v)/least)/step))))
		}
		x.classes = append(x.classes[:0], drawn...)
		slices.Sort(x.classes)
		x.classes = slices.Compact(x.classes)
	}
	sum := 0.0
	for i, v := range drawn {
		class, _ := slices.BinarySearch(x.classes, v)
		x.table[i] = uint16(class)
		sum += float64(v)
	}
	x.mean = sum / sizeEntries
	return x
}

// Classes returns the sizes that there are, in bytes, ascending. They are not to
// be changed.
func (x *Sizes) Classes() []int { return x.classes }

// Class returns which of Classes the n-th message of a stream has.
func (x *Sizes) Class(stream uint32, n uint64) int {
	// SplitMix64 (Steele, Lea and Flood, 2014) of a counter: no state, so that
	// any message's size is known at any time.
	z := x.seed*0xd1342543de82ef95 + uint64(stream)*0xda942042e4dd58b5 + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(x.table[z>>48])
}

// MeanSize returns the mean size of a load's payloads, in bytes.
func MeanSize(s scenario.Sizes) float64 {
	if size, fixed := s.Fixed(); fixed {
		return float64(size)
	}
	return NewSizes(s, 0).mean
}
