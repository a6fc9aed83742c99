package schedule

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/scenario"
)

// workload is a paced load of n producers.
func workload(rate scenario.Rate, producers int, a scenario.Arrivals) *scenario.Workload {
	return &scenario.Workload{Loop: scenario.Open, Rate: rate, Producers: producers, Arrivals: a}
}

func mustPlan(t testing.TB, w *scenario.Workload, window time.Duration) *Plan {
	t.Helper()
	p, err := New(w, window, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomRate draws from some 1/day to 10 M/s, evenly in the exponent, whole and
// fractional.
func randomRate(r *rand.Rand) scenario.Rate {
	per := []time.Duration{time.Second, 3 * time.Second, time.Minute, 7 * time.Millisecond, 24 * time.Hour, 13 * time.Microsecond}[r.IntN(6)]
	most := new(big.Int).Div(new(big.Int).Mul(big.NewInt(int64(per)), big.NewInt(maxRate)), big.NewInt(1e9)).Uint64()
	messages := uint64(1)
	for range r.IntN(40) {
		messages = messages*2 + r.Uint64N(2)
	}
	return scenario.Rate{Messages: 1 + messages%most, Per: per}
}

// within fails unless 0 ≤ exact − t < 1.
func within(t *testing.T, what string, n int64, got int64, exact *big.Rat) {
	t.Helper()
	d := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(got))
	if d.Sign() < 0 || d.Cmp(big.NewRat(1, 1)) >= 0 {
		f, _ := d.Float64()
		t.Fatalf("%s: message %d is due at %d, which is %g ns off", what, n, got, f)
	}
}

func TestConstantIsExactForDays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rate := randomRate(r)
		producers := 1 + r.IntN(1000)
		p := mustPlan(t, workload(rate, producers, scenario.Arrivals{Kind: scenario.Constant}), maxWindow)
		total, exact := p.Total()
		if !exact {
			t.Fatal("a constant load is exact")
		}
		gap := new(big.Rat).Inv(ratio(rate))
		due := func(n int64) *big.Rat { return new(big.Rat).Mul(gap, new(big.Rat).SetInt64(n)) }
		if end := new(big.Rat).SetInt64(int64(maxWindow)); due(int64(total)).Cmp(end) < 0 || due(int64(total)-1).Cmp(end) >= 0 {
			t.Fatalf("%d in %v: %d messages do not fill the window", rate.Messages, rate.Per, total)
		}
		// By division, anywhere in the window.
		for range 20 {
			n := int64(r.Uint64N(total))
			within(t, "at", n, p.flows[Window].at(n), due(n))
		}
		// By addition, from anywhere.
		c := p.Producer(r.IntN(producers))
		c.n += int64(r.Uint64N(total/uint64(producers)+1)) * int64(producers)
		for range 200 {
			n := c.n
			got, ok := c.Next()
			if !ok {
				if n < int64(total) {
					t.Fatalf("ended before message %d of %d", n, total)
				}
				break
			}
			within(t, "next", n, got, due(n))
		}
	}
}

// stepsLambda is Λ⁻¹(n) of steps, by definition.
func stepsDue(steps []scenario.RateStep, n int64) *big.Rat {
	left := new(big.Rat).SetInt64(n)
	start := int64(0)
	for i, s := range steps {
		in := new(big.Rat).Mul(ratio(s.Rate), new(big.Rat).SetInt64(int64(s.For)))
		if left.Cmp(in) < 0 || i == len(steps)-1 {
			return left.Quo(left, ratio(s.Rate)).Add(left, new(big.Rat).SetInt64(start))
		}
		left.Sub(left, in)
		start += int64(s.For)
	}
	panic("no steps")
}

func TestStepIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var steps []scenario.RateStep
		window := time.Duration(0)
		for range 1 + r.IntN(12) {
			s := scenario.RateStep{Rate: randomRate(r), For: time.Duration(1 + r.Int64N(int64(time.Hour)))}
			steps = append(steps, s)
			window += s.For
		}
		producers := 1 + r.IntN(50)
		p := mustPlan(t, workload(scenario.Rate{}, producers, scenario.Arrivals{Kind: scenario.Step, Steps: steps}), window)
		total, _ := p.Total()
		for range 50 {
			if total == 0 {
				break
			}
			n := int64(r.Uint64N(total))
			within(t, "at", n, p.flows[Window].at(n), stepsDue(steps, n))
		}
		// Across the borders, by addition.
		for i, pc := range p.flows[Window].linear {
			if i == 0 {
				continue
			}
			stride := int64(producers)
			c := numbered(&p.flows[Window], max(0, pc.first-3*stride), stride)
			for range 6 {
				n := c.n
				if got, ok := c.Next(); ok {
					within(t, "next", n, got, stepsDue(steps, n))
				}
			}
		}
		// And on, after the window, as if the last step did not end.
		c := p.After(0)
		for range 20 {
			n := c.n
			got, ok := c.Next()
			if !ok {
				t.Fatal("the load after the window ended")
			}
			within(t, "after", n, got, stepsDue(steps, n))
			if got < int64(window) {
				t.Fatalf("%d lies in the window", got)
			}
		}
	}
}

func TestRampIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		from, to := randomRate(r), randomRate(r)
		window := time.Duration(1 + r.Int64N(int64(maxWindow)))
		p := mustPlan(t, workload(scenario.Rate{}, 1, scenario.Arrivals{Kind: scenario.Ramp, From: from, To: to}), window)
		total, _ := p.Total()
		// Λ(t) with rationals.
		lambda := func(t int64) *big.Rat {
			x := new(big.Rat).SetInt64(t)
			d := new(big.Rat).Sub(ratio(to), ratio(from))
			d.Mul(d, x).Quo(d, new(big.Rat).SetInt64(2*int64(window)))
			return d.Add(d, ratio(from)).Mul(d, x)
		}
		if end := lambda(int64(window)); ceil(end) != int64(total) {
			t.Fatalf("%d messages, want %s", total, end)
		}
		for i := range 40 {
			if total == 0 {
				break
			}
			n := int64(r.Uint64N(total))
			if i < 5 {
				n = max(0, int64(total)-1-int64(i))
			}
			got := p.flows[Window].at(n)
			want := new(big.Rat).SetInt64(n)
			if lambda(got).Cmp(want) > 0 || lambda(got+1).Cmp(want) <= 0 {
				t.Fatalf("ramp %d/%v..%d/%v over %v: message %d at %d", from.Messages, from.Per, to.Messages, to.Per, window, n, got)
			}
		}
	}
}

const bigPrecision = 300

