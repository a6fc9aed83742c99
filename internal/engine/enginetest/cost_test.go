package enginetest_test

import (
	"testing"
	"time"

	"sixnines/internal/engine/enginetest"
	"sixnines/result"
)

// What a pause costs in virtual time: as long as it lasts, and as before once its backlog is gone.
func TestCostOfAPause(t *testing.T) {
	r := enginetest.Verified(t, enginetest.Load{Scenario: "target: {driver: mem, options: {delay: 1ms}}\nrecord: {probe: off}\nphases: {warmup: 0s, duration: 4s}\n" +
		"workload: {rate: 1000/s}\nactions: [{at: 2s, pause: consumers, for: 500ms}]\n"})
	if len(r.Summary.Costs) != 1 {
		t.Fatalf("%+v", r.Summary.Costs)
	}
	c := r.Summary.Costs[0]
	if c.Effect != result.ImpactSeen || c.Unavailable.Least < int64(495*time.Millisecond) || c.Unavailable.Most > int64(502*time.Millisecond) {
		t.Errorf("%s, unavailable %+v", c.Effect, c.Unavailable)
	}
	if c.Detected.Least > 0 || c.Detected.Most > int64(100*time.Millisecond) || c.Recovered == nil || c.Recovered.Least > int64(500*time.Millisecond) || c.Recovered.Most < int64(500*time.Millisecond) {
		t.Errorf("detected %+v, recovered %+v", c.Detected, c.Recovered)
	}
	if c.Refused != 0 || *c.Unanswered != 0 || c.Backlog == nil || c.Backlog.Peak < 480 || c.Backlog.Peak > 502 || c.Backlog.Gone == 0 {
		t.Errorf("%+v, %+v", c, c.Backlog)
	}
	outside := r.Summary.Outside[result.DeliveryResponse]
	if outside == nil || outside.Max > int64(2*time.Millisecond) || outside.Samples < 3000 || outside.Samples > 3500 {
		t.Errorf("%+v", outside)
	}
	if d := r.Summary.ClosedLoop; d == nil || d.Samples != outside.Samples+1 || d.Max != c.Unavailable.Most {
		t.Errorf("%+v", d)
	}
}
