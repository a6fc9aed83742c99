package study

import (
	"slices"
	"testing"

	"sixnines/result"
)

// What a page left undecided for one suspect round of many is decided by the same rounds: that NATS and
// Redis stay below 1 ms at 100 µs, with a lag in one round of each cell and a changed level in another, and
// that most cells are ten times worse beyond p99. What lag may have made is still not decided.
func TestPublishedVerdicts(t *testing.T) {
	s, err := Find("message-queue-latency")
	if err != nil {
		t.Fatal(err)
	}
	run := func(p50, p9999, lag float64) *result.Run {
		r := withLag(p50, lag)
		d := r.Summary.Histograms[result.DeliveryResponse]
		for name, v := range map[result.Percentile]float64{"99": 2 * p50, "99.9": 3 * p50, "99.99": p9999} {
			at := int64((v + lag) * 1e6)
			d.Figures[name] = result.Figure{Value: at, Interval: &result.Bounds{Low: at, High: at}}
		}
		at := func(v float64, n int) []int64 { return slices.Repeat([]int64{int64(v * 1e6)}, n) }
		timed(r, result.DeliveryService, slices.Concat(at(p50, 38_000), at(2*p50, 1900), at(3*p50, 60), at(p9999, 40)))
		return r
	}
	shift := run(0.1, 0.9, 0)
	suspectFor(result.ReasonSteady)(shift.Summary, nil)
	shift.Series = shifting(0.1, 0.1, 0.15).Series
	for i := range shift.Series {
		x := shift.Series[i].Metrics[result.DeliveryResponse]
		x.P90, x.P99, x.P999 = 2*x.P50, 2*x.P50, 4*x.P50
		shift.Series[i].Metrics[result.DeliveryResponse] = x
	}
	shift.Summary.Histograms[result.DeliveryResponse].Max = 0.95e6
	for _, tt := range []struct {
		conclusion string
		rounds     []*result.Run
		want       Verdict
	}{
		{"sub-millisecond", append(slices.Repeat([]*result.Run{run(0.1, 0.8, 0)}, 6), run(0.1, 0.8, 0.1), shift), Agrees},
		{"sub-millisecond", append(slices.Repeat([]*result.Run{run(0.1, 0.8, 0)}, 7), run(0.1, 0.8, 0.3)), Undecidable},
		{"fine-to-p99", append(slices.Repeat([]*result.Run{run(0.1, 4, 0)}, 7), run(0.1, 4, 0.1)), Agrees},
		{"fine-to-p99", append(slices.Repeat([]*result.Run{run(0.1, 4, 0)}, 7), run(0.1, 4, 0.4)), Undecidable},
		{"fine-to-p99", slices.Repeat([]*result.Run{run(0.1, 0.8, 0.1)}, 8), Disagrees},
	} {
		runs := map[string][]*result.Run{}
		cells, err := s.Cells(Default)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			runs[c.Name] = tt.rounds
		}
		o := outcome(t, s, Default, runs)
		i := slices.IndexFunc(s.Conclusions, func(c Conclusion) bool { return c.Name == tt.conclusion })
		if i < 0 {
			t.Fatalf("there is no conclusion %s", tt.conclusion)
		}
		if d := Decide(o)[i]; d.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.conclusion, d.Verdict, tt.want, d.Tests)
		}
	}
}

// The article says that acks all is slower. Where it is shown to be so by less than there, the conclusion does not deny it; where
// both are shown to be the same, it does.
func TestTheAuthorsDirectionIsNotDenied(t *testing.T) {
	s, err := Find("kafka-events")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		by   float64 // acks all by acks 1
		want Verdict
	}{{1.27, Agrees}, {1.03, Agrees}, {1, Disagrees}, {0.97, Disagrees}} {
		runs := map[string][]*result.Run{}
		for i := range 24 {
			p90 := 1 + 0.001*float64(i*7%24)
			for name, factor := range map[string]float64{"acks-all/alone": tt.by, "acks-1/alone": 1, "acks-0/alone": 1} {
				if name == "acks-all/alone" {
					factor *= 1 + 0.001*float64(i%2*2-1)
				}
				r := ms(p90 * factor)
				d := r.Summary.Histograms[result.DeliveryResponse]
				d.Figures["90"], r.Header.Workload = d.Figures["50"], "event"
				runs[name] = append(runs[name], r)
			}
		}
		c := outcome(t, s, Default, runs)
		i := slices.IndexFunc(s.Conclusions, func(c Conclusion) bool { return c.Name == "acks-cost" })
		if got := Decide(c)[i]; got.Verdict != tt.want {
			t.Errorf("acks all takes %v times as long: %s, want %s: %+v", tt.by, got.Verdict, tt.want, got.Tests)
		}
	}
}
