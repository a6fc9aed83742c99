package selftest

import (
	"strings"
	"testing"
	"time"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// timed returns a run whose metric has the values, in ns, with the percentiles
// that a summary would publish.
func timed(m result.Metric, values []int64) *result.Run {
	h := result.NewHistogram(1, int64(time.Minute), 3)
	var slowest int64
	for _, v := range values {
		if err := h.Record(max(1, v), 1); err != nil {
			panic(err)
		}
		slowest = max(slowest, v)
	}
	index := histograms.RanksOf(h)
	d := &result.Distribution{Count: index.Count(), Max: slowest, Figures: map[result.Percentile]result.Figure{}}
	for _, label := range result.Percentiles() {
		if p := share(label); float64(len(values))*(1-p) >= 3.7 {
			d.Figures[label] = result.Figure{Value: index.Percentile(100 * p)}
		}
	}
	n := int64(len(values))
	return &result.Run{
		Metrics:  map[result.Metric]*result.Merged{m: {Hist: h, Max: slowest}},
		Counters: result.Counters{Scheduled: n, Sent: n, Expected: n, Received: n},
		Summary:  &result.Summary{Histograms: map[result.Metric]*result.Distribution{m: d}},
	}
}

// stalled returns the latencies of n messages, spread evenly over a window with a stall:
// every message due in the stall waits for its end.
func stalled(n int, d, window time.Duration, factor float64) []int64 {
	var values []int64
	for i := range n {
		due := window * time.Duration(i) / time.Duration(n)
		v := int64(80_000)
		if due < d {
			v += int64(d - due)
		}
		values = append(values, int64(factor*float64(v)))
	}
	return values
}

const (
	trialWindow = 8 * time.Second
	trialStall  = 2 * time.Second
)

// The oracle accepts correct figures. It rejects figures that are 4 % too large or too
// small, and all other effects that a stall must not have.
func TestStallOracleNotices(t *testing.T) {
	good := func() *result.Run {
		return timed(result.DeliveryResponse, stalled(16000, trialStall, trialWindow, 1))
	}
	for name, tt := range map[string]struct {
		run  func() *result.Run
		want string // what fails, empty: nothing
	}{
		"right": {good, ""},
		"4 % too large": {func() *result.Run {
			return timed(result.DeliveryResponse, stalled(16000, trialStall, trialWindow, 1.04))
		}, "p99"},
		"4 % too small": {func() *result.Run {
			return timed(result.DeliveryResponse, stalled(16000, trialStall, trialWindow, 0.96))
		}, "p99"},
		"only the figures": {func() *result.Run {
			r := good()
			r.Summary.Histograms[result.DeliveryResponse].Figures["90"] = result.Figure{Value: int64(1.04 * 1.2e9)}
			return r
		}, "p90"},
		"half of the late messages forgotten": {func() *result.Run {
			all := stalled(16000, trialStall, trialWindow, 1)
			var kept []int64
			for i, v := range all {
				if v < 1e6 || i%2 == 0 {
					kept = append(kept, v)
				}
			}
			return timed(result.DeliveryResponse, kept)
		}, "1 − ρ"},
		"a closed loop": {func() *result.Run {
			all := make([]int64, 16000)
			for i := range all {
				all[i] = 80_000
			}
			all[0] = int64(trialStall)
			return timed(result.DeliveryResponse, all)
		}, "p90"},
		"a percentile withheld": {func() *result.Run {
			r := good()
			delete(r.Summary.Histograms[result.DeliveryResponse].Figures, "99.9")
			return r
		}, "p99.9"},
		"a lower bound": {func() *result.Run {
			r := good()
			r.Summary.Histograms[result.DeliveryResponse].Update("99", func(f *result.Figure) { f.AtLeast = true })
			return r
		}, "p99"},
		"not all sent": {func() *result.Run { r := good(); r.Counters.Sent--; return r }, "due that were sent"},
		"one lost":     {func() *result.Run { r := good(); r.Counters.Received--; return r }, "arrived"},
		"one twice":    {func() *result.Run { r := good(); r.Counters.Duplicated++; return r }, "arrived"},
		"nothing timed": {func() *result.Run {
			r := good()
			r.Summary.Histograms, r.Metrics = nil, nil
			return r
		}, "timed"},
	} {
		figures, _ := judgeStall(tt.run(), trialStall, trialWindow)
		fails(t, name, figures, tt.want)
	}
}

// fails requires that a figure failed whose name contains the word; if that is empty, that
// no figure failed.
func fails(t *testing.T, name string, figures []Figure, word string) {
	t.Helper()
	o := Conclude("", figures...)
	if word == "" {
		if o.Verdict != Passed {
			t.Errorf("%s: %s: %s", name, o.Verdict, failures(o))
		}
		return
	}
	for _, f := range figures {
		if f.Verdict == Failed && strings.Contains(f.What, word) {
			return
		}
	}
	t.Errorf("%s: %s, nothing with %q fails: %+v", name, o.Verdict, word, figures)
}

func TestClosedLoopIsJudged(t *testing.T) {
	closed := func(mode string, slowest time.Duration) *result.Run {
		all := make([]int64, 16000)
		for i := range all {
			all[i] = 80_000
		}
		all[0] = int64(slowest)
		r := timed(result.DeliveryResponse, all)
		r.Header.Mode = mode
		return r
	}
	figures := judgeClosed(closed(result.ModeClosed, trialStall), trialStall, trialWindow)
	fails(t, "as it should be", figures, "")
	told := figures[len(figures)-2] // p99 is 1.92 s in truth
	if told.Verdict != Information || !strings.Contains(told.Found, "80") || !strings.HasSuffix(told.Found, " times too small") {
		t.Errorf("it tells %+v", told)
	}
	fails(t, "not marked", judgeClosed(closed(result.ModeOpen, trialStall), trialStall, trialWindow), "marked")
	fails(t, "another stall", judgeClosed(closed(result.ModeClosed, trialStall/2), trialStall, trialWindow), "stall")
}
