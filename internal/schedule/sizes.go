package schedule

import (
	"math"
	"slices"

	"sixnines/scenario"
)

const (
	// sizeEntries is how many equally likely entries the table of sizes has.
	sizeEntries = 1 << 16
	// sizeClasses is the largest number of different sizes. Sizes of a continuous
	// distribution are rounded to a geometric grid, with steps of 0.7 % if the
	// largest is a thousand times the smallest.
	sizeClasses = 1024
)

// Sizes gives the size of each message. It depends only on the scenario and the seed: the
// n-th message of a stream has the same size on every broker. It is immutable and safe for
// concurrent use.
type Sizes struct {
	classes []int    // the different sizes, in bytes, ascending
	table   []uint16 // indices of classes, one for each of sizeEntries equally likely entries
	seed    uint64
	mean    float64 // bytes
}

// NewSizes returns the sizes of a load, drawn independently for each message; nil if all
// messages have the same size.
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

// Classes returns the different sizes, in bytes, ascending. The caller must not
// change them.
func (x *Sizes) Classes() []int { return x.classes }

// Class returns the index in Classes of the n-th message of a stream. It is a pure
// function and does not allocate.
func (x *Sizes) Class(stream uint32, n uint64) int {
	// SplitMix64 (Steele, Lea and Flood, 2014) of a counter: it needs no state, so the
	// size of any message can be computed at any time.
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
