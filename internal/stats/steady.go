package stats

import (
	"math"
	"slices"
)

// Steadiness says how a series of one figure, taken again and again while a
// system ran, went on.
type Steadiness string

// The classes of [SteadyState].
const (
	// NotAssessed: fewer than [LeastSteady] values.
	NotAssessed Steadiness = "not assessed"
	// Flat: nothing changed that matters.
	Flat Steadiness = "flat"
	// WarmUp: it began higher and settled in the first half.
	WarmUp Steadiness = "warm-up"
	// Drift: it went in one direction all the time.
	Drift Steadiness = "drift"
	// LevelShift: it changed from one level to another and stayed there.
	LevelShift Steadiness = "level shift"
	// NoSteadyState: it changed in the last quarter, or back and forth.
	NoSteadyState Steadiness = "no steady state"
)

// LeastSteady is the least number of values that [SteadyState] judges.
const LeastSteady = 60

// Steady is the judgement on a series.
type Steady struct {
	Class Steadiness
	// From is where the steady part begins: 0 if Flat or NotAssessed, the length
	// of the series if there is none.
	From int
	// Change is how many times as large as at the beginning the figure is at the
	// end; 1 if Flat or NotAssessed.
	Change float64
}

// The thresholds of SteadyState.
const (
	// changePenalty times ln n is what a change must be worth. Krun (Barrett et
	// al., Virtual Machine Warmup Blows Hot and Cold, 2017) took 15 for
	// thousands of iterations of virtual machines, whose figures are correlated
	// as those of brokers are.
	changePenalty = 15
	// matters is the natural logarithm of the least change worth telling: 5 %.
	matters = 0.05
	// resolution is the relative step of a histogram with three digits, as a
	// standard deviation.
	resolution = 0.001 / 3.5
	// mostSteady values are looked at one by one; of longer series the medians
	// of adjacent values are.
	mostSteady = 1500
)

// SteadyState classes a series of positive values, such as a percentile of every
// second of a run. Their logarithms are split where mean or variance changes;
// parts at the end that differ by less than 5 % and less than their own scatter
// count as one.
//
// It needs the values in order and without gaps; a value that is not a positive
// number is taken to be the one before it.
func SteadyState(series []float64) Steady {
	n := len(series)
	if n < LeastSteady {
		return Steady{NotAssessed, 0, 1}
	}
	group := (n + mostSteady - 1) / mostSteady
	x := logarithms(series, group)
	parts := changePoints(x, changePenalty*math.Log(float64(len(x))), resolution)
	final := parts[len(parts)-1]
	alike := func(a segment) bool { return math.Abs(a.mean-final.mean) <= max(matters, final.sd) }
	steady := len(parts) - 1
	for steady > 0 && alike(parts[steady-1]) {
		steady--
	}
	from := parts[steady].from
	change := math.Exp(final.mean - parts[0].mean)
	steps := 0.0 // the scatter about the parts' means
	for _, p := range parts {
		steps += p.sd * p.sd * float64(p.to-p.from)
	}
	rise, scatter, drifts := drift(x)
	switch {
	case drifts && (steady == 0 || scatter*scatter*float64(len(x)) <= 1.2*steps):
		// A slope is split into stairs, too; it is one where a line fits as well.
		return Steady{Drift, n, math.Exp(rise)}
	case steady == 0:
		return Steady{Flat, 0, 1}
	}
	rising, falling := true, true
	for i := 1; i <= steady; i++ {
		rising = rising && parts[i].mean >= parts[i-1].mean
		falling = falling && parts[i].mean <= parts[i-1].mean
	}
	above := true
	for _, p := range parts[:steady] {
		above = above && p.mean > final.mean
	}
	switch {
	case from >= len(x)*3/4:
		if (rising || falling) && steady >= 2 {
			return Steady{Drift, n, change}
		}
		return Steady{NoSteadyState, n, change}
	case above && from <= len(x)/2:
		return Steady{WarmUp, min(n, from*group), change}
	case (rising || falling) && steady >= 3:
		return Steady{Drift, n, change}
	case rising || falling:
		return Steady{LevelShift, min(n, from*group), change}
	}
	return Steady{NoSteadyState, n, change}
}

// logarithms returns those of the medians of groups of adjacent values.
func logarithms(series []float64, group int) []float64 {
	var x []float64
	before := 0.0
	for part := range slices.Chunk(series, group) {
		if v := Median(part); v > 0 && !math.IsInf(v, 0) {
			before = math.Log(v)
		}
		x = append(x, before)
	}
	return x
}

// drift fits a line. It returns how much that rises over the series, the scatter
// about it, and whether the rise matters, exceeds the scatter and is beyond
// chance.
func drift(x []float64) (rise, scatter float64, ok bool) {
	at := make([]float64, len(x))
	for i := range at {
		at[i] = float64(i)
	}
	l, fitted := FitLine(at, x)
	if !fitted {
		return 0, 0, false
	}
	n := float64(len(x))
	rise = l.Slope * n
	centre := mean(x)
	for i, v := range x {
		r := v - (centre + l.Slope*(float64(i)-(n-1)/2))
		scatter += r * r
	}
	scatter = math.Sqrt(scatter / n)
	lo, hi := l.SlopeInterval(0.999)
	return rise, scatter, math.Abs(rise) > max(matters, 2*scatter) && (lo > 0 || hi < 0)
}
