package judge

import (
	"math"
	"strings"
	"testing"

	"sixnines/result"
)

// sampled adds what the sampler counted to a run of healthy messages: what was
// in flight, times a factor.
func sampled(factor, tolerance float64) *testbed {
	ms := healthyMessages()
	b := newTestbed(ms)
	var sum float64
	for _, m := range ms {
		sum += float64(m.service)
	}
	const span = (seconds + 1) * 1e9
	v := b.intervals[len(b.intervals)-1].v.Vitals
	v[result.VitalLittleSampled], v[result.VitalLittleSamples] = factor*sum/span, 5000
	v[result.VitalLittleSpan], v[result.VitalLittleTolerance] = span, tolerance
	return b
}

func TestLittle(t *testing.T) {
	for _, tt := range []struct {
		name              string
		factor, tolerance float64
		want              result.Status
	}{
		{"holds", 1, 0.02, result.Valid},
		{"holds within chance", 1.04, 0.05, result.Valid},
		{"a leaked counter", 1.05, 0.02, result.Suspect},
		{"a clock that is stamped late", 0.95, 0.02, result.Suspect},
		{"a counter that leaks a lot", 1.5, 0.05, result.Invalid},
		{"nothing in flight by the counters", 0, 0.2, result.Invalid},
		{"no power", 3, 0.3, result.Valid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := sampled(tt.factor, tt.tolerance).run(t)
			c, ok := Little(run)
			if !ok || c.Samples != 5000 || c.Span.Seconds() != seconds+1 {
				t.Fatalf("%+v %v", c, ok)
			}
			// Half a bucket is the most that a histogram of three digits is off.
			if ratio := c.Sampled / c.Expected / tt.factor; tt.factor > 0 && math.Abs(ratio-1) > 0.0005 {
				t.Errorf("expected %v, %v of what the values sum up to", c.Expected, ratio)
			}
			v := verdictOf(run, Inputs{})
			inPlainWords(t, v)
			r := find(v, "little")
			if tt.want == result.Valid {
				if r != nil || v.Status != result.Valid {
					t.Errorf("%s: %+v", v.Status, r)
				}
				return
			}
			if r == nil || r.Status != tt.want || !strings.Contains(r.Text, "5,000 samples") {
				t.Errorf("%+v, want %s", r, tt.want)
			}
		})
	}
}

// Acknowledgements that a driver reads late on purpose have the stamp of their arrival and are
// counted when they are read.
func TestLittleCountsWhatIsReadLateAsInFlight(t *testing.T) {
	b := sampled(1.5, 0.05)
	v := b.intervals[len(b.intervals)-1].v.Vitals
	v[result.VitalLittleReadLate] = v[result.VitalLittleSampled] / 3 * v[result.VitalLittleSpan]
	run := b.run(t)
	if c, ok := Little(run); !ok || math.Abs(c.Off()) > 0.0005 {
		t.Errorf("%+v %v", c, ok)
	}
	if v := verdictOf(run, Inputs{}); v.Status != result.Valid {
		t.Errorf("%+v", v)
	}
}

// The metric is the one that ends the time in flight; without values of it the check says
// nothing.
func TestLittleTakesTheMetricThatEndsTheFlight(t *testing.T) {
	b := sampled(1, 0.02)
	b.header.Ack = "broker" // then acknowledgements end the time in flight, and the run has none
	if c, ok := Little(b.run(t)); ok {
		t.Errorf("%+v", c)
	}
	if _, ok := Little(newTestbed(healthyMessages()).run(t)); ok {
		t.Error("without samples")
	}
}
