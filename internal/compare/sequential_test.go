package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/hunttest"
	"sixnines/internal/stats"
	"sixnines/result"
)

// The looks of a comparison end with its last pair, ascend, and share 5 % of error; each can show something.
func TestLooks(t *testing.T) {
	for pairs := MinPairs; pairs <= 1000; pairs++ {
		looks := Looks(pairs)
		if looks[len(looks)-1] != pairs || !slices.IsSorted(looks) || len(slices.Compact(slices.Clone(looks))) != len(looks) {
			t.Fatalf("%d pairs: %v", pairs, looks)
		}
		sum := 0.0
		for i, n := range looks {
			alpha := 1 - level(looks, n)
			if sum += alpha; 2/math.Pow(2, float64(n)) > alpha {
				t.Errorf("%v: look %d can show nothing at %.4f", looks, i+1, alpha)
			}
			if n > looks[0] && level(looks, n-1) > level(looks, looks[max(i-1, 0)])+1e-12 {
				t.Errorf("%v: %d pairs have a higher level than the look before", looks, n-1)
			}
		}
		if math.Abs(sum-0.05) > 1e-12 {
			t.Errorf("%v: error %v", looks, sum)
		}
	}
}

// sequential draws an ab that ends by itself, as the command makes it, and compares it at each look. effect is by how
// much B's quantiles are longer; biased, by how much the second side of each pair is, also where it is A.
func (w *world) sequential(t *testing.T, name string, most int, effect, biased float64, o Options) (c *Comparison, pairs int) {
	t.Helper()
	d := &result.Design{Kind: result.DesignBeside, Looks: Looks(most), Controls: MinPairs, Budget: 3 * time.Minute}
	var a, b []*result.Run
	number := 0
	pair := func(control bool, longer float64) {
		number++
		// What disturbs the machine disturbs both runs of a pair alike.
		w.mood = 0.3 * math.Abs(w.r.NormFloat64())
		for side, arm := range []string{"A", map[bool]string{true: "A2", false: "B"}[control]} {
			r := w.run(fmt.Sprint(name, arm, number), time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC).Add(time.Duration(number)*time.Minute), 0)
			if side == 1 {
				for p, f := range r.Summary.Histograms[result.DeliveryResponse].Figures {
					f.Value = int64(float64(f.Value) * (1 + longer) * (1 + biased))
					r.Summary.Histograms[result.DeliveryResponse].Figures[p] = f
				}
			}
			if control && number == 1 && side == 1 {
				delete(r.Summary.Histograms[result.DeliveryResponse].Figures, result.Percentile(w.without))
			}
			r.Header.Trial = &result.Trial{Set: name, Kind: result.TrialAB, Arm: arm, Pair: number, Beside: true, Control: control, Design: d, Index: number}
			r.Header.Machine = []result.Fact{{Section: "go", Name: result.FactProcessors, Value: "2"}}
			r.Series = []result.Point{{Phase: result.PhaseMeasure, Start: 0, End: 1e9, Vitals: map[result.Vital]float64{result.VitalProcessCPU: 0.3}}}
			if side == 0 {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
		}
	}
	for range d.Controls - w.lost {
		pair(true, 0)
	}
	for _, n := range d.Looks {
		for pairs < n {
			pair(false, effect)
			pairs++
		}
		var err error
		if c, err = Compare(a, b, o); err != nil {
			t.Fatal(err)
		}
		if c.Settled() {
			break
		}
	}
	return c, pairs
}

// sequentialOptions are those of the simulations: three percentiles, as the README's example.
func sequentialOptions(least float64) Options {
	return Options{MinEffect: least, Percentiles: []result.Percentile{"50", "90", "99"}}
}

// sequentialPairs is how many pairs the README's three minutes have, about. Up to 16 all assignments of signs are tried.
const sequentialPairs = 14

// Of 200 comparisons of A beside A that end by themselves at most 5 % are slower or faster at any percentile, by
// however little. Those that a side biases decide nothing.
//
// With 20 pairs and four looks there were 5 alarms in 200, and 6 were withheld by the control.
func TestSequentialFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation, of nothing concurrent")
	}
	trials := hunttest.Cases(t, 200, 2000)
	w := &world{r: rand.New(rand.NewPCG(39, 0)), messages: 5000, between: 0.01}
	var alarms, withheld int64
	for i := range trials {
		switch c, _ := w.sequential(t, fmt.Sprint(i), sequentialPairs, 0, 0, sequentialOptions(0)); {
		case c.Outcome == Slower || c.Outcome == Faster || c.Outcome == Mixed:
			alarms++
		case c.Control.Biased:
			withheld++
		}
	}
	lo, _, _ := stats.ProportionInterval(alarms, int64(trials), 0.99)
	t.Logf("%d of %d alarms, %d withheld by the control", alarms, trials, withheld)
	if lo > 0.05 || float64(withheld) > 0.08*float64(trials) {
		t.Errorf("%d alarms and %d withheld of %d", alarms, withheld, trials)
	}
	w = &world{r: rand.New(rand.NewPCG(39, 9)), messages: 5000, between: 0.01}
	decided := 0
	for i := range 20 {
		if c, _ := w.sequential(t, fmt.Sprint(i), sequentialPairs, 0, 0.1, sequentialOptions(0.05)); c.Outcome != Undecided || !c.Control.Biased || c.Gate.Answer != Open || strings.Contains(c.Text, "No false alarm") {
			decided++
		}
	}
	if decided > 2 {
		t.Errorf("%d of 20 comparisons with a side that is 10 %% slower by itself are decided", decided)
	}
}

