package compare

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// Runs that were made at the same time decide nothing if they used more than half of the processors together, or if that
// is not known: each may have slowed the other, and a slow side may look like a fast one. No gate passes.
func TestRunsAtOnceThatDisturbEachOther(t *testing.T) {
	for _, tt := range []struct {
		name              string
		generator, broker float64 // processors used by the process, and by each side's broker
		cores             string
		known             bool
		factor            float64
		outcome           Outcome
		answer            Answer
		used              float64
		says              string
	}{
		{"little", 0.3, 0.2, "2", true, 1, Same, NotWorse, 0.35, ""},
		{"little, and slower", 0.3, 0.2, "2", true, 1.3, Slower, Worse, 0.35, ""},
		{"just half", 0.4, 0.3, "2", true, 1, Same, NotWorse, 0.5, ""},
		{"more than half", 0.5, 0.3, "2", true, 1, Undecided, Open, 0.55, "used 55 % of the processors"},
		{"more than half, and slower", 1, 0.5, "2", true, 1.3, Undecided, Open, 1, "used 100 % of the processors"},
		{"not measured", -1, 0.3, "2", false, 1, Undecided, Open, 0.3, "it is not known"},
		{"of an unknown machine", 0.1, 0, "", false, 1, Undecided, Open, 0, "it is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := steady(10, tt.factor, func(side, n int, r *result.Run) {
				r.Header.Trial = &result.Trial{Set: "x", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Beside: true}
				if tt.cores != "" {
					r.Header.Machine = append(r.Header.Machine, result.Fact{Section: "go", Name: result.FactProcessors, Value: tt.cores})
				}
				for k := range 4 { // intervals of different lengths
					length := int64(k+1) * 1e8
					v := map[result.Vital]float64{result.VitalBrokerCPU: tt.broker * float64(length) / 1e9}
					if tt.generator >= 0 {
						v[result.VitalProcessCPU] = tt.generator
					}
					r.Series = append(r.Series, result.Point{Phase: result.PhaseMeasure, Start: int64(k) * 1e9, End: int64(k)*1e9 + length, Vitals: v})
				}
			})
			c := compared(t, a, b, standard())
			if c.Beside == nil || c.Beside.Known != tt.known || c.Beside.Used < tt.used-1e-9 || c.Beside.Used > tt.used+1e-9 {
				t.Fatalf("%+v", c.Beside)
			}
			if c.Gate.Answer != tt.answer || c.row("50").Outcome != tt.outcome || !strings.Contains(c.Text, tt.says) {
				t.Errorf("%s, p50 %s: %s", c.Gate.Answer, c.row("50").Outcome, c.Text)
			}
		})
	}
}

// Sides in turn may use all processors, since one is loaded at a time; but nothing is decided where messages of one side's
// turn may still be in flight in the other's.
func TestRunsInTurnThatRunIntoEachOther(t *testing.T) {
	for _, tt := range []struct {
		name    string
		edge    time.Duration // steady runs have a p99 of less than 1 s
		bound   bool          // most runs have a lower bound of p99 only
		outcome Outcome
		says    string
	}{
		{"messages end in their turn", time.Second, false, Same, ""},
		{"some do not", time.Nanosecond, false, Undecided, "the other side's turn begins after 1 ns"},
		{"most are not resolved", time.Second, true, Undecided, "not known whether messages of one side's turn end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := steady(10, 1, func(side, n int, r *result.Run) {
				r.Header.Trial = &result.Trial{Set: "x", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Beside: true,
					Slices: &result.Slices{On: 10*time.Second - tt.edge, Every: 20 * time.Second}}
				if d := r.Summary.Histograms[result.DeliveryResponse]; tt.bound && n < 6 {
					f := d.Figures["99"]
					f.AtLeast = true
					d.Figures["99"] = f
				}
			})
			c := compared(t, a, b, standard())
			if c.Beside == nil || c.Beside.Slice != 10*time.Second || c.Beside.Edge != tt.edge {
				t.Fatalf("%+v", c.Beside)
			}
			if c.row("50").Outcome != tt.outcome || !strings.Contains(c.Text, tt.says) {
				t.Errorf("p50 %s: %s", c.row("50").Outcome, c.Text)
			}
		})
	}
}
