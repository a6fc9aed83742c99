package compare

import (
	"math"
	"strings"
	"testing"

	"sixnines/result"
)

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
		{"little", 1.08, 1, 0, Same, NotWorse, ""},
		{"by chance", 1.2, 1, 0.5, Same, NotWorse, ""},
		{"B slows A, and looks alike", 1.5, 1, 0, Undecided, Open, "A beside B differs by +50 % from A beside A, so what B takes from it hides how slow B is"},
		{"B slows A, and looks faster", 1.5, 0.8, 0, Undecided, Open, "hides how slow B is"},
		{"B slows A, and is slower still", 1.5, 1.2, 0, Slower, Worse, ""},
		{"A slows B, which looks slower", 0.7, 1.3, 0, Undecided, Open, "what A takes from B may be what slows B"},
		{"A slows B, which is faster still", 0.7, 0.8, 0, Faster, NotWorse, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := steady(16, 1, func(side, n int, r *result.Run) {
				control := n%8 >= 5
				arm, factor := string(rune('A'+side)), math.Exp(tt.noise*float64(n*5%7-3)/3)
				if side == 1 && control {
					arm = "A2"
				}
				if !control {
					factor *= tt.slowed
					if side == 1 {
						factor *= tt.factor
					}
				}
				d := r.Summary.Histograms[result.DeliveryResponse]
				f := d.Figures["50"]
				f.Value = int64(float64(f.Value) * factor)
				d.Figures = map[result.Percentile]result.Figure{"50": f}
				r.Header.Trial = &result.Trial{Set: "x", Kind: result.TrialAB, Arm: arm, Pair: n + 1, Control: control}
			})
			c := compared(t, a, b, standard())
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
