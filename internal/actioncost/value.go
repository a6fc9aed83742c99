package actioncost

import (
	"math"
	"slices"
)

// CostValue is a figure of one run, or the least, the median or the most over runs. A time is in ns.
type CostValue struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Open says that it may be more than Least by any amount; Most is Least.
	Open bool `json:"open,omitempty"`
	// Missing says why there is no figure, empty if there is; Suspect says why it decides nothing.
	Missing string `json:"missing,omitempty"`
	Suspect string `json:"suspect,omitempty"`
}

// Known reports whether there is a figure.
func (v CostValue) Known() bool { return v.Missing == "" }

// Ends returns between which numbers the figure is for sure, ±Inf where there is no such number: where it
// is missing or decides nothing.
func (v CostValue) Ends() (least, most float64) {
	switch {
	case v.Missing != "" || v.Suspect != "":
		return math.Inf(-1), math.Inf(1)
	case v.Open:
		return float64(v.Least), math.Inf(1)
	}
	return float64(v.Least), float64(v.Most)
}

// CostSpread is a figure over the runs that have it.
type CostSpread struct {
	Runs   int       `json:"runs"` // that have it
	Least  CostValue `json:"least"`
	Median CostValue `json:"median"` // of an even number the mean of the two in the middle
	Most   CostValue `json:"most"`
}

// SpreadOf returns the spread of a figure of several runs. The true least, median and most lie between
// those of the lower ends and those of the upper ones.
func SpreadOf(all []CostValue) CostSpread {
	var low, high []float64
	for _, v := range all {
		if !v.Known() {
			continue
		}
		low = append(low, float64(v.Least))
		if v.Open {
			high = append(high, math.Inf(1))
		} else {
			high = append(high, float64(v.Most))
		}
	}
	n := len(low)
	if n == 0 {
		const none = "no run has it"
		return CostSpread{Least: CostValue{Missing: none}, Median: CostValue{Missing: none}, Most: CostValue{Missing: none}}
	}
	slices.Sort(low)
	slices.Sort(high)
	at := func(i, j int) CostValue {
		v := CostValue{Least: int64(math.Round(low[i]/2 + low[j]/2))}
		if most := high[i]/2 + high[j]/2; math.IsInf(most, 1) {
			v.Most, v.Open = v.Least, true
		} else {
			v.Most = int64(math.Round(most))
		}
		return v
	}
	return CostSpread{Runs: n, Least: at(0, 0), Median: at((n-1)/2, n/2), Most: at(n-1, n-1)}
}
