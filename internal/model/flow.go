package model

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"sixnines/scenario"
)

// flow is the cumulative number of messages Λ(t) due until an instant t of the window:
// message n is due at the last whole nanosecond with Λ(t) ≤ n. Before the window the rate is
// that at the window's start, and after it that at the window's end.
type flow struct {
	window      int64
	first, last scenario.Rate
	// until is Λ(t) exactly; nil if only near is known.
	until func(t int64) *big.Rat
	// near is Λ(t) in floating point, of any instant of the window.
	near func(t float64) float64
	// slack is added to a floating-point instant, ns, before it is rounded down.
	slack float64
}

// flowOf returns the flow of a workload's schedule.
func flowOf(w *scenario.Workload, window time.Duration) (*flow, error) {
	f := &flow{window: int64(window), first: w.Rate, last: w.Rate}
	a := &w.Arrivals
	switch a.Kind {
	case scenario.Burst:
	case scenario.Constant, scenario.Poisson:
		f.steps([]scenario.RateStep{{Rate: w.Rate, For: window}})
	case scenario.Step:
		f.first = a.Steps[0].Rate
		f.steps(a.Steps)
	case scenario.Ramp:
		f.first, f.last = a.From, a.To
		from, to := perNanosecond(a.From), perNanosecond(a.To)
		rise := new(big.Rat).Sub(to, from)
		rise.Quo(rise, new(big.Rat).SetInt64(2*int64(window)))
		f.until = func(t int64) *big.Rat { // a·t + (b−a)·t²/2W
			x := new(big.Rat).SetInt64(t)
			y := new(big.Rat).Mul(rise, x)
			return y.Mul(y.Add(y, from), x)
		}
		a, _ := from.Float64()
		k, _ := rise.Float64()
		f.near = func(t float64) float64 { return (a + k*t) * t }
	case scenario.Sine:
		mean, _ := perNanosecond(w.Rate).Float64()
		period := float64(a.Period)
		f.near = func(t float64) float64 { // R·(t + A·P/2π·(1 − cos 2πt/P))
			_, turns := math.Modf(t / period)
			s := math.Sin(math.Pi * turns)
			return mean * (t + a.Amplitude*period/math.Pi*s*s)
		}
		_, turns := math.Modf(float64(window) / period)
		end := 1 + a.Amplitude*math.Sin(2*math.Pi*turns)
		if end >= 0.01 {
			f.last = scenario.Rate{Messages: max(1, uint64(end*mean*1e12)), Per: 1000 * time.Second}
		}
		f.slack = 1.0 / 16
	default:
		return nil, fmt.Errorf("the model has no arrivals %q", a.Kind)
	}
	return f, nil
}

// steps sets the flow of successive rates; the last one lasts to the end of the window.
func (f *flow) steps(all []scenario.RateStep) {
	f.until = func(t int64) *big.Rat {
		sum := new(big.Rat)
		for i, s := range all {
			n := t
			if i < len(all)-1 {
				n = min(t, int64(s.For))
			}
			sum.Add(sum, new(big.Rat).Mul(perNanosecond(s.Rate), new(big.Rat).SetInt64(n)))
			t -= n
		}
		return sum
	}
	f.near = func(t float64) (sum float64) {
		for i, s := range all {
			n := t
			if i < len(all)-1 {
				n = min(t, float64(s.For))
			}
			sum += n * float64(s.Rate.Messages) / float64(s.Rate.Per)
			t -= n
		}
		return sum
	}
	left := f.window
	for _, s := range all { // find the rate at the window's end
		if f.last = s.Rate; left <= int64(s.For) {
			break
		}
		left -= int64(s.For)
	}
}

// perNanosecond returns a rate in messages per ns, exactly.
func perNanosecond(r scenario.Rate) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Messages), big.NewInt(int64(r.Per)))
}

// numbered lists all messages of a non-random schedule from one instant to another: message n
// belongs to producer n modulo the number of producers.
func (f *flow) numbered(producers int, from, to int64) []due {
	var all []due
	add := func(n, at int64) {
		p := int64(producers)
		all = append(all, due{at, int((n%p + p) % p)})
	}
	before := perNanosecond(f.first)
	for n := int64(-1); ; n-- {
		at := below(new(big.Rat).Quo(new(big.Rat).SetInt64(n), before))
		if at < from {
			break
		}
		add(n, at)
	}
	n := int64(0)
	for ; ; n++ {
		at, ok := f.at(n)
		if !ok {
			break
		}
		add(n, at)
	}
	total := new(big.Rat)
	if f.until != nil {
		total = f.until(f.window)
	} else {
		total.SetFloat64(f.near(float64(f.window)))
	}
	after := perNanosecond(f.last)
	for ; ; n++ {
		left := new(big.Rat).Sub(new(big.Rat).SetInt64(n), total)
		at := f.window + max(0, below(left.Quo(left, after)))
		if at >= to {
			return all
		}
		add(n, at)
	}
}

// at is when message n of the window is due; false: it is due after it.
func (f *flow) at(n int64) (int64, bool) {
	if f.until == nil {
		t := f.inverse(float64(n))
		return t, t < f.window
	}
	want := new(big.Rat).SetInt64(n)
	if f.until(f.window).Cmp(want) <= 0 {
		return 0, false
	}
	t := f.inverse(float64(n)) // near to it
	for t > 0 && f.until(t).Cmp(want) > 0 {
		t--
	}
	for f.until(t+1).Cmp(want) <= 0 {
		t++
	}
	return t, t < f.window
}

// inverse is the instant at which the n-th message is due, in floating point.
func (f *flow) inverse(n float64) int64 {
	low, high := 0.0, float64(f.window)+1
	for range 80 {
		if mid := (low + high) / 2; f.near(mid) <= n {
			low = mid
		} else {
			high = mid
		}
	}
	return int64(math.Floor(low + f.slack))
}

// random draws the window's arrivals of one producer. With a single rate they are Poisson
// arrivals of that rate; else they are at the instants t at which Λ(t) reaches the sum of the
// draws of −ln(U) times the number of producers.
func (f *flow) random(w *scenario.Workload, seed uint64, producer int) []due {
	if w.Arrivals.Kind == scenario.Poisson {
		return poisson(w, w.Rate, seed, producer, inWindow, 0, f.window)
	}
	unit := units(seed, producer, inWindow)
	var all []due
	for sum := 0.0; ; {
		sum += unit() * float64(w.Producers)
		t := f.inverse(sum)
		if t >= f.window {
			return all
		}
		all = append(all, due{t, producer})
	}
}

// below rounds a number down.
func below(x *big.Rat) int64 {
	return new(big.Int).Div(x.Num(), x.Denom()).Int64() // Euclidean: the denominator is above 0
}
