package report

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"sixnines/internal/judge"
	"sixnines/result"
)

// TestAxesHoldTheirData checks, for all scales and many extents, that the
// rounded range holds the data and that ticks lie in it, ascending.
func TestAxesHoldTheirData(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range []scale{percentileScale, secondsScale, durationScale, countScale, logCountScale, rateScale} {
		for range 2000 {
			low := rng.Float64() * 9
			e := extent{low, low + rng.Float64()*rng.Float64()*9}
			if s == countScale || s == rateScale {
				e = extent{math.Pow(10, e.min) - 1, math.Pow(10, e.max)}
			}
			if s == percentileScale {
				e.max = min(e.max, 10) // 99.99999999 %: more messages than there will be
			}
			a := axis{Scale: s}
			a.round(e)
			if a.Min > e.min+1e-9 || a.Max < e.max-1e-9 || !(a.Max > a.Min) {
				t.Fatalf("%s: %v became %v to %v", s, e, a.Min, a.Max)
			}
			ticks := a.ticks(7)
			labels := 0
			for i, tk := range ticks {
				if tk.At < a.Min-1e-9 || tk.At > a.Max*(1+1e-9)+1e-9 || i > 0 && tk.At <= ticks[i-1].At {
					t.Fatalf("%s from %v to %v: ticks %v", s, a.Min, a.Max, ticks)
				}
				if tk.Label != "" {
					labels++
				}
			}
			if labels < 2 || labels > 16 {
				t.Fatalf("%s from %v to %v: %d labels, %v", s, a.Min, a.Max, labels, ticks)
			}
		}
	}
}

func TestPercentileTicks(t *testing.T) {
	var labels []string
	for _, tk := range percentileTicks(6) {
		if tk.Label != "" {
			labels = append(labels, tk.Label)
		}
	}
	want := []string{"0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"}
	if len(labels) != len(want) {
		t.Fatalf("labels %v, want %v", labels, want)
	}
	for i := range want {
		if labels[i] != want[i] {
			t.Errorf("label %d is %s, want %s", i, labels[i], want[i])
		}
	}
}

// lognormal is a metric of n made-up values, and so many censored at a second.
func lognormal(n, censored int) *result.Merged {
	rng := rand.New(rand.NewPCG(7, 7))
	m := &result.Merged{Hist: result.NewHistogram(1, 60e9, 3), Min: math.MaxInt64}
	for range n {
		v := int64(80e3 * math.Exp(0.5*rng.NormFloat64()))
		_ = m.Hist.Record(v, 1)
		m.Min, m.Max = min(m.Min, v), max(m.Max, v)
	}
	if censored > 0 {
		m.Censored = result.NewHistogram(1, 60e9, 3)
		_ = m.Censored.Record(1e9, int64(censored))
	}
	return m
}

// TestCurveAgreesWithTheTable compares the curve with the figures that the
// summary publishes, and checks its shape.
func TestCurveAgreesWithTheTable(t *testing.T) {
	for _, censored := range []int{0, 300} {
		m := lognormal(50_000, censored)
		d := judge.Distribution(result.DeliveryResponse, m, int64(50_000+censored))
		l := percentileCurve(m, d)
		if l.X[0] != 0 {
			t.Errorf("the curve begins at %v", l.X[0])
		}
		for i := range l.X {
			if i > 0 && (l.X[i] <= l.X[i-1] || l.Y[i] < l.Y[i-1]) {
				t.Fatalf("the curve falls at point %d: (%v, %v) after (%v, %v)", i, l.X[i], l.Y[i], l.X[i-1], l.Y[i-1])
			}
			if l.Lo[i] > l.Y[i] || l.Hi[i] < l.Y[i] {
				t.Fatalf("point %d, %v, lies outside its band %v to %v", i, l.Y[i], l.Lo[i], l.Hi[i])
			}
		}
		end := 1 - math.Pow(10, -l.X[len(l.X)-1])
		for p, f := range d.All() {
			v := f.Value
			percent, err := strconv.ParseFloat(string(p), 64)
			if err != nil {
				t.Fatal(err)
			}
			if percent/100 > end+1e-12 {
				t.Errorf("p%s is supported, and the curve ends at %v %%", p, end*100)
			}
			at := -math.Log10(1 - percent/100)
			for i := range l.X {
				if math.Abs(l.X[i]-at) < 1e-9 && math.Abs(l.Y[i]-logOf(v)) > 0.001 {
					t.Errorf("%d censored: the curve has p%s at %s, the table at %s", censored, p, durationFloat(math.Pow(10, l.Y[i])), duration(v))
				}
			}
		}
		for p, f := range d.Figures {
			if f.Needs == 0 {
				continue
			}
			if percent, _ := strconv.ParseFloat(string(p), 64); percent/100 < end-1e-12 {
				t.Errorf("p%s is not supported, and the curve goes on to %v %%", p, end*100)
			}
		}
	}
}

func TestDensityCountsEveryMessage(t *testing.T) {
	l := densityCurve(lognormal(50_000, 300))
	var sum float64
	for _, y := range l.Y {
		if y >= 0 {
			sum += math.Pow(10, y)
		}
	}
	if math.Abs(sum-50_300) > 0.5 {
		t.Errorf("the bins hold %v messages, want 50300", sum)
	}
}

func TestTimelineKeepsCountsAndTheWorst(t *testing.T) {
	run := &result.Run{}
	const n = 3607
	for i := range int64(n) {
		p := result.Point{Phase: result.PhaseMeasure, Start: i * 1e9, End: (i + 1) * 1e9, InFlight: i % 11,
			Metrics: map[result.Metric]result.PointMetric{result.DeliveryResponse: {Count: 500, P50: 100, P99: 100 + i%97, Max: 1000 + i}}}
		p.Counters.Sent = 10
		run.Series = append(run.Series, p)
	}
	run.Series = append(run.Series, result.Point{Phase: result.PhaseDrain, Start: n * 1e9, End: (n + 1) * 1e9, Counters: result.Counters{Received: 5}},
		result.Point{Phase: result.PhaseClosing, Start: (n + 1) * 1e9, End: (n + 1) * 1e9})
	spans := timeline(run)
	if len(spans) > timelinePoints+1 {
		t.Errorf("%d points, want at most %d", len(spans), timelinePoints+1)
	}
	var sent int64
	var seconds float64
	var worst result.PointMetric
	for _, s := range spans {
		sent += s.Counters.Sent
		seconds += s.Seconds
		worst = worse(worst, s.Metrics[result.DeliveryResponse])
	}
	if sent != 10*n || math.Abs(seconds-n-1) > 1e-6 || worst.Max != 1000+n-1 || worst.P99 != 196 {
		t.Errorf("sent %d in %v s, worst %+v", sent, seconds, worst)
	}
}

func TestManyPausesAreThinnedEventsAreNot(t *testing.T) {
	var all []moment
	for i := range 5000 {
		all = append(all, moment{From: float64(i), To: float64(i) + float64(i%100)*1e-4, Pause: i != 2500})
	}
	kept := longest(all)
	events := 0
	for _, m := range kept {
		if !m.Pause {
			events++
		}
	}
	if len(kept) > momentLimit || events != 1 {
		t.Errorf("%d moments kept, %d events among them", len(kept), events)
	}
}