func bigPi() *big.Float {
	pi, _, err := big.ParseFloat(piDigits, 10, bigPrecision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return pi
}

// bigCos is cos x by its series.
func bigCos(x *big.Float) *big.Float {
	// Halve the angle to |x| < 1, then double back by cos 2x = 2cos²x − 1.
	h := new(big.Float).SetPrec(bigPrecision).SetMantExp(x, -10)
	z := new(big.Float).SetPrec(bigPrecision).Mul(h, h)
	sum, term := big.NewFloat(1).SetPrec(bigPrecision), big.NewFloat(1).SetPrec(bigPrecision)
	for k := int64(1); k < 80; k += 2 {
		term.Mul(term, z)
		term.Quo(term, new(big.Float).SetInt64(-k*(k+1)))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
		sum.Mul(sum, big.NewFloat(2))
		sum.Sub(sum, big.NewFloat(1))
	}
	return sum
}

// bigSine is Λ(t)/R in ns: t + C(1 − cos(2πt/P)).
func bigSine(amplitude float64, period, t int64) *big.Float {
	f := func(x int64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetInt64(x) }
	phase := new(big.Float).SetPrec(bigPrecision).Quo(f(t%period), f(period))
	phase.Mul(phase, bigPi()).Mul(phase, big.NewFloat(2))
	c := new(big.Float).SetPrec(bigPrecision).SetFloat64(amplitude)
	c.Mul(c, f(period)).Quo(c, bigPi()).Quo(c, big.NewFloat(2))
	v := new(big.Float).SetPrec(bigPrecision).Sub(big.NewFloat(1), bigCos(phase))
	return v.Mul(v, c).Add(v, f(t))
}

func TestSineIsWithinANanosecond(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 300 {
		rate := randomRate(r)
		for rate.Float() > maxRate/2 {
			rate = randomRate(r)
		}
		period := 1 + r.Int64N(int64(maxPeriod)>>r.IntN(30))
		amplitude := []float64{1, 0.5, 1e-9, 0.999999, r.Float64()}[round%5]
		window := time.Duration(1 + r.Int64N(int64(maxWindow)))
		p := mustPlan(t, workload(rate, 1, scenario.Arrivals{Kind: scenario.Sine, Amplitude: amplitude, Period: time.Duration(period)}), window)
		total, _ := p.Total()
		for i := range 30 {
			if total == 0 {
				break
			}
			n := int64(r.Uint64N(total))
			if i < 10 {
				// Troughs of the rate, where the inverse is ill-conditioned.
				c := 3*period/4 + r.Int64N(int64(window)/period+1)*period
				x, _ := new(big.Float).Mul(bigSine(amplitude, period, c), big.NewFloat(rate.Float()/1e9)).Int64()
				n = min(max(0, x+int64(i%3)-1), int64(total)-1)
			}
			got := p.flows[Window].at(n)
			want := new(big.Float).SetPrec(bigPrecision).SetRat(new(big.Rat).Quo(new(big.Rat).SetInt64(n), ratio(rate)))
			// |Λ⁻¹(n) − t_n| < 1 ns is Λ(t_n − 1) < n < Λ(t_n + 1).
			if got > 0 && bigSine(amplitude, period, got-1).Cmp(want) >= 0 || bigSine(amplitude, period, got+1).Cmp(want) <= 0 {
				t.Fatalf("sine %v×%g, period %d: message %d at %d", rate, amplitude, period, n, got)
			}
		}
	}
}

func TestSineKeepsWholeInstants(t *testing.T) {
	// 10,000 messages a period: number 10,000·k is due at k periods exactly.
	for _, amplitude := range []float64{0.25, 0.5, 1} {
		period := int64(10 * time.Second)
		s := newSine(scenario.PerSecond(1000), amplitude, period)
		for k := range int64(100_000) {
			if got := s.at(k * 10_000); got != k*period {
				t.Fatalf("period %d starts at %d", k, got)
			}
		}
	}
}

func TestNegativeLog(t *testing.T) {
	// Against ln by halving: ln x = 2·ln √x … then a series, in 200 bits.
	exact := func(u uint64) float64 {
		x := new(big.Float).SetPrec(200).SetMantExp(new(big.Float).SetPrec(200).SetUint64(u), -53)
		k := 0
		for x.Cmp(big.NewFloat(0.9999)) < 0 {
			x.Sqrt(x)
			k++
		}
		// −ln(1−y) = y + y²/2 + …
		y := new(big.Float).SetPrec(200).Sub(big.NewFloat(1), x)
		sum, power := new(big.Float).SetPrec(200), big.NewFloat(1).SetPrec(200)
		for i := int64(1); i < 20; i++ {
			power.Mul(power, y)
			sum.Add(sum, new(big.Float).SetPrec(200).Quo(power, new(big.Float).SetInt64(i)))
		}
		v, _ := sum.SetMantExp(sum, k).Float64()
		return v
	}
	r := rand.New(rand.NewPCG(9, 10))
	check := func(u uint64) {
		t.Helper()
		got, want := negativeLog(u), exact(u)
		if d := got - want; d > 1e-15+want*3e-16 || d < -1e-15-want*3e-16 {
			t.Fatalf("−ln(%d/2⁵³) = %v, want %v", u, got, want)
		}
	}
	for i := range 54 {
		check(1 << i)
	}
	check(1<<53 - 1)
	check(1<<52 + 1<<50)
	for range 20000 {
		check(r.Uint64N(1<<53)>>r.IntN(53) + 1)
	}
}
