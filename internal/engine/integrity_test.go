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
