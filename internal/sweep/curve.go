package sweep

import (
	"fmt"
	"maps"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Curve is the rows of a table along one of its axes, with the other axes fixed.
type Curve struct {
	Others Cell // the coordinates of the other axes
	X      []float64
	Rows   []*Row
	Rounds int // planned for each row
	Unlike int // trials that are not in Rows: their guarantees are not those of the first row of their cell
}

// Name names the curve in output, such as "size=256B"; it is empty without another axis.
func (c Curve) Name() string { return c.Others.Text() }

// Along returns the curves of the table along the axis with a key, X ascending. Of rows of
// a cell that differ in semantics only the first is used.
func (t *Table) Along(key string) []Curve {
	var curves []Curve
	values, at := t.numbers(key)
	if values == nil {
		return nil
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		others := slices.Delete(slices.Clone(row.Cell), at, at+1)
		j := slices.IndexFunc(curves, func(c Curve) bool { return slices.Equal(c.Others, others) })
		if j < 0 {
			j = len(curves)
			curves = append(curves, Curve{Others: others, Rounds: t.Rounds})
		}
		c := &curves[j]
		x := values[row.Cell[at].Value]
		if slices.Contains(c.X, x) {
			c.Unlike += len(row.Runs)
			continue
		}
		k, _ := slices.BinarySearch(c.X, x)
		c.X, c.Rows = slices.Insert(c.X, k, x), slices.Insert(c.Rows, k, row)
	}
	return curves
}

// numbers returns the values of an axis as numbers, by their text, and which axis
// it is.
func (t *Table) numbers(key string) (map[string]float64, int) {
	at := slices.IndexFunc(t.Axes, func(a Axis) bool { return a.Key == key })
	if at < 0 {
		return nil, 0
	}
	return t.Axes[at].ByValue(), at
}

// RateKey is the key of the field that is the rate of the table's workload.
func (t *Table) RateKey() string {
	if t.Workload != "" {
		return "workloads." + t.Workload + ".rate"
	}
	return "workload.rate"
}

// Main is the key of the axis that is the x axis of charts: the rate, else the first axis of
// numbers; empty if no axis has numbers.
func (t *Table) Main() string {
	main := ""
	for _, a := range t.Axes {
		if _, ok := a.Numbers(); ok && len(a.Values) > 1 && (main == "" || a.Key == t.RateKey()) {
			main = a.Key
		}
	}
	return main
}

// Plane returns the indices of the two axes of a two-dimensional chart: the main axis
// across, the other up; -1 unless exactly two axes have several values.
func (t *Table) Plane() (across, up int) {
	var several []int
	for i, a := range t.Axes {
		if len(a.Values) > 1 {
			several = append(several, i)
		}
	}
	if len(several) != 2 {
		return -1, -1
	}
	across, up = several[1], several[0]
	if t.Axes[up].Key == t.Main() {
		across, up = up, across
	}
	return across, up
}

// Knee finds the knee of a curve over the rate, for a percentile of its latency. Trials
// that are INVALID, were not made, or whose percentile is suspect or not supported are not
// used: the text says how many, and if they are the majority at a rate that decides the
// knee, no knee is given. A percentile that is only a lower bound is no latency: the rate
// is beyond the knee, as where refused messages reach it. conf is the confidence of the
// interval, in (0, 1).
func (c Curve) Knee(percentile result.Percentile, conf float64) Knee {
	rounds, left := c.byRound(func(o Outcome) bool {
		f := o.Figures[percentile]
		return o.Status == result.Unstable || f.slowest() || f.Missing == "" && !f.Suspect
	})
	points := make([][]Point, len(rounds))
	for i, round := range rounds {
		for _, t := range round {
			f := t.outcome.Figures[percentile]
			beyond := t.outcome.Status == result.Unstable || f.slowest() || f.AtLeast
			points[i] = append(points[i], Point{Rate: t.x, Latency: float64(f.Value), Unstable: beyond, Unknown: !t.usable})
		}
	}
	k := findKnee(points, conf)
	k.Text += left
	return k
}

// Scalability fits the Universal Scalability Law to a curve over a concurrency. Trials
// that are INVALID, SUSPECT as a whole or were not made are left out, and the text says how
// many. If they are the majority at one of the concurrencies, nothing is fitted. conf is
// the confidence of the intervals, in (0, 1).
func (c Curve) Scalability(conf float64) USL {
	rounds, left := c.byRound(func(o Outcome) bool { return o.Achieved > 0 && o.Status != result.Suspect })
	loads := make([][]Load, len(rounds))
	balance := map[float64]int{} // usable trials minus unusable ones, by concurrency
	for i, round := range rounds {
		for _, t := range round {
			if !t.usable {
				balance[t.x]--
				continue
			}
			balance[t.x]++
			loads[i] = append(loads[i], Load{N: t.x, X: t.outcome.Achieved})
		}
	}
	u := FitUSL(loads, conf)
	for _, x := range c.X {
		if balance[x] < 0 && u.Refused == "" {
			u = USL{Refused: fmt.Sprintf("most trials at N = %s show nothing", amount(x))}
			u.Text = "no scalability law was fitted: " + u.Refused
		}
	}
	u.Text += left
	return u
}

// tried is a trial of a curve at x.
type tried struct {
	x       float64
	outcome Outcome
	usable  bool // the trial counts for the fit
}

// byRound groups the trials of a curve by round, including planned ones that were not made.
// usable decides about trials that are not INVALID. left says how many trials are unusable or
// not in the curve; it is empty if all are used.
func (c Curve) byRound(usable func(Outcome) bool) (all [][]tried, left string) {
	rounds := map[int][]tried{}
	planned, used := 0, 0
	for i, r := range c.Rows {
		made := map[int]bool{}
		for _, o := range r.Runs {
			t := tried{x: c.X[i], outcome: o, usable: o.Status != result.Invalid && usable(o)}
			if t.usable {
				used++
			}
			made[o.Round] = true
			rounds[o.Round] = append(rounds[o.Round], t)
			planned++
		}
		for n := 1; n <= c.Rounds && r.Semantics == ""; n++ {
			if !made[n] {
				rounds[n] = append(rounds[n], tried{x: c.X[i]})
				planned++
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(rounds)) {
		all = append(all, rounds[n])
	}
	if used < planned {
		left = fmt.Sprintf("; without %d of %d trials, which are INVALID, suspect or not made, or have no such figure", planned-used, planned)
	}
	if c.Unlike > 0 {
		left += fmt.Sprintf("; without %s whose guarantees differ from those of the first in their cell", spell.Plural(int64(c.Unlike), "trial"))
	}
	return all, left
}
