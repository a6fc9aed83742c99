package selftest

import (
	"math"
	"strings"
	"testing"
)

// The reference quantiles are those of the law.
func TestVirtualLawQuantiles(t *testing.T) {
	one := virtualLaw{modes: []mode{{1, 1000, 1}}}
	for p, z := range map[float64]float64{0.5: 0, 0.9: 1.2815515655446004, 0.99: 2.3263478740408408, 0.9999: 3.719016485455709} {
		if got, want := one.quantile(p), 1000*math.Exp(z); math.Abs(got-want) > 1e-9*want {
			t.Errorf("p%g: %g, want %g", 100*p, got, want)
		}
	}
	for _, l := range virtualLaws() {
		for _, p := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999} {
			if got := l.above(l.quantile(p)); math.Abs(got-(1-p)) > 1e-6*(1-p) {
				t.Errorf("%s: %g lie above the quantile %g", l.name, got, p)
			}
		}
	}
}

// The trial fails if delays come from another law than the claimed one, even if the
// medians differ by only 2 %, and if there are too few hits.
func TestIntervalsNotice(t *testing.T) {
	if n := leastHits(500); n != 465 {
		t.Errorf("%d of 500, want 93 %%", n)
	}
	for _, tt := range []struct {
		held, printed int64
		want          Verdict
	}{{465, 500, Passed}, {464, 500, Failed}, {499, 499, Failed}} {
		if f := covered("", tt.held, tt.printed, 500); f.Verdict != tt.want || !strings.Contains(f.Expected, "465") {
			t.Errorf("%+v", f)
		}
	}
	if testing.Short() {
		return // the rest are sums, which the race detector does not concern
	}
	claimed := virtualLaws()[0]
	drawn := claimed
	drawn.modes = []mode{{1, claimed.modes[0].median * 102 / 100, claimed.modes[0].sigma}}
	h, err := cover(t.Context(), &drawn, &claimed, 100, 8000)
	if err != nil {
		t.Fatal(err)
	}
	if f := covered("p50", h["50"][1].Load(), h["50"][0].Load(), 100); f.Verdict != Failed {
		t.Errorf("a median that is 2 %% off: %+v", f)
	}
}
