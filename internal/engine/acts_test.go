package engine

import (
	"strings"
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

// The connections of producers, and of consumers, are known as such also when they were made in place of others.
func TestDisconnectAgainOverNATS(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	r := measure(t, "workload: {rate: 500/s, consumers: 2}\nphases: {warmup: 100ms, duration: 4s}\nactions:\n"+
		"  - {at: 1s, disconnect: all}\n  - {at: 2s, disconnect: producers}\n  - {at: 3s, disconnect: consumers}\n", nats.Entry(), b.URL)
	lost := make([]map[string]bool, 3) // by action, whose
	for i := range lost {
		lost[i] = map[string]bool{}
	}
	for _, e := range r.Events {
		if e.Kind == result.EventActionFailed {
			t.Errorf("%s", e.Detail)
		}
		if at := e.At / int64(time.Second); e.Kind == result.EventDisconnected && at >= 1 && at <= 3 {
			whose, _, _ := strings.Cut(e.Detail, "-")
			lost[at-1][whose] = true
		}
	}
	if !lost[0]["producer"] || !lost[0]["consumer"] || !lost[1]["producer"] || lost[1]["consumer"] || lost[2]["producer"] || !lost[2]["consumer"] {
		t.Errorf("lost: %v\n%+v", lost, r.Events)
	}
}
