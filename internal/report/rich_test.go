package report

import (
	"fmt"
	"math"
	"time"

	"sixnines/result"
)

// enrich adds to a made-up run what a judge, a floor and a watched host say of
// a real one.
func enrich(r *result.Run) *result.Run {
	h := &r.Header
	h.Floor = &result.Floor{ID: "aa55aa55aa55aa55", At: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Tool: h.Tool, Pattern: "deliver", Rate: 20_000, Size: 1024,
		Percentiles: map[result.Metric]map[result.Percentile]int64{result.DeliveryResponse: {"50": 41_000, "90": 66_000, "99": 140_000, "99.9": 2_100_000, "99.99": 3_400_000, "max": 3_900_000}}}
	d := r.Summary.Histograms[result.DeliveryResponse]
	for p, f := range d.All() {
		if v := h.Floor.Percentiles[result.DeliveryResponse][p]; v > 0 {
			f.FloorRatio = new(float64(f.Value) / float64(v))
		}
		switch i := f.Interval; p {
		case "99", "99.9":
			f.Blocks = &result.Bounds{Low: i.Low * 8 / 10, High: i.High * 13 / 10}
		case "99.99":
			f.BlocksNA = "the longest episode is 12 % of the window, more than a tenth"
		}
		d.Figures[p] = f
	}
	h.Objectives = []string{"delivery.response p99.9 < 5ms", "lost == 0", "rate >= 99.9%", "delivery.response p99.999 < 1s"}
	r.Summary.Objectives = []result.Objective{
		{Text: h.Objectives[0], Outcome: "met", Found: "1.70 ms, at most 1.79 ms with 97.5 % confidence"},
		{Text: h.Objectives[1], Outcome: "missed", Found: "17 acknowledged messages never arrived"},
		{Text: h.Objectives[2], Outcome: "undecided", Found: "99.87 % in the worst second"},
		{Text: h.Objectives[3], Outcome: "meaningless", Found: "the run has too few messages for this percentile: it needs 368,887"}}
	r.Summary.Steady = &result.Steady{Metric: result.DeliveryResponse, Intervals: 60,
		P50:  result.Trend{Class: "flat", From: 0, Change: 1.01},
		P99:  result.Trend{Class: "warm-up", From: 3e9, Change: 0.42},
		Text: "p99 warms up for 3 s: discard them with --warmup 3s; p50 is flat"}
	r.Summary.Attribution = []result.Attribution{{Metric: result.DeliveryResponse, Messages: 100, From: 4_100_000, Unexplained: 31, Causes: []result.Cause{
		{Source: string(result.PauseProcess), Messages: 62, Share: 0.62, Expected: 0.004, Named: true, Text: "the generator was paused while they waited: give it a processor of its own"},
		{Source: string(result.PauseGC), Messages: 9, Share: 0.09, Expected: 0.08, Text: "no more than chance explains"}}}}
	r.Pauses = append(r.Pauses,
		result.Pause{Start: 2_400e6, End: 2_460e6, Source: result.PauseProcess},
		result.Pause{Start: 2_400e6, End: 2_500e6, Source: result.PauseSteal},
		result.Pause{Start: 5_000e6, End: 5_100e6, Source: result.PauseThrottled},
		result.Pause{Start: 5_000e6, End: 5_010e6, Source: result.PauseIdle},
		result.Pause{Start: 8_000e6, End: 8_100e6, Source: result.PauseContention},
		result.Pause{Start: 8_100e6, End: 8_200e6, Source: result.PauseSwap},
		result.Pause{Start: 8_300e6, End: 8_400e6, Source: result.PauseRetransmit},
		result.Pause{Start: 9_000e6, End: 9_100e6, Source: result.PauseGC})
	for i := range 100 {
		due := int64(2_400e6) + int64(i)*400_000
		r.Tail = append(r.Tail, result.Exemplar{Metric: result.DeliveryResponse, Value: 60e6 - int64(i)*400_000, Producer: i % 3, Consumer: i % 2,
			Topic: "orders." + fmt.Sprint(i%4), Partition: int32(i%4) - 1, Sequence: uint64(48_000 + i), Intended: due, Sent: due + 59e6 - int64(i)*400_000, Done: 2_460e6, Own: 58e6 - int64(i)*400_000})
	}
	r.Tail = append(r.Tail, result.Exemplar{Metric: result.PublishResponse, Value: 7e6, Producer: 1, Consumer: -1, Topic: "orders.1", Partition: -1, Sequence: 7,
		Intended: 8_310e6, Sent: 8_310e6 + 12_000, Done: 8_317e6, Own: 12_000})
	for i, m := range []result.Metric{result.StageClient, result.StageBroker, result.StageCallback} {
		merged := &result.Merged{Hist: result.NewHistogram(1, int64(time.Minute), 3), Min: math.MaxInt64}
		for k := range int64(5000) {
			v := (k%97+5)*int64(100+400*(i%2)) + 1
			_ = merged.Hist.Record(v, 1)
			merged.Min, merged.Max = min(merged.Min, v), max(merged.Max, v)
		}
		r.Metrics[m] = merged
		r.Summary.Histograms[m] = distribution(m, merged, openRun())
	}
	for i := range r.Series {
		v := r.Series[i].Vitals
		v["hiccup.thread.max"], v["hiccup.goroutine.max"], v["hiccup.idle.max"] = 60e3+9e3*float64(i%4), 140e3+20e3*float64(i%3), 55e3
		v["go.sched.latency.p99"], v["go.gc.pause.max"], v["host.cpu.busy"], v["host.steal"] = 30e3, 0, 0.61, 0.002
	}
	return r
}

// richRun is a run of which everything is known.
func richRun() *result.Run {
	s := stalledRun()
	s.acked, s.lost = true, 17
	return enrich(s.make())
}

// repeatedRuns are runs of one set: the median differs from run to run by far
// more than within one.
func repeatedRuns(n int) []*result.Run {
	var out []*result.Run
	for i := range n {
		s := openRun()
		s.name, s.seed, s.rate, s.median = "nats-repeat", uint64(i+10), 2000, 60e3*(1+0.08*float64((i*5)%n))
		r := s.make()
		r.Header.ID = fmt.Sprintf("%016x", i+1)
		r.Header.Trial = &result.Trial{Set: "0011223344556677", Kind: result.TrialRepeat, Index: i + 1, Of: n}
		out = append(out, r)
	}
	return out
}
