package schedule

import (
	"math"
	"math/big"
	"math/bits"

	"sixnines/scenario"
)

// sine is a rate that swings about its mean R with amplitude A and period P:
//
//	λ(t) = R·(1 + A·sin(2πt/P)),  Λ(t) = R·(t + C·(1 − cos(2πt/P))),  C = A·P/2π
//
// Seen from a trough of the rate, at c = ¾P + kP, this is Kepler's equation:
// with E = 2π(t−c)/P and y = 2π(n/R − C − c)/P,
//
//	E − A·sin E = y
//
// which is well conditioned even where the rate falls to zero (A = 1), if y is
// known to full relative precision. So n/R − C − c is computed from integers and
// fractions of double length. The result is within 1 ns of Λ⁻¹(n) for periods
// up to 24 h.
type sine struct {
	m, per    uint64
	period    int64
	amplitude float64
	scale     float64 // 2π/P
	// origin + originPart is C + ¾P.
	origin     int64
	originPart double
	centre     int64   // ⌊¾P⌋
	centrePart float64 // and its fraction, in quarters
}

// piDigits is π to more digits than any use here needs.
const piDigits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"

func newSine(rate scenario.Rate, amplitude float64, period int64) *sine {
	const precision = 240
	pi, _, err := big.ParseFloat(piDigits, 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err) // a constant
	}
	c := new(big.Float).SetPrec(precision).SetFloat64(amplitude)
	c.Mul(c, new(big.Float).SetInt64(period))
	c.Quo(c, pi)
	c.Quo(c, big.NewFloat(2))
	c.Add(c, new(big.Float).SetPrec(precision).Quo(new(big.Float).SetPrec(precision).SetInt64(3*period), big.NewFloat(4)))
	s := &sine{m: rate.Messages, per: uint64(rate.Per), period: period, amplitude: amplitude}
	s.origin, _ = c.Int64()
	c.Sub(c, new(big.Float).SetPrec(precision).SetInt64(s.origin))
	s.originPart.hi, _ = c.Float64()
	c.Sub(c, big.NewFloat(s.originPart.hi))
	s.originPart.lo, _ = c.Float64()
	scale := new(big.Float).SetPrec(precision).Mul(pi, big.NewFloat(2))
	s.scale, _ = scale.Quo(scale, new(big.Float).SetInt64(period)).Float64()
	s.centre, s.centrePart = 3*period/4, float64(3*period%4)/4
	return s
}

// at returns t_n, n ≥ 0.
func (s *sine) at(n int64) int64 { return s.inverse(n, 0) }

// nudge is added before rounding down, ns: whole nanoseconds that come out slightly
// too low in floating point, such as the start of a period, are then not rounded to
// the one before.
const nudge = 1.0 / 16

// inverse returns Λ⁻¹(whole+part) rounded down; 0 ≤ part < 1.
func (s *sine) inverse(whole int64, part float64) int64 {
	hi, lo := bits.Mul64(uint64(whole), s.per)
	if hi >= s.m {
		return 1 << 62
	}
	q, rem := bits.Div64(hi, lo, s.m)
	fraction := quotient(float64(rem), float64(s.m))
	if part != 0 {
		// Random arrivals: no more precise than the random number.
		fraction = double{fraction.hi + float64(part*float64(s.per))/float64(s.m), 0}
		f := math.Floor(fraction.hi)
		fraction.hi -= f
		q += uint64(f)
	}
	if q >= 1<<62 {
		return 1 << 62
	}
	g := int64(q) - s.origin
	k := (g + s.period/2) / s.period
	if (g+s.period/2)%s.period < 0 {
		k--
	}
	g -= k * s.period
	d := fraction.sub(s.originPart).addWhole(float64(g))
	e := kepler(math.Abs(d)*s.scale, s.amplitude)
	x := math.Copysign(e/s.scale, d) + s.centrePart
	return max(0, s.centre+k*s.period+int64(math.Floor(x+nudge)))
}

// lambda returns Λ(t), to the precision of floating point.
func (s *sine) lambda(t int64) float64 {
	_, versine := s.swing(t)
	return (float64(t) + float64(s.amplitude*versine)/s.scale) * float64(s.m) / float64(s.per)
}

