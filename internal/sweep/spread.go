package sweep

import (
	"cmp"
	"math"
	"slices"

	"sixnines/internal/stats"
)

// Spread is a figure over the rounds of a cell, or over the runs of a set. Runs are not
// merged, and INVALID ones are left out.
type Spread struct {
	// Value is that of the middle round, the lower one of two. A run that was overloaded,
	// or in which refused messages reach the figure, ranks above all that have a number.
	Value float64 `json:"value"`
	// Low and High are, with six rounds or more, the exact 95 % interval of the median over
	// the planned rounds, wherever the rounds without a figure would be, if it has two ends:
	// Bounded is true then. Else they are the lowest and the highest end of the intervals
	// within the runs: the observed range, not a 95 % interval.
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Bounded bool    `json:"bounded,omitempty"`
	// Above says why the interval has no upper end, [MissingUnstable] or [MissingRefused]: such a run is
	// the upper end, and High is the highest number below it. Empty: High is the upper end.
	Above string `json:"above,omitempty"`
	Runs  int    `json:"runs"` // number of runs that have a number
	// AtLeast says that Value is a lower bound, because the figure of the middle round or of
	// one that ranks below it is. Open says the same of High.
	AtLeast bool `json:"at_least,omitempty"`
	Open    bool `json:"open,omitempty"`
	// Suspect is the number of runs whose figure is suspect.
	Suspect int `json:"suspect,omitempty"`
	// Missing says why the figure is missing, if it is missing in at least half of these
	// runs: as in [Figure], or [MissingInvalid] if all runs are INVALID.
	Missing string `json:"missing,omitempty"`
}

// OK reports whether the spread has a figure.
func (s Spread) OK() bool { return s.Missing == "" && s.Runs > 0 }

// Questionable reports whether the figure is suspect in most of the runs that have a number.
func (s Spread) Questionable() bool { return 2*s.Suspect > s.Runs }

// slowest reports whether a figure is missing because the run counts as slower than any
// number.
func (f Figure) slowest() bool { return f.Missing == MissingUnstable || f.Missing == MissingRefused }

// Sample is the figure of one of several runs.
type Sample struct {
	Value   float64 // unless Figure.Missing
	Figure  Figure  // the interval and the qualifications of Value
	LeftOut bool    // the figure must not be used: the run is INVALID, for instance
}

// SpreadOf summarises a figure over the runs that are not left out; planned is the number of
// planned runs.
func SpreadOf(samples []Sample, planned int) Spread {
	type one struct {
		value, low, high float64
		atLeast, open    bool // value, high
	}
	var s Spread
	var all []one
	missing, above := "", ""
	base := 0
	for _, x := range samples {
		if x.LeftOut {
			continue
		}
		base++
		f := x.Figure
		of := one{x.Value, x.Value, x.Value, f.AtLeast, f.AtLeast || f.Open}
		switch {
		case f.slowest():
			missing, above = f.Missing, f.Missing
			all = append(all, one{value: math.Inf(1), low: math.Inf(1), high: math.Inf(1)})
			continue
		case f.Missing != "":
			missing = f.Missing
			continue
		case f.Low != 0 || f.High != 0:
			of.low, of.high = float64(f.Low), float64(f.High)
		}
		all = append(all, of)
		s.Runs++
		if f.Suspect {
			s.Suspect++
		}
	}
	switch {
	case base == 0:
		return Spread{Missing: MissingInvalid}
	case 2*s.Runs <= base:
		return Spread{Missing: missing}
	}
	slices.SortFunc(all, func(a, b one) int {
		order := cmp.Compare(a.value, b.value)
		switch {
		case order != 0 || a.atLeast == b.atLeast:
			return order
		case b.atLeast:
			return -1
		}
		return 1
	})
	middle := (len(all) - 1) / 2
	s.Value, s.Low, s.High = all[middle].value, math.Inf(1), math.Inf(-1)
	// A lower bound that ranks above the middle leaves the median as it is, wherever the figure is.
	s.AtLeast = slices.ContainsFunc(all[:middle+1], func(x one) bool { return x.atLeast })
	s.Open = slices.ContainsFunc(all, func(x one) bool { return x.open })
	values := make([]float64, len(all))
	for i, x := range all {
		values[i] = x.value
		s.Low, s.High = min(s.Low, x.low), max(s.High, x.high)
	}
	// Rounds without the figure may be the slow ones.
	if low, high, ok := stats.MedianIntervalAbsent(values, max(planned-len(all), 0), 0.95); ok {
		s.Low, s.High, s.Bounded = low, high, true
		s.Open = slices.ContainsFunc(all, func(x one) bool { return x.atLeast && x.value <= high })
	}
	if math.IsInf(s.High, 1) {
		s.High, s.Above, s.Open = s.Value, above, false
		for _, x := range all[:s.Runs] {
			s.High = max(s.High, x.high)
		}
	}
	return s
}
