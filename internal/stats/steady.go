package stats

import (
	"math"
	"slices"
)

// Steadiness classifies a series of one figure, measured repeatedly while a system
// ran.
type Steadiness string

// The classes of [SteadyState].
const (
	// NotAssessed: fewer than [LeastSteady] values.
	NotAssessed Steadiness = "not assessed"
	// Flat: no change that matters.
	Flat Steadiness = "flat"
	// WarmUp: it began higher and reached its final level in the first half.
	WarmUp Steadiness = "warm-up"
	// Drift: it went in one direction all the time.
	Drift Steadiness = "drift"
	// LevelShift: it changed from one level to another and stayed there.
	LevelShift Steadiness = "level shift"
	// NoSteadyState: it changed in the last quarter, or back and forth.
	NoSteadyState Steadiness = "no steady state"
)

// LeastSteady is the least number of values that [SteadyState] judges.
const LeastSteady = 20

// Steady is the judgement on a series.
type Steady struct {
	Class Steadiness
	// From is where the steady part begins: 0 if Flat or NotAssessed, the length
	// of the series if it has none.
	From int
	// Change is the figure at the end divided by that at the beginning; 1 if Flat or
	// NotAssessed.
	Change float64
	// Outliers is how many values stand out alone or in short runs: they count as events,
	// not as a state.
	Outliers int
}

// The thresholds of SteadyState.
const (
	// changePenalty times ln n is the penalty for a change point. Krun (Barrett et
	// al., Virtual Machine Warmup Blows Hot and Cold, 2017) uses 15 for thousands
	// of iterations of virtual machines, whose figures are correlated like those of
	// brokers.
	changePenalty = 15
	// A value stands out (as in Krun) if it lies outside the 10th to 90th percentile
	// of the outlierWindow values around it by more than outlierReach times the
	// distance of these percentiles.
	outlierWindow = 200
	outlierReach  = 3
	outlierLeast  = 0.05 // least such distance, of logarithms
	// resolution is the relative step of a histogram with three digits, as a
	// standard deviation.
	resolution = 0.001 / 3.5
	// mostSteady is the length up to which values are used one by one; a longer
	// series is reduced to medians of adjacent values.
	mostSteady = 1500
)

// SteadyState classifies a series of positive values, such as a percentile of every
// second of a run. Their logarithms are split where mean or variance changes. Parts at
// the end count as one if they differ by less than matters, a relative change such as
// 0.05, or by less than the last part's scatter. Fewer than five outliers in a row are
// ignored, because one stall does not make a system unsteady; at the beginning they are
// warm-up.
//
// The values must be in order and without gaps. A value that is not a positive number is
// replaced by the one before it, at the beginning by the first valid one.
func SteadyState(series []float64, matters float64) Steady {
	if len(series) < LeastSteady {
		return Steady{Class: NotAssessed, Change: 1}
	}
	matters = math.Log1p(matters)
	group := (len(series) + mostSteady - 1) / mostSteady
	x := logarithms(series, group)
	aside := smooth(x)
	s := classify(x, group, len(series), matters)
	s.Outliers = aside * group
	return s
}

// classify is SteadyState for n values; x are the logarithms of the medians of each group of
// them.
func classify(x []float64, group, n int, matters float64) Steady {
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
	rise, scatter, drifts := drift(x, matters)
	switch {
	case drifts && (steady == 0 || scatter*scatter*float64(len(x)) <= 1.2*steps):
		// A slope is also split into steps; it is a drift if a line fits about as well.
		return Steady{Class: Drift, From: n, Change: math.Exp(rise)}
	case steady == 0:
		return Steady{Class: Flat, Change: 1}
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
			return Steady{Class: Drift, From: n, Change: change}
		}
		return Steady{Class: NoSteadyState, From: n, Change: change}
	case above && from <= len(x)/2:
		return Steady{Class: WarmUp, From: min(n, from*group), Change: change}
	case (rising || falling) && steady >= 3:
		return Steady{Class: Drift, From: n, Change: change}
	case rising || falling:
		return Steady{Class: LevelShift, From: min(n, from*group), Change: change}
	}
	return Steady{Class: NoSteadyState, From: n, Change: change}
}

// logarithms returns the logarithms of the medians of groups of adjacent values.
func logarithms(series []float64, group int) []float64 {
	var x []float64
	missing := 0 // at the beginning
	for part := range slices.Chunk(series, group) {
		switch v := Median(part); {
		case v > 0 && !math.IsInf(v, 0):
			x = append(x, math.Log(v))
		case missing == len(x):
			x, missing = append(x, 0), missing+1
		default:
			x = append(x, x[len(x)-1])
		}
	}
	if missing < len(x) {
		for i := range missing {
			x[i] = x[missing]
		}
	}
	return x
}

// smooth replaces runs of fewer than shortest outliers by the median of the values around
// them, except for a run at the beginning, and returns how many values it replaced.
func smooth(x []float64) (aside int) {
	type window struct{ low, middle, high float64 }
	n := len(x)
	seen := make([]window, n)
	size := min(outlierWindow, n)
	for i := range seen {
		from := min(max(i-size/2, 0), n-size)
		if i > 0 && from == min(max(i-1-size/2, 0), n-size) {
			seen[i] = seen[i-1]
			continue
		}
		around := slices.Sorted(slices.Values(x[from : from+size]))
		low, high := around[(size-1)/10], around[size-1-(size-1)/10]
		reach := outlierReach * max(high-low, outlierLeast)
		seen[i] = window{low - reach, around[size/2], high + reach}
	}
	out := func(i int) bool { return x[i] < seen[i].low || x[i] > seen[i].high }
	for i := 0; i < n; {
		to := i
		for to < n && out(to) {
			to++
		}
		if i > 0 && to-i < shortest {
			for ; i < to; i++ {
				x[i] = seen[i].middle
				aside++
			}
		}
		i = to + 1
	}
	return aside
}

// drift fits a line. It returns the line's rise over the series, the scatter about it, and
// whether the rise matters, exceeds the scatter and is beyond chance. A line through a
// step rises by half more than the step, so the means of the last and the first tenth
// must also differ by more than matters.
func drift(x []float64, matters float64) (rise, scatter float64, ok bool) {
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
	rest := make([]float64, len(x))
	for i, v := range x {
		rest[i] = v - (centre + l.Slope*(float64(i)-(n-1)/2))
		scatter += rest[i] * rest[i]
	}
	scatter = math.Sqrt(scatter / n)
	lo, hi := l.SlopeInterval(0.999)
	// Correlated neighbours make the slope's error larger: by this factor for a
	// first-order autoregressive series.
	rho := min(max(Autocorrelation(rest), 0), 0.9)
	wider := math.Sqrt((1 + rho) / (1 - rho))
	lo, hi = l.Slope-(l.Slope-lo)*wider, l.Slope+(hi-l.Slope)*wider
	tenth := len(x) / 10
	ends := mean(x[len(x)-tenth:]) - mean(x[:tenth])
	return rise, scatter, math.Abs(rise) > max(matters, 2*scatter) && math.Abs(ends) > matters && (lo > 0 || hi < 0)
}