// rate returns λ(t) as a fraction of the mean, from 0 to 2.
func (s *sine) rate(t int64) float64 {
	sin, _ := s.swing(t)
	return 1 + float64(s.amplitude*sin)
}

// swing returns sin and 1 − cos of the phase at t ≥ 0.
func (s *sine) swing(t int64) (sin, versine float64) {
	t %= s.period
	if half := s.period - t; half < t {
		sin, versine = s.swing(half)
		return -sin, versine
	}
	x := float64(t) * s.scale
	gap, versine := angles(x)
	return x - gap, versine
}

// kepler returns E ≥ 0 with E − e·sin E = y, for 0 ≤ e ≤ 1 and 0 ≤ y ≤ π (a
// little more is allowed). The left side is convex there, so that Newton's
// method comes down to the root from any bound above it.
func kepler(y, e float64) float64 {
	if y == 0 {
		return 0
	}
	x := y + e
	if e < 1 {
		x = min(x, y/(1-e))
	}
	if e > 0 {
		// x − sin x ≥ x³/π² up to π.
		x = min(x, cubeRootAbove(math.Pi*math.Pi*y/e))
	}
	x = min(x, max(math.Pi, y))
	for range 64 {
		gap, versine := angles(x)
		f := float64((1-e)*x) + float64(e*gap) - y
		step := f / ((1 - e) + float64(e*versine))
		next := x - step
		if math.Abs(step) <= float64(x*0x1p-51) {
			return next
		}
		x = next
	}
	return x
}

// cubeRootAbove returns ∛x or up to 9 % more, by dividing the exponent and with
// it the mantissa, as a straight line between powers of two, by three.
func cubeRootAbove(x float64) float64 {
	return 1.03 * math.Float64frombits(math.Float64bits(x)/3+682<<52)
}

// angles returns x − sin x and 1 − cos x for 0 ≤ x < 4, each to full relative
// precision.
func angles(x float64) (gap, versine float64) {
	if x <= math.Pi/2 {
		return series(x)
	}
	// u = π − x; the second word of π keeps u exact near π.
	u := math.Pi - x + 1.2246467991473532e-16
	gap, versine = series(math.Abs(u))
	return x - (u - math.Copysign(gap, u)), 2 - versine
}

// terms are 1/(k·(k+1)) for k = 22, 21, … 3: by turns the factors of the two
// series.
var terms = [...]float64{
	1. / (22 * 23), 1. / (21 * 22), 1. / (20 * 21), 1. / (19 * 20), 1. / (18 * 19), 1. / (17 * 18), 1. / (16 * 17),
	1. / (15 * 16), 1. / (14 * 15), 1. / (13 * 14), 1. / (12 * 13), 1. / (11 * 12), 1. / (10 * 11), 1. / (9 * 10),
	1. / (8 * 9), 1. / (7 * 8), 1. / (6 * 7), 1. / (5 * 6), 1. / (4 * 5), 1. / (3 * 4),
}

// series returns x − sin x = x³/3! − x⁵/5! + … and 1 − cos x = x²/2! − x⁴/4! + …
// for 0 ≤ x ≤ π/2, side by side: each step waits for the one before, so that
// the second series costs next to nothing.
func series(x float64) (gap, versine float64) {
	z := float64(x * x)
	gap, versine = 1, 1
	for i := 0; i < len(terms); i += 2 {
		gap = 1 - float64(float64(z*gap)*terms[i])
		versine = 1 - float64(float64(z*versine)*terms[i+1])
	}
	return float64(float64(x*z)/6) * gap, float64(z/2) * versine
}

// double is an unevaluated sum of two floats, |lo| ≤ ½ulp(hi): some 106 bits
// (Dekker, Numerische Mathematik 18, 1971).
type double struct{ hi, lo float64 }

// quotient returns a/b, both exact.
func quotient(a, b float64) double {
	q := a / b
	return double{q, math.FMA(-q, b, a) / b}
}

func (x double) sub(y double) double {
	s := x.hi - y.hi
	v := s - x.hi
	rest := (x.hi - (s - v)) + (-y.hi - v)
	return double{s, rest + (x.lo - y.lo)}
}

// addWhole returns x+w rounded once.
func (x double) addWhole(w float64) float64 {
	s := w + x.hi
	v := s - w
	rest := (w - (s - v)) + (x.hi - v)
	return s + (rest + x.lo)
}
