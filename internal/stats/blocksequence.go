package stats

import (
	"math"
	"sort"
)

// SequentialBlocks returns the interval of the quantile p, by stretches, of a run that may
// be looked at as often as one likes, and that may end because of what was seen. For v
// from 0 to values-1 it is [lo, hi]. extra values, none of them in a block, lie above all
// of v: such as messages that never came back.
//
// The run is cut into stretches of length blocks. At the quantile, the exceedances
// of a stretch differ from 1−p of its values by a D with the mean 0, and where
// stretches are independent and D is symmetric about 0,
// exp(λΣD − λ²ΣD²/2) is a supermartingale for every λ (de la Peña, Annals of
// Probability 27, 1999). Mixed over λ as Robbins does, ΣD never leaves
//
//	±√((V+ρ)·(2·ln 1/(1−conf) + ln((V+ρ)/ρ))),   V = ΣD²
//
// with a probability of conf; the interval holds the values at which it has not.
// ρ is V at the first look that is worth one: age is how many times as long the
// run is by now. Stretches are independent only nearly, bursts make D lopsided,
// and ρ and length come from the run: the promise is approximate, as that of
// every interval that takes dependence into account is.
//
// ok is false where [ChunkLength] says so, where nothing was counted, where age is
// below 1, and where the interval has no end among the values.
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
	// What is shown of a value need not be of the next one outwards, if one stretch
	// has most of the values. So the search comes from outside, in strides.
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

// stride is how many values of a grid [SequentialBlocks] passes at a time.
const stride = 16

// stretches are blocks put together.
type stretches struct {
	b      Blocks
	q      float64 // 1−p
	length int
	count  []float64 // values in each stretch
	extra  float64   // in the last one, above everything
}

func newStretches(b Blocks, p float64, length int, extra int64) stretches {
	s := stretches{b: b, q: 1 - p, length: length, count: make([]float64, b.Len()/length), extra: float64(extra)}
	for i := range b.Len() {
		s.count[s.of(i)] += float64(b.Count(i))
	}
	s.count[len(s.count)-1] += s.extra
	return s
}

// of is the stretch of a block. What is left at the end belongs to the last.
func (s stretches) of(block int) int { return min(block/s.length, len(s.count)-1) }

// spread returns the least value of the grid that has something at or below it, and
// the least that has nothing above it but what is extra.
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

// at returns ΣD and ΣD² at value v; above −1 lies everything.
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
