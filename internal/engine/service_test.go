package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/drivers/mem"
	"sixnines/internal/clock"
	"sixnines/internal/clock/clocktest"
	"sixnines/result"
)

// A message that was sent and never answered, delivered or replied to has a service time as well:
// it is in the distribution as a lower bound, in open and closed loops and flat out, so that no
// percentile of service time leaves it out.
func TestServiceTimesAreCensored(t *testing.T) {
	t.Parallel()
	const open, flat = "rate: 500/s", "rate: max, messages: 250"
	for name, tt := range map[string]struct {
		options, load string
		service       result.Metric
		lost          int64
		least         time.Duration // from a send to when all is given up
	}{
		"deliver":            {"lose: 50, every: 4", open, result.DeliveryService, 50, 300 * time.Millisecond},
		"publish, given up":  {"ack: broker, lose: 50, every: 4, give_up: 20ms", open + ", pattern: publish", result.PublishService, 50, 19 * time.Millisecond},
		"roundtrip":          {"lose: 50, every: 4", open + ", pattern: roundtrip", result.RoundTripService, 50, 300 * time.Millisecond},
		"flat out":           {"lose: 50, every: 4", flat, result.DeliveryService, 50, 300 * time.Millisecond},
		"flat out, given up": {"ack: broker, lose: 50, every: 4, give_up: 20ms", flat + ", pattern: publish", result.PublishService, 50, 19 * time.Millisecond},
		"closed": {"ack: broker, ack_delay: 1ms, lose: 20, every: 2, give_up: 20ms", "loop: closed, timeout: 10s, pattern: publish",
			result.PublishService, 20, 19 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			duration := "duration: 500ms, "
			if strings.Contains(tt.load, "messages") {
				duration = ""
			}
			run := func(text string) *result.Run { return measure(t, text, mem.Entry(), "") }
			if strings.HasPrefix(tt.load, flat) {
				run = func(text string) *result.Run { return measureReally(t, text, mem.Entry()) }
			}
			r := run("target: {driver: mem, options: {" + tt.options + "}}\nphases: {warmup: 0s, " + duration + "drain: 300ms}\nworkload: {" + tt.load + "}")
			d, x := r.Summary.Histograms[tt.service], r.Metrics[tt.service]
			if d == nil || d.Censored != tt.lost || d.Total() != r.Counters.Sent || r.Counters.Censored != tt.lost {
				t.Fatalf("%+v of %+v", d, r.Counters)
			}
			if part := float64(tt.lost) / float64(d.Total()); !d.MaxAtLeast || d.Figures["50"].AtLeast || part > 0.1 && !d.Figures["90"].AtLeast {
				t.Errorf("lower bounds are %v", d.Figures)
			}
			if least := time.Duration(x.Censored.Min()); least < tt.least*98/100 {
				t.Errorf("a message was given up after %v at the earliest, and the bound is %v", tt.least, least)
			}
			if a := r.Summary.Availability; a != nil && a.Of != r.Counters.Sent {
				t.Errorf("available of %d messages, and %d were sent", a.Of, r.Counters.Sent)
			}
		})
	}
}

// A lower bound is never above the time that a message waited: neither where a send that blocks
// makes those behind it late, nor where messages of other producers are in time meanwhile.
func TestServiceTimeBoundsAreSound(t *testing.T) {
	for name, load := range map[string]string{
		"one producer":   "rate: 400/s",
		"flat out":       "rate: max, messages: 200",
		"four in time":   "rate: 400/s, producers: 4",
		"a closed loop":  "loop: closed, timeout: 50ms",
		"random arrival": "rate: 400/s, arrivals: poisson",
	} {
		t.Run(name, func(t *testing.T) {
			var sent [4096]int64 // of what is dropped, in no order
			n := make(chan int, 1)
			n <- 0
			e := mem.Entry()
			e.Driver = lossy{e.Driver, func(i int) bool {
				if i == 20 {
					time.Sleep(150 * time.Millisecond) // the send blocks
				}
				if i%3 == 0 {
					k := <-n
					sent[k] = clock.Now()
					n <- k + 1
				}
				return i%3 == 0
			}}
			duration := "duration: 500ms, "
			if strings.Contains(load, "messages") {
				duration = ""
			}
			var r *result.Run
			var ended int64
			synctest.Test(t, func(t *testing.T) {
				c := Config{Scenario: parse(t, "target: {driver: mem, options: {delay: 1ms}}\nphases: {warmup: 0s, "+duration+"drain: 200ms}\nworkload: {"+load+"}"), Entry: e, Virtual: clocktest.New()}
				var err error
				if r, err = Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				ended = clock.Now()
			})
			x := r.Metrics[result.DeliveryService]
			var bounds, waited []int64
			x.Censored.Buckets(func(low, _, n int64) {
				for range n {
					bounds = append(bounds, low)
				}
			})
			for _, at := range sent[:<-n] {
				waited = append(waited, ended-at)
			}
			slices.Sort(waited)
			if len(bounds) > len(waited) || len(bounds) < 4 {
				t.Fatalf("%d bounds of %d messages", len(bounds), len(waited))
			}
			waited = waited[len(waited)-len(bounds):] // the load goes on after the window
			for i := range bounds {
				if bounds[i] > waited[i] {
					t.Errorf("the bound of rank %d is %v, and the message waited for %v at most", i, time.Duration(bounds[i]), time.Duration(waited[i]))
				}
			}
		})
	}
}
