package compare

import (
	"math"
	"strings"
	"testing"

	"sixnines/result"
)

// disturbed compares ten pairs, and six with A on both sides. slowed is A beside B by that beside A, factor B by that, and noise how
// far each percentile is from pair to pair, both sides alike.
func disturbed(t *testing.T, slowed, factor float64, noise map[result.Percentile]float64, o Options) *Comparison {
	a, b := steady(16, 1, func(side, n int, r *result.Run) {
		control := n%8 >= 5
		arm, by := string(rune('A'+side)), 1.0
		if side == 1 && control {
			arm = "A2"
		}
		if !control {
			by = slowed
			if side == 1 {
				by *= factor
			}
		}
		d := r.Summary.Histograms[result.DeliveryResponse]
		figures := map[result.Percentile]result.Figure{}
		for at, spread := range noise {
			f := d.Figures[at]
			f.Value = int64(float64(f.Value) * by * math.Exp(spread*float64(n*5%7-3)/3))
			figures[at] = f
		}
		d.Figures = figures
		r.Header.Trial = &result.Trial{Set: "x", Kind: result.TrialAB, Arm: arm, Pair: n + 1, Control: control}
	})
	return compared(t, a, b, o)
}

// A side that takes from the other one more than that would take from itself moves the ratio. Only an outcome that this cannot have
// made stays; chance alone withholds nothing.
func TestWhatOneSideTakesFromTheOther(t *testing.T) {
	for _, tt := range []struct {
		name           string
		slowed, factor float64 // A beside B by that beside A, and B by that
		noise          float64 // of a pair, both sides alike
		outcome        Outcome
		answer         Answer
		says           string
	}{
		{"nothing", 1, 1, 0, Same, NotWorse, ""},
		{"less than matters", 1.04, 1, 0, Same, NotWorse, ""},
		{"less than a tenth, and more than matters", 1.08, 1, 0, Undecided, Open, "A beside B differs by +8.0 % from A beside A"},
		{"by chance", 1.2, 1, 0.5, Same, NotWorse, ""},
		{"B slows A, and looks alike", 1.5, 1, 0, Undecided, Open, "A beside B differs by +50 % from A beside A, so what B takes from it hides how slow B is"},
		{"B slows A, and looks faster", 1.5, 0.8, 0, Undecided, Open, "hides how slow B is"},
		{"B slows A, and is slower still", 1.5, 1.2, 0, Slower, Worse, ""},
		{"A slows B, which looks slower", 0.7, 1.3, 0, Undecided, Open, "what A takes from B may be what slows B"},
		{"A slows B, which is faster still", 0.7, 0.8, 0, Faster, NotWorse, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := disturbed(t, tt.slowed, tt.factor, map[result.Percentile]float64{"50": tt.noise}, standard())
			row := c.row("50")
			if len(c.Pairs) != 10 || c.Control.Pairs != 6 || row.Outcome != tt.outcome || c.Gate.Answer != tt.answer || !strings.Contains(c.Text, tt.says) {
				t.Errorf("%s, gate %s, taken %v: %s", row.Outcome, c.Gate.Answer, c.Control.Rows[0].Taken, c.Text)
			}
			if tt.outcome == Undecided && row.Cause != Disturbed {
				t.Errorf("cause %s", row.Cause)
			}
		})
	}
}

// What is shown at one percentile withdraws what it can have made at another one, whose spread hides the same. Where more matters,
// a tenth still does.
func TestWhatIsTakenCountsForAllOfTheMetric(t *testing.T) {
	c := disturbed(t, 1.5, 0.8, map[result.Percentile]float64{"50": 0, "99": 2}, standard())
	taken, row := [2]float64{c.Control.Rows[0].Taken, c.Control.Rows[1].Taken}, c.row("99")
	if taken[0] == 0 || taken[1] != 0 || row.Outcome != Undecided || row.Cause != Disturbed || c.Gate.Answer != Open || !strings.Contains(row.judged.Text, "A beside A at p50") {
		t.Errorf("taken %v, %s: %s (%s)", taken, row.Outcome, row.Cause, c.Text)
	}
	c = disturbed(t, 1.15, 1, map[result.Percentile]float64{"50": 0}, Options{MinEffect: 0.2})
	if row := c.row("50"); row.Outcome != Undecided || row.Cause != Disturbed {
		t.Errorf("15 %% are taken where 20 %% matter: %s", row.Outcome)
	}
}
