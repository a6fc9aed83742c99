package stats

import (
	"math"
	"sort"
)

// SequentialBlocks returns the interval of the quantile p, by stretches, of a run that may
// be looked at any number of times and may end because of what was seen. The interval is
// [lo, hi], among the values v from 0 to values-1. extra more values, in no block, lie above
// every v, such as messages that never came back.
//
// The run is cut into stretches of length blocks. At the quantile, the exceedances
// of a stretch differ from 1−p of its values by a D with the mean 0, and where
// stretches are independent and D is symmetric about 0,
// exp(λΣD − λ²ΣD²/2) is a supermartingale for every λ (de la Peña, Annals of
// Probability 27, 1999). Mixed over λ as Robbins does, ΣD never leaves
//
//	±√((V+ρ)·(2·ln 1/(1−conf) + ln((V+ρ)/ρ))),   V = ΣD²
//
// with a probability of conf; the interval has the values at which it has not left.
// ρ is V at the first useful look; age is the length of the run now, in lengths of the
// run at that look. The coverage is approximate, like that of every interval that takes
// dependence into account: stretches are only nearly independent, bursts make D
// asymmetric, and ρ and length are estimated from the run.
//
// ok is false if the run has fewer than [LeastChunks] stretches, if age is below 1, if
// another argument is outside its range, and if an end of the interval is not among
// the values.
func SequentialBlocks(b Blocks, p, conf float64, length, values int, extra int64, age float64) (lo, hi int, ok bool) {
	n := b.Len()
	if length < 1 || n < LeastChunks*length || values < 1 || !(p > 0 && p < 1 && conf > 0 && conf < 1 && age >= 1) {
		return 0, 0, false
	}
	s := newStretches(b, p, length, extra)
	// With ρ = V/age: ΣD against √(V·factor).
	factor := (1 + 1/age) * (-2*math.Log1p(-conf) + math.Log1p(age))
	// above reports whether the quantile is shown to lie above v, below that it is
	// at most v.
	above := func(v int) bool {
		sum, squares := s.at(v)
		return sum > 0 && sum*sum > factor*squares
	}
	below := func(v int) bool {
		sum, squares := s.at(v)
		return sum < 0 && sum*sum > factor*squares
	}
	top := values - 1
	if !below(top) || !above(-1) {
		return 0, 0, false
	}
	// The test is not monotonic in v if one stretch has most of the values, so a
	// bisection may fail. The search goes inwards from both ends, in strides.
	least, most := s.spread(top)
	for lo = least; lo < top && above(min(lo+stride-1, top)); lo += stride {
	}
	for lo < top && above(lo) {
		lo++
	}
	for hi = most; hi > lo && below(max(hi-stride, lo)); hi = max(hi-stride, lo) {
	}
	for hi > lo && below(hi-1) {
		hi--
	}
	return lo, hi, true
}

// stride is how many values of the grid a step of the search in [SequentialBlocks] skips.
const stride = 16

// stretches are blocks joined to stretches of equal length.
type stretches struct {
	b      Blocks
	q      float64 // 1−p
	length int
	count  []float64 // values in each stretch
	extra  float64   // values in the last stretch, above all v
}

func newStretches(b Blocks, p float64, length int, extra int64) stretches {
	s := stretches{b: b, q: 1 - p, length: length, count: make([]float64, b.Len()/length), extra: float64(extra)}
	for i := range b.Len() {
		s.count[s.of(i)] += float64(b.Count(i))
	}
	s.count[len(s.count)-1] += s.extra
	return s
}

// of returns the stretch of a block. Blocks left over at the end belong to the last stretch.
func (s stretches) of(block int) int { return min(block/s.length, len(s.count)-1) }

// spread returns the least value of the grid with a count at or below it, and the least
// with no counts above it but the extra ones.
func (s stretches) spread(top int) (least, most int) {
	beyond := func(v int) (n int64) {
		for i := range s.b.Len() {
			n += s.b.Above(i, v)
		}
		return n
	}
	all := int64(-s.extra)
	for _, n := range s.count {
		all += int64(n)
	}
	least = sort.Search(top, func(v int) bool { return beyond(v) < all })
	most = sort.Search(top, func(v int) bool { return beyond(v) == 0 })
	return least, most
}

// at returns ΣD and ΣD² at value v; every value lies above −1.
func (s stretches) at(v int) (sum, squares float64) {
	exceed, current := 0.0, 0
	end := func() {
		if current == len(s.count)-1 {
			exceed += s.extra
		}
		d := exceed - s.q*s.count[current]
		sum += d
		squares += d * d
	}
	for i := range s.b.Len() {
		if c := s.of(i); c != current {
			end()
			exceed, current = 0, c
		}
		if v < 0 {
			exceed += float64(s.b.Count(i))
		} else {
			exceed += float64(s.b.Above(i, v))
		}
	}
	end()
	return sum, squares
}
