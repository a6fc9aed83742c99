package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/nats"
	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/result"
)

// stallFor freezes the broker for about d, some time into the window, and
// returns how long it was frozen, as its process's state shows.
func stallFor(t *testing.T, b *brokers.Instance, at, d time.Duration) func() time.Duration {
	t.Helper()
	done := make(chan time.Duration, 1)
	go func() {
		clock.SleepUntilBlocking(clock.Now() + int64(at))
		if err := b.Freeze(); err != nil {
			t.Error(err)
		}
		from := clock.Now()
		clock.SleepUntilBlocking(from + int64(d))
		if err := b.Thaw(); err != nil {
			t.Error(err)
		}
		done <- time.Duration(clock.Now() - from)
	}()
	return func() time.Duration { return <-done }
}

// A broker that is paused for D in a window of T, at a rate of which it can
// do 1/ρ times as much, makes 1−p of the messages wait longer than
// x_p = D − (1−p)·T·(1−ρ), within 3 %. Where other programs take the processors
// the generator itself is delayed: a try that is off is repeated.
func TestStallOracle(t *testing.T) {
	judgesFigures(t)
	const T, D = 5 * time.Second, time.Second
	for _, tt := range []struct{ name, workload string }{
		{"few bytes in flight", "{rate: 1000/s, size: 256B}"},
		{"so many that sends block", "{rate: 1000/s, size: 20KiB}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := startNATS(t)
			var off string
			for range 4 {
				frozen := stallFor(t, b, 1500*time.Millisecond, D)
				r := measure(t, "phases: {warmup: 500ms, duration: 5s, drain: 10s}\nworkload: "+tt.workload, nats.Entry(), b.URL)
				d := frozen()
				if r.Counters.Missing+r.Counters.NotSent+r.Counters.Duplicated != 0 {
					t.Fatalf("a stall loses nothing: %+v", r.Counters)
				}
				for _, reason := range r.Summary.Verdict.Reasons {
					if reason.Code == "self-inflicted" {
						t.Fatalf("a frozen broker is not the generator's fault: %+v", reason)
					}
				}
				blocked := r.Summary.Histograms[result.LagBlocked]
				if blocks := strings.Contains(tt.name, "block"); blocks != (blocked.Max > int64(D)/10) {
					t.Fatalf("sends were blocked for at most %v", time.Duration(blocked.Max))
				}
				if off = offOracle(r, d, T); off == "" {
					return
				}
				t.Log(off, show(r))
			}
			t.Error(off)
		})
	}
}

// offOracle tells which percentile is off the oracle by more than 3 %, if any.
// How fast the broker catches up is taken from one point of the curve far below
// the percentiles: of the share q of messages above v, D − v = q·T·(1−ρ).
func offOracle(r *result.Run, d, window time.Duration) string {
	const v = 50 * time.Millisecond
	index := result.NewRankIndex(r.Metrics[result.DeliveryResponse].Hist)
	q := float64(index.CountAbove(int64(v))) / float64(index.Count())
	kept := (d - v).Seconds() / (q * window.Seconds()) // 1 − ρ
	if kept < 0.8 || kept > 1.03 {
		return fmt.Sprintf("the broker caught up at %.2f times the rate it stood still at", 1-kept)
	}
	got := r.Summary.Histograms[result.DeliveryResponse]
	for p, label := range map[float64]string{0.9: "90", 0.99: "99", 0.999: "99.9"} {
		want := d.Seconds() - (1-p)*window.Seconds()*kept
		if have := float64(got.Percentiles[label]) / 1e9; math.Abs(have-want) > 0.03*want {
			return fmt.Sprintf("p%s is %.4f s, the oracle says %.4f", label, have, want)
		}
	}
	return ""
}

// The same pause as a closed loop measures it: wrongly.
func TestClosedLoopOmitsTheStall(t *testing.T) {
	judgesFigures(t)
	b := startNATS(t)
	frozen := stallFor(t, b, 1500*time.Millisecond, time.Second)
	r := measure(t, "phases: {warmup: 500ms, duration: 2500ms, drain: 10s}\nworkload: {loop: closed, think: 1ms}", nats.Entry(), b.URL)
	d := frozen()
	got := r.Summary.Histograms[result.DeliveryResponse]
	if p99 := time.Duration(got.Percentiles["99"]); p99 > d/4 {
		t.Errorf("a closed loop that waits sees p99 %v of a stall of %v", p99, d)
	}
	if r.Header.Mode != result.ModeClosed {
		t.Errorf("mode %q", r.Header.Mode)
	}
	t.Log(show(r))
}
