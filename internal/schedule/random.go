package schedule

import (
	"math"
	"math/rand/v2"
)

// seedStream starts the generator of a producer for a phase. The two words of
// PCG's state are
//
//	hi = mix(seed + φ·(phase+1))
//	lo = mix(hi + φ·(producer+1)),  φ = 0x9e3779b97f4a7c15
//
// where mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA
// 2014), a bijection: no two producers of a phase share a state. producer is
// the number in the whole fleet, so that a load is the same on any number of
// agents.
func seedStream(g *rand.PCG, seed uint64, phase Phase, producer int) {
	const phi = 0x9e3779b97f4a7c15
	hi := mix(seed + phi*(uint64(phase)+1))
	g.Seed(hi, mix(hi+phi*(uint64(producer)+1)))
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// exponential returns −ln U with U uniform on {1, 2, …, 2⁵³}/2⁵³: mean 1, at
// least 0, at most 36.8.
func exponential(g *rand.PCG) float64 { return negativeLog(g.Uint64()>>11 + 1) }

// negativeLog returns −ln(u/2⁵³), 1 ≤ u ≤ 2⁵³, with an absolute error below
// 10⁻¹⁵. It is not math.Log, which is assembly on some processors and fused
// differently on others: a seed gives the same schedule everywhere.
//
// u/2⁵³ = m·2⁻ᵏ with ½√2 ≤ m < √2; ln m = 2·artanh(s), s = (m−1)/(m+1),
// |s| < 0.172, by its series, whose even and odd terms are summed side by side.
func negativeLog(u uint64) float64 {
	b := math.Float64bits(float64(u))
	k := 1075 - float64(b>>52)
	m := math.Float64frombits(b&(1<<52-1) | 1022<<52)
	if m < math.Sqrt2/2 {
		m *= 2
		k++
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	w := float64(z * z)
	even := 1.0 / 21
	even = float64(even*w) + 1.0/17
	even = float64(even*w) + 1.0/13
	even = float64(even*w) + 1.0/9
	even = float64(even*w) + 1.0/5
	odd := 1.0 / 23
	odd = float64(odd*w) + 1.0/19
	odd = float64(odd*w) + 1.0/15
	odd = float64(odd*w) + 1.0/11
	odd = float64(odd*w) + 1.0/7
	odd = float64(odd*w) + 1.0/3
	series := odd + float64(z*even)
	log := float64(2*s) + float64(float64(float64(2*s)*z)*series)
	return float64(k*math.Ln2) - log
}
