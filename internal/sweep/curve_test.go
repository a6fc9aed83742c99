package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sixnines/result"
)

// The knee of an M/M/1 curve is half of the server's rate; INVALID trials have no
// part in it, and UNSTABLE ones are its end.
func TestCurveKnee(t *testing.T) {
	const server = 10_000.0
	g := gridOf(t, "rate=1000/s..9000/s:lin:9")
	outcomes := map[int][]Outcome{}
	for i := range g.Len() {
		for round := 1; round <= 4; round++ {
			rate := 1000 * float64(i+1)
			// A per cent of noise, another in each round.
			v := int64(1e9 / (server - rate) * (1 + 0.01*math.Sin(float64(7*round+i))))
			status := result.Valid
			switch {
			case i == 8:
				status = result.Unstable
			case round == 4:
				status, v = result.Invalid, 1
			}
			outcomes[i] = append(outcomes[i], outcomeAt(round, v, status))
		}
	}
	curves := NewTable(g, 4, outcomes).Along("workload.rate")
	if len(curves) != 1 {
		t.Fatalf("%+v", curves)
	}
	k := curves[0].Knee("99", 0.95)
	if !k.Told || math.Abs(k.Rate.Value/(server/2)-1) > 0.05 || !k.Rate.Bounded || k.Rate.Low > server/2*1.05 || k.Rate.High < server/2*0.95 {
		t.Errorf("%+v", k)
	}
}

