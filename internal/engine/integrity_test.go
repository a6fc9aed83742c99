package engine

import (
	"testing"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// A driver that loses 17, corrupts 3, duplicates 5 and reorders 9 messages, no
// message twice: each is found, exactly, and the 20 that never arrived whole
// stay in the distribution.
func TestEveryLieIsCaught(t *testing.T) {
	r := measure(t, `
phases: {warmup: 200ms, duration: 1s, drain: 1s}
target:
  driver: mem
  options: {lose: 17, duplicate: 5, reorder: 9, corrupt: 3}
workload: {rate: 1000/s}
record: {raw: true}
`, mem.Entry(), "")
	c := r.Counters
	if c.Missing != 17 || c.Corrupted != 3 || c.Duplicated != 5 || c.Reordered != 9 || c.Censored != 20 || c.Late != 0 || c.Foreign != 0 {
		t.Errorf("%+v", c)
	}
	if n := r.Metrics[result.DeliveryResponse].Censored.TotalCount(); n != 20 {
		t.Errorf("%d censored values", n)
	}
	if d := r.Summary.Histograms[result.DeliveryResponse]; !d.AtLeast["99"] {
		t.Errorf("20 of 1,000 are missing, and p99 is not a lower bound: %+v", d)
	}
}

// A consumer that is too slow is overload, though the broker acknowledges at
// once, and what waits for it is not lost.
func TestSlowConsumersAreOverload(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {ack: broker, queue: 100000}}
phases: {warmup: 200ms, duration: 2s, drain: 500ms}
workload: {rate: 2000/s, consumer: {work: 5ms}}
record: {interval: 250ms}
`, mem.Entry(), "")
	c := r.Counters
	if c.Acked != 4000 || c.LostAcked != 0 || c.Undelivered == 0 || c.Undelivered != c.Missing {
		t.Errorf("what is queued: %s", show(r))
	}
	if s := r.Summary.Verdict.Status; s != result.Unstable && s != result.Invalid { // on a busy machine
		t.Errorf("overload: %s", show(r))
	}
}

// What is lost is no overload, however much of it, though nothing returns.
func TestLossIsNoOverload(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {ack: broker, lose_acked: 300, after: 2500, every: 4}}
phases: {warmup: 200ms, duration: 2s, drain: 2s}
workload: {rate: 2000/s}
record: {interval: 250ms}
`, mem.Entry(), "")
	c := r.Counters
	if c.Missing != 300 || c.LostAcked != 300 || c.Undelivered != 0 {
		t.Errorf("what is lost: %s", show(r))
	}
	if s := r.Summary.Verdict.Status; s == result.Unstable {
		t.Errorf("loss: %s", show(r))
	}
}
