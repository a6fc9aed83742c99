package schedule

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"sixnines/scenario"
)

// piece is a stretch of constant rate m/per. The messages first ≤ n < last are
// due in it:
//
//	t_n = start + ⌊((n−first)·per + f) / m⌋
//
// f carries the remainder at the start of the piece. It is the integer part of
// (first − Λ(start))·per. The fraction cannot change the floor of the quotient,
// because all other terms are integers, so a schedule of many pieces is exact
// without fractions.
type piece struct {
	start       int64
	first, last int64
	f           uint64
	m, per      uint64
	// whole and part are Λ(start), for random arrivals.
	whole int64
	part  float64
}

// at returns t_n for n ≥ p.first and the remainder of its division. An instant that
// does not fit is MaxInt64.
func (p *piece) at(n int64) (t int64, rem uint64) {
	hi, lo := bits.Mul64(uint64(n-p.first), p.per)
	lo, carry := bits.Add64(lo, p.f, 0)
	hi += carry
	if hi >= p.m {
		return math.MaxInt64, 0
	}
	q, rem := bits.Div64(hi, lo, p.m)
	if q > uint64(math.MaxInt64)-uint64(max(p.start, 0)) {
		return math.MaxInt64, 0
	}
	return p.start + int64(q), rem
}

// stretch is a rate and how long it lasts.
type stretch struct {
	rate   scenario.Rate
	length time.Duration
}

// pieces lays stretches end to end from time zero and returns them with the number of
// messages due in them, ⌈Λ(end)⌉, and Λ(end) itself. The arithmetic is rational; it runs
// once, when the plan is made.
func pieces(all []stretch) (out []piece, total int64, lambda *big.Rat) {
	lambda = new(big.Rat)
	start, first := int64(0), int64(0)
	for _, s := range all {
		p := piece{start: start, first: first, m: s.rate.Messages, per: uint64(s.rate.Per)}
		p.f = leftOver(lambda, first, p.per)
		p.whole, p.part = split(lambda)
		lambda.Add(lambda, new(big.Rat).Mul(ratio(s.rate), new(big.Rat).SetInt64(int64(s.length))))
		start += int64(s.length)
		first = ceil(lambda)
		p.last = first
		out = append(out, p)
	}
	return out, first, lambda
}

// following returns the endless piece from start on, before which lambda messages were
// due, the last of them with the number first−1.
func following(start int64, lambda *big.Rat, first int64, rate scenario.Rate) piece {
	p := piece{start: start, first: first, last: math.MaxInt64, m: rate.Messages, per: uint64(rate.Per)}
	p.f = leftOver(lambda, first, p.per)
	p.whole, p.part = split(lambda)
	return p
}

// preceding returns the piece of the given length that ends at time zero, where
// message 0 would be due: messages −k … −1.
func preceding(length time.Duration, rate scenario.Rate) piece {
	m, per := new(big.Int).SetUint64(rate.Messages), big.NewInt(int64(rate.Per))
	k, f := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(int64(length)), m), per, new(big.Int))
	return piece{start: -int64(length), first: -k.Int64(), last: 0, f: f.Uint64(), m: rate.Messages, per: uint64(rate.Per)}
}

// leftOver returns ⌊(first − lambda)·per⌋.
func leftOver(lambda *big.Rat, first int64, per uint64) uint64 {
	d := new(big.Rat).Sub(new(big.Rat).SetInt64(first), lambda)
	d.Mul(d, new(big.Rat).SetInt(new(big.Int).SetUint64(per)))
	if d.Sign() < 0 {
		return 0 // lambda is a rounded number just above first
	}
	return min(per-1, new(big.Int).Quo(d.Num(), d.Denom()).Uint64())
}

// ratio returns the rate in messages per nanosecond.
func ratio(r scenario.Rate) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Messages), big.NewInt(int64(r.Per)))
}

func ceil(r *big.Rat) int64 {
	q, rem := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		return q.Int64() + 1
	}
	return q.Int64()
}

// split returns the whole part and the fraction of r ≥ 0.
func split(r *big.Rat) (whole int64, part float64) {
	q, rem := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	part, _ = new(big.Rat).SetFrac(rem, r.Denom()).Float64()
	return q.Int64(), part
}

// linear is a schedule of pieces.
type linear []piece

// find returns the index of the piece that message n belongs to, searching on
// from piece i.
func (l linear) find(i int, n int64) int {
	for i < len(l)-1 && n >= l[i].last {
		i++
	}
	return i
}

func (l linear) at(n int64) int64 {
	t, _ := l[l.find(0, n)].at(n)
	return t
}

// inverse returns Λ⁻¹(whole+part), rounded down.
func (l linear) inverse(whole int64, part float64) int64 {
	i := 0
	for i < len(l)-1 && float64(whole-l[i+1].whole)+(part-l[i+1].part) >= 0 {
		i++
	}
	p := &l[i]
	d := float64(whole-p.whole) + (part - p.part)
	return p.start + nanoseconds(float64(d*float64(p.per))/float64(p.m))
}

// nanoseconds rounds x ≥ 0 down and saturates at 2⁶², beyond every window.
func nanoseconds(x float64) int64 {
	if x >= 1<<62 {
		return 1 << 62
	}
	return int64(x)
}
