package sweep

import (
	"fmt"
	"slices"

	"sixnines/result"
)

// Curve is the rows of a table along one of its axes, the others held.
type Curve struct {
	Others Cell // the coordinates of the other axes
	X      []float64
	Rows   []*Row
}

// Name is such as "size=256B", for people; empty where there is no other axis.
func (c Curve) Name() string { return c.Others.Text() }

// Along returns the curves of the table along the axis with a key, X ascending.
// Where rows of a cell differ in semantics, those that are not of the first are
// left out.
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
			curves = append(curves, Curve{Others: others})
		}
		c := &curves[j]
		x := values[row.Cell[at].Value]
		if len(c.Rows) > 0 && slices.Contains(c.X, x) {
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

// RateKey is the field by which a sweep is over the rate of the workload, of several
// the table's own.
func (t *Table) RateKey() string {
	if t.Workload != "" {
		return "workloads." + t.Workload + ".rate"
	}
	return "workload.rate"
}

// Main is the key of the axis that charts have as x: the rate, else the first of
// numbers; empty: there is none.
func (t *Table) Main() string {
	main := ""
	for _, a := range t.Axes {
		if _, ok := a.Numbers(); ok && len(a.Values) > 1 && (main == "" || a.Key == t.RateKey()) {
			main = a.Key
		}
	}
	return main
}

// Plane returns which two axes a picture in two dimensions is over: the main one
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

// Knee finds the knee of a curve over the rate, of a percentile of its latency.
// Trials that are INVALID, or too short for the percentile, show nothing: they are
// left out, and the text says how many.
func (c Curve) Knee(percentile string, conf float64) Knee {
	rounds, left := byRound(c, func(x float64, o Outcome) (Point, bool) {
		f := o.Figures[percentile]
		beyond := o.Status == result.Unstable || f.slowest()
		return Point{Rate: x, Latency: float64(f.Value), Unstable: beyond}, beyond || f.Missing == ""
	})
	k := FindKnee(rounds, conf)
	k.Text += left
	return k
}

// Scalability fits the Universal Scalability Law to a curve over a concurrency.
// Trials that are INVALID show nothing: they are left out, and the text says how
// many.
func (c Curve) Scalability(conf float64) USL {
	rounds, left := byRound(c, func(x float64, o Outcome) (Load, bool) { return Load{N: x, X: o.Achieved}, o.Achieved > 0 })
	u := FitUSL(rounds, conf)
	u.Text += left
	return u
}

// byRound puts the trials of a curve together by their rounds; of says what one is
// at x, and whether it is one. left says how many are not, empty if all are.
func byRound[T any](c Curve, of func(x float64, o Outcome) (T, bool)) (all [][]T, left string) {
	rounds := map[int][]T{}
	var order []int
	made, used := 0, 0
	for i, r := range c.Rows {
		for _, o := range r.Runs {
			made++
			if o.Status == result.Invalid {
				continue
			}
			if t, ok := of(c.X[i], o); ok {
				used++
				if rounds[o.Round] == nil {
					order = append(order, o.Round)
				}
				rounds[o.Round] = append(rounds[o.Round], t)
			}
		}
	}
	slices.Sort(order)
	for _, n := range order {
		all = append(all, rounds[n])
	}
	if used < made {
		left = fmt.Sprintf("; without %d of %d trials, which are INVALID or have no such figure", made-used, made)
	}
	return all, left
}
