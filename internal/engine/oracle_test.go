package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// A broker that is paused for D in a window of T, at a rate of which it can
// do 1/ρ times as much, makes 1−p of the messages wait longer than
// x_p = D − (1−p)·T·(1−ρ), to what a bucket of the histogram is wide.
func TestStallOracle(t *testing.T) {
	const T, D = 5 * time.Second, time.Second
	for name, tt := range map[string]struct {
		queue int
		work  string
		rho   float64
	}{
		"at once behind the stall":     {100_000, "0s", 0},
		"a backlog that is worked off": {100_000, "200us", 0.2},
		"sends that block":             {100, "200us", 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			r := measure(t, fmt.Sprintf("phases: {warmup: 500ms, duration: 5s, drain: 10s}\ntarget: {driver: mem, options: {queue: %d, stall_after: 1000, stall_for: 1s}}\nworkload: {rate: 1000/s, consumer: {work: %s}}", tt.queue, tt.work), mem.Entry(), "")
			if r.Counters.Missing+r.Counters.NotSent+r.Counters.Duplicated != 0 {
				t.Fatalf("a stall loses nothing: %+v", r.Counters)
			}
			for _, reason := range r.Summary.Verdict.Reasons {
				if reason.Code == "self-inflicted" {
					t.Fatalf("a frozen broker is not the generator's fault: %+v", reason)
				}
			}
			lag := r.Summary.Histograms[result.LagBlocked]
			if blocks := strings.Contains(name, "block"); blocks != (lag.Max > int64(D)/10) {
				t.Fatalf("sends were blocked for at most %v", time.Duration(lag.Max))
			}
			if own := r.Summary.Histograms[result.LagOwn]; own.Max != 0 {
				t.Errorf("own lag of %v", time.Duration(own.Max))
			}
			got := r.Summary.Histograms[result.DeliveryResponse]
			for p, label := range map[float64]string{0.9: "90", 0.99: "99", 0.999: "99.9"} {
				want := D.Seconds() - (1-p)*T.Seconds()*(1-tt.rho)
				if have := float64(got.Figures[result.Percentile(label)].Value) / 1e9; math.Abs(have-want) > 0.003*want {
					t.Errorf("p%s is %.4f s, the oracle says %.4f", label, have, want)
				}
			}
		})
	}
}

// The same pause as a closed loop measures it: wrongly.
func TestClosedLoopOmitsTheStall(t *testing.T) {
	r := measure(t, "phases: {warmup: 500ms, duration: 2500ms, drain: 10s}\ntarget: {driver: mem, options: {stall_after: 1000, stall_for: 1s}}\nworkload: {loop: closed, think: 1ms}", mem.Entry(), "")
	got := r.Summary.Histograms[result.DeliveryResponse]
	if got.Max < int64(time.Second)*99/100 || got.Figures["99"].Value > int64(time.Millisecond) {
		t.Errorf("a closed loop that waits sees p99 %v and max %v of a stall of 1 s", time.Duration(got.Figures["99"].Value), time.Duration(got.Max))
	}
	if r.Header.Mode != result.ModeClosed {
		t.Errorf("mode %q", r.Header.Mode)
	}
}
