package engine

import (
	"testing"
	"time"

	"sixnines/drivers/nats"
	"sixnines/internal/judge"
	"sixnines/result"
)

// Actions happen to clients of a real broker: consumers pause twice, and connections are cut
// and made again.
func TestActionsOverNATS(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	r := measure(t, "workload: {rate: 500/s, consumers: 2}\nphases: {warmup: 100ms, duration: 3s}\nactions:\n"+
		"  - {at: 300ms, pause: consumers, for: 200ms}\n  - {at: 1s, pause: consumers, for: 300ms}\n  - {at: 2s, disconnect: producers}\n", nats.Entry(), b.URL)
	all := judge.Stretches(r, r.Summary.Costs)
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	for _, s := range all {
		if !s.Happened || s.From < s.Action.At || s.Over < s.Action.At+s.Action.For {
			t.Errorf("%s: %+v", s.Action.Text, s)
		}
	}
	lost, back := 0, 0
	for _, e := range r.Events {
		switch {
		case e.Kind == result.EventDisconnected && e.At >= int64(2*time.Second):
			lost++
		case e.Kind == result.EventReconnected:
			back++
		}
	}
	if lost == 0 || back < lost {
		t.Errorf("%d connections were lost and %d came back: %+v", lost, back, r.Events)
	}
	if longest := r.Metrics[result.DeliveryResponse].Max; longest < int64(290*time.Millisecond) {
		t.Errorf("the slowest delivery took %s", time.Duration(longest))
	}
}
