package compare

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// sliced gives a run of an ab whose runs were made at the same time a window of 2.3 s in intervals of 100 ms, with this many
// messages in each. Messages of the second half-second take a tenth longer, whatever the side.
func sliced(t *testing.T, r *result.Run, arm string, pair int, control bool, messages int64, factor float64) {
	t.Helper()
	r.Header.Trial = &result.Trial{Set: "x", Kind: result.TrialAB, Arm: arm, Pair: pair, Beside: true, Control: control}
	r.Header.Interval, r.Header.Slot, r.Header.Window = 100*time.Millisecond, result.SlotLength, 2300*time.Millisecond
	r.Metrics = map[result.Metric]*result.Merged{}
	sum := r.Summary
	r.Summary = nil // which is the last record
	defer func() { r.Summary = sum }()
	for i := range int64(23) {
		v := 1e6 * factor * (1 + 0.001*float64(pair%3))
		if i/5 == 1 {
			v *= 1.1
		}
		h := hdrhistogram.New(1000, 1e7, 3)
		if err := h.RecordValues(int64(v), messages); err != nil {
			t.Fatal(err)
		}
		text, err := histograms.Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		m := &result.MetricInterval{Hist: text, Min: int64(v), Max: int64(v)}
		if i == 22 && messages > 1 { // the closing record says when messages were refused: half of those of the third slice
			m.Refused = [][2]int64{{12, 5 * messages}}
		}
		iv := &result.Interval{Phase: result.PhaseMeasure, Start: i * 1e8, End: (i + 1) * 1e8, Metrics: map[result.Metric]*result.MetricInterval{result.DeliveryResponse: m}}
		if err := r.Add(result.Record{Interval: iv}); err != nil {
			t.Fatal(err)
		}
	}
}

// Slices have each side's figure at its time, with refused messages as slower than all others, and none where messages are too
// few; what moves both sides is not in their ratio. Pairs with A on both sides are marked, and are in no spread.
func TestSlices(t *testing.T) {
	for _, tt := range []struct {
		name        string
		messages    int64 // in an interval, of which a slice has five
		percentiles []result.Percentile
	}{
		{"p50 and p90", 20, []result.Percentile{"50", "90"}}, // p99 needs 299
		{"p50", 4, []result.Percentile{"50"}},
		{"none", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := steady(10, 1, func(side, n int, r *result.Run) {
				control := n%3 == 2
				arm, factor := string(rune('A'+side)), 1.0
				if side == 1 && control {
					arm = "A2"
				} else if side == 1 {
					factor = 1.05
				}
				d := r.Summary.Histograms[result.DeliveryResponse]
				d.Figures["90"] = d.Figures["99"]
				sliced(t, r, arm, n+1, control, tt.messages, factor)
			})
			c := compared(t, a, b, standard())
			var found []result.Percentile
			for _, s := range c.Slices {
				found = append(found, s.Percentile)
				if s.Length != 500*time.Millisecond || len(s.Pairs) != 10 || s.Metric != result.DeliveryResponse {
					t.Fatalf("%s of %s: %d pairs in slices of %s", s.Percentile, s.Metric, len(s.Pairs), s.Length)
				}
				for i, p := range s.Pairs {
					if p.Pair != i+1 || p.Control != (i%3 == 2) || len(p.A) != 5 || len(p.B) != 5 {
						t.Fatalf("pair %d: %+v", i+1, p)
					}
					for k := range p.A {
						want, ratio := 1e6*(1+0.001*float64(p.Pair%3)), 1.05
						switch {
						case k == 1:
							want *= 1.1
						case k == 2 && s.Percentile == "90":
							want, ratio = 0, 0 // refused
						}
						if p.Control && want > 0 {
							ratio = 1
						}
						if got := float64(p.A[k]); math.Abs(got-want) > 0.004*want {
							t.Errorf("p%s, pair %d, slice %d: A %v, want %v", s.Percentile, p.Pair, k, got, want)
						}
						if got := float64(p.B[k]) / max(1, float64(p.A[k])); math.Abs(got-ratio) > 0.008*ratio {
							t.Errorf("p%s, pair %d, slice %d: B ÷ A %v, want %v", s.Percentile, p.Pair, k, got, ratio)
						}
					}
				}
				if spread := s.spread(); spread > 0.008 {
					t.Errorf("p%s: spread %v of slices that differ by nothing but the machine", s.Percentile, spread)
				}
			}
			if len(found) != len(tt.percentiles) || len(found) > 0 && found[len(found)-1] != tt.percentiles[len(found)-1] {
				t.Errorf("slices of %v, want %v", found, tt.percentiles)
			}
		})
	}
}

// So many pairs that the slices would be more than are kept have longer ones.
func TestSlicesOfManyPairs(t *testing.T) {
	a, b := steady(1, 1, func(side, n int, r *result.Run) { sliced(t, r, string(rune('A'+side)), n+1, false, 20, 1) })
	one := couple{1, [2]run{{Run: a[0]}, {Run: b[0]}}}
	for _, tt := range []struct {
		pairs  int
		length time.Duration
		n      int
	}{{1, 500 * time.Millisecond, 5}, {120, 500 * time.Millisecond, 5}, {121, time.Second, 3}, {1000, 2500 * time.Millisecond, 1}} {
		if length, n := sliceOf(slices.Repeat([]couple{one}, tt.pairs), result.DeliveryResponse, sliceLength); length != tt.length || n != tt.n {
			t.Errorf("%d pairs: %d slices of %s, want %d of %s", tt.pairs, n, length, tt.n, tt.length)
		}
	}
}

// A figure that is not decided says about how many pairs would decide it, and that many do; one that is decided, or lies at
// the least change that matters, says nothing.
func TestPairsThatWouldDecide(t *testing.T) {
	made := func(pairs int, factor float64) *Comparison {
		a, b := steady(pairs, factor, func(side, n int, r *result.Run) {
			if side == 0 {
				return
			}
			d := r.Summary.Histograms[result.DeliveryResponse]
			f := d.Figures["50"]
			f.Value = int64(float64(f.Value) * math.Exp(0.1*float64(n%5-2)))
			d.Figures = map[result.Percentile]result.Figure{"50": f}
		})
		return compared(t, a, b, standard())
	}
	if c := made(10, 1.15); c.row("50").Outcome != Undecided || c.row("50").Spread.Pairs < 0.1 || c.row("50").Spread.Pairs > 0.2 {
		t.Errorf("%+v %+v", c.row("50"), c.row("50").Spread)
	} else if n := c.row("50").Spread.Decides; n <= 10 {
		t.Errorf("%d pairs would decide, of 10", n)
	} else if more := made((n/5+1)*5, 1.15); more.row("50").Outcome != Slower {
		t.Errorf("%d pairs: %s, p50 %+v", n, more.Text, more.row("50").Shift)
	}
	if c := made(10, 2); c.row("50").Outcome != Slower || c.row("50").Spread.Decides != 0 {
		t.Errorf("%+v %+v", c.row("50"), c.row("50").Spread)
	}
	if c := made(10, 1.0505); c.row("50").Outcome != Undecided || c.row("50").Spread.Decides != 0 {
		t.Errorf("%+v %+v", c.row("50"), c.row("50").Spread)
	}
}