// Rates at which the percentile is refused are beyond the knee of that percentile,
// and what is left out is counted.
func TestRefusedIsBeyondTheKnee(t *testing.T) {
	const server = 10_000.0
	outcomes := map[int][]Outcome{}
	g := gridOf(t, "rate=1000/s..9000/s:lin:9")
	for i := range g.Len() {
		for round := 1; round <= 3; round++ {
			o := outcomeAt(round, int64(1e9/(server-1000*float64(i+1))), result.Valid)
			switch {
			case i >= 5:
				o.Figures["99"] = Figure{Missing: "refused"}
			case i == 0 && round == 1:
				o.Status = result.Invalid
			case i == 0 && round == 2:
				o.Figures["99"] = Figure{Missing: "unsupported"}
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	c := NewTable(g, 3, outcomes).Along("workload.rate")[0]
	if k := c.Knee("99", 0.95); !k.Told || math.Abs(k.Rate.Value/(server/2)-1) > 0.05 || !strings.Contains(k.Text, "without 2 of 27 trials") {
		t.Errorf("%+v", k)
	}
	if k := c.Knee("50", 0.95); !k.Told || !strings.HasSuffix(k.Text, "; without 1 of 27 trials, which are INVALID, suspect or not made, or have no such figure") {
		t.Errorf("%+v", k)
	}
}

// A lower bound is no latency: where messages are lost, the rate is beyond the knee, and where
// they are lost at every rate nothing is told of it.
func TestLostIsBeyondTheKnee(t *testing.T) {
	const server = 10_000.0
	g := gridOf(t, "rate=1000/s..9000/s:lin:9")
	knee := func(lossy func(rate float64) bool, drain int64) Knee {
		outcomes := map[int][]Outcome{}
		for i := range g.Len() {
			rate := 1000 * float64(i+1)
			for round := 1; round <= 3; round++ {
				o := outcomeAt(round, int64(1e9/(server-rate)), result.Valid)
				if lossy(rate) {
					o.Figures["99"] = Figure{Value: drain, AtLeast: true}
				}
				outcomes[i] = append(outcomes[i], o)
			}
		}
		return NewTable(g, 3, outcomes).Along("workload.rate")[0].Knee("99", 0.95)
	}
	fast := func(rate float64) bool { return rate >= 7000 }
	short, long := knee(fast, 1e6), knee(fast, 15e9)
	if !short.Told || math.Abs(short.Rate.Value/(server/2)-1) > 0.05 || short.Rate != long.Rate {
		t.Errorf("losses from 7,000/s on:\n%+v, and with a longer drain\n%+v", short, long)
	}
	if k := knee(func(float64) bool { return true }, 15e9); k.Told || strings.Contains(k.Text, "still grows") || !strings.Contains(k.Text, "lost or refused") {
		t.Errorf("losses at every rate: %+v", k)
	}
}

// Runs whose guarantees differ from the others of their cell are not in the curve, which says so.
func TestUnlikeTrialsAreCounted(t *testing.T) {
	const server = 10_000.0
	g := gridOf(t, "rate=1000/s..9000/s:lin:9")
	outcomes := map[int][]Outcome{}
	for i := range g.Len() {
		for round := 1; round <= 4; round++ {
			o := outcomeAt(round, int64(1e9/(server-1000*float64(i+1))), result.Valid)
			if round%2 == 0 {
				o.Semantics = "fsync never"
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	c := NewTable(g, 4, outcomes).Along("workload.rate")[0]
	if k := c.Knee("99", 0.95); c.Unlike != 18 || !k.Told || !strings.Contains(k.Text, "without 18 trials whose guarantees differ") {
		t.Errorf("%d are not in the curve: %+v", c.Unlike, k)
	}
}

// Unknown trials do not place a knee: if they are the majority at a rate that decides it, no
// knee is given.
func TestNoKneeOfTrialsThatShowNothing(t *testing.T) {
	const server = 10_000.0
	g := gridOf(t, "rate=1000/s..9000/s:lin:9")
	suspect := func(o *Outcome) {
		f := o.Figures["99"]
		f.Suspect = true
		o.Figures["99"] = f
	}
	suspectRun := func(o *Outcome) {
		v := result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonSteal}}}
		o.Status = v.Status
		for p, f := range o.Figures {
			d := &result.Distribution{Count: 1, Figures: map[result.Percentile]result.Figure{p: {Value: f.Value}}}
			o.Figures[p] = figureOf(&result.Run{Summary: &result.Summary{Verdict: v, Histograms: map[result.Metric]*result.Distribution{o.Metric: d}}}, o.Metric, p)
		}
	}
	for _, tt := range []struct {
		name string
		at   func(rate float64) bool // where two of three trials are
		all  bool                    // and the third
		how  func(*Outcome)
		told bool
	}{
		{"suspect everywhere", func(float64) bool { return true }, true, suspect, false},
		{"suspect mostly", func(float64) bool { return true }, false, suspect, false},
		{"suspect at the knee", func(rate float64) bool { return rate == 5000 }, true, suspect, false},
		{"suspect beside what places it", func(rate float64) bool { return rate == 8000 }, true, suspect, false},
		{"suspect far below", func(rate float64) bool { return rate == 1000 }, true, suspect, true},
		{"suspect as a whole everywhere", func(float64) bool { return true }, true, suspectRun, false},
		{"INVALID everywhere", func(float64) bool { return true }, true, func(o *Outcome) { o.Status = result.Invalid }, false},
		{"not made at the knee", func(rate float64) bool { return rate == 5000 }, false, nil, false},
	} {
		outcomes := map[int][]Outcome{}
		for i := range g.Len() {
			rate := 1000 * float64(i+1)
			for round := 1; round <= 3; round++ {
				o := outcomeAt(round, int64(1e9/(server-rate)), result.Valid)
				if tt.at(rate) && (round < 3 || tt.all) {
					if tt.how == nil {
						continue
					}
					tt.how(&o)
				}
				outcomes[i] = append(outcomes[i], o)
			}
		}
		k := NewTable(g, 3, outcomes).Along("workload.rate")[0].Knee("99", 0.95)
		if k.Told != tt.told || !strings.Contains(k.Text, "; without ") {
			t.Errorf("%s: %+v", tt.name, k)
		}
	}
}

// Nor do they fit a law.
func TestNoScalabilityOfTrialsThatShowNothing(t *testing.T) {
	g := gridOf(t, "producers=1,2,4,8,16,32,64")
	for name, status := range map[string]result.Status{"suspect": result.Suspect, "INVALID": result.Invalid} {
		for _, share := range []int{2, 3} {
			outcomes := map[int][]Outcome{}
			for i := range g.Len() {
				for round := 1; round <= 3; round++ {
					o := outcomeAt(round, 1, result.Valid)
					n := math.Pow(2, float64(i))
					if o.Achieved = 1000 * n / (1 + 0.05*(n-1) + 0.002*n*(n-1)); round <= share {
						o.Status = status
					}
					outcomes[i] = append(outcomes[i], o)
				}
			}
			u := NewTable(g, 3, outcomes).Along("workload.producers")[0].Scalability(0.95)
			if u.Refused == "" || !strings.Contains(u.Text, "; without ") {
				t.Errorf("%s, %d of 3: %+v", name, share, u)
			}
		}
	}
}

// The scalability of a curve is fitted to what its trials achieved.
func TestCurveScalability(t *testing.T) {
	const sigma, kappa = 0.05, 0.002
	g := gridOf(t, "producers=1,2,4,8,16,32,64")
	outcomes := map[int][]Outcome{}
	for i := range g.Len() {
		n := math.Pow(2, float64(i))
		for round := 1; round <= 5; round++ {
			o := outcomeAt(round, 1, result.Valid)
			o.Achieved = 1000 * n / (1 + sigma*(n-1) + kappa*n*(n-1)) * (1 + 0.005*math.Sin(float64(5*round+3*i)))
			outcomes[i] = append(outcomes[i], o)
		}
	}
	u := NewTable(g, 5, outcomes).Along("workload.producers")[0].Scalability(0.95)
	peak := math.Sqrt((1 - sigma) / kappa)
	if u.Refused != "" || !u.PeakTold || math.Abs(u.Peak.Value/peak-1) > 0.05 || len(u.Residuals) != 35 {
		t.Errorf("peak %v: %s", peak, fmt.Sprintf("%+v", u))
	}
}