// Sides at once decide nothing without what A beside A differs by: where its pairs were not made, or too few of them.
func TestNothingIsDecidedWithoutTheControl(t *testing.T) {
	for lost, want := range map[int]Outcome{0: Slower, 1: Undecided, MinPairs: Undecided} {
		w := &world{r: rand.New(rand.NewPCG(39, 4)), messages: 5000, between: 0.01, lost: lost}
		if c, _ := w.sequential(t, "x", sequentialPairs, 0.5, 0, sequentialOptions(0.05)); c.Outcome != want || (c.Gate.Answer == Open) != (want == Undecided) {
			t.Errorf("without %d pairs of the control: %s, gate %s; want %s", lost, c.Outcome, c.Gate.Answer, want)
		}
	}
}

// A figure that A beside A does not have is not decided, and the others are; the reason is a field.
func TestAFigureNeedsItsOwnControl(t *testing.T) {
	w := &world{r: rand.New(rand.NewPCG(39, 4)), messages: 5000, between: 0.01, without: "99"}
	c, pairs := w.sequential(t, "x", sequentialPairs, 0.5, 0, sequentialOptions(0.05))
	if c.Outcome != Slower || pairs == sequentialPairs {
		t.Errorf("%s after %d pairs: %s", c.Outcome, pairs, c.Text)
	}
	for _, r := range c.Metrics[0].Rows {
		want := Row{Outcome: Slower}
		switch r.Percentile {
		case "99":
			want = Row{Outcome: Undecided, Cause: NoControl}
		case maximum:
			want = Row{}
		}
		if r.Outcome != want.Outcome || r.Cause != want.Cause {
			t.Errorf("p%s: %s, cause %q; want %s, %q", r.Percentile, r.Outcome, r.Cause, want.Outcome, want.Cause)
		}
	}
	for _, j := range c.Gate.Judged {
		if j.Percentile == "99" && (j.Answer != Open || j.Cause != NoControl) {
			t.Errorf("the gate has p99 as %s, cause %q", j.Answer, j.Cause)
		}
	}
}

// Of comparisons of 14 pairs at most four in five find what there is, where pairs differ as runs of five seconds beside each
// other do: B 5 % slower at p50, 10 % at p99, and A the same as A within 5 % at p50 and p90. At p99 that needs windows of
// 20,000 messages and no other percentile: of 5,000 messages it is found in 24 of 40, and in 16 beside p50 and p90.
func TestSequentialPower(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation, of nothing concurrent")
	}
	trials := hunttest.Cases(t, 40, 1000)
	for n, tt := range []struct {
		name        string
		effect      float64
		least       float64
		messages    int64
		percentiles []result.Percentile
		want        Outcome // at all of the percentiles
	}{
		{"p50 +5 %", 0.05, 0.01, 5000, []result.Percentile{"50"}, Slower},
		{"p99 +10 %", 0.1, 0.01, 20_000, []result.Percentile{"99"}, Slower},
		{"the same within 5 %", 0, 0.05, 5000, []result.Percentile{"50", "90"}, Same},
	} {
		w := &world{r: rand.New(rand.NewPCG(39, uint64(n)+1)), messages: tt.messages, between: 0.01}
		o := sequentialOptions(tt.least)
		if n > 0 {
			o.Percentiles = tt.percentiles
		}
		var found, made int64
		for i := range trials {
			c, pairs := w.sequential(t, fmt.Sprint(i), sequentialPairs, tt.effect, 0, o)
			made += int64(pairs)
			all := true
			for _, r := range c.Metrics[0].Rows {
				all = all && (!slices.Contains(tt.percentiles, r.Percentile) || r.Outcome == tt.want)
			}
			if all {
				found++
			}
		}
		_, hi, _ := stats.ProportionInterval(found, int64(trials), 0.99)
		t.Logf("%s: found in %d of %d, after %.1f pairs in the mean", tt.name, found, trials, float64(made)/float64(trials))
		if hi < 0.8 {
			t.Errorf("%s: found in %d of %d", tt.name, found, trials)
		}
	}
}
