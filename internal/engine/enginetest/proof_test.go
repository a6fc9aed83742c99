package enginetest

import (
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/result"
	"sixnines/semantics"
)

// An acknowledged message that later ones have overtaken is lost only if it cannot come any more. The broker may
// deliver again what was on a connection that was lost, and a partition may hang while others go on.
func TestOvertakingProvesALoss(t *testing.T) {
	again := func(after time.Duration) func(*driver.Semantics) {
		return func(s *driver.Semantics) {
			s.Levels.Delivery, s.Redelivery = semantics.AtLeastOnce, after
		}
	}
	const cut = "disconnect: consumers, disconnect_after: 150, disconnect_for: 100ms" // 2.4 s before clients leave
	for name, tt := range map[string]struct {
		faults string
		states func(*driver.Semantics)
		lost   bool
	}{
		"at most once, a connection was lost":     {cut, func(*driver.Semantics) {}, true},
		"delivered again later":                   {cut, again(30 * time.Second), false},
		"delivered again, perhaps not yet":        {cut, again(1500 * time.Millisecond), false},
		"would have been delivered again by then": {cut, again(500 * time.Millisecond), true},
		"delivered again, who knows when":         {cut, again(0), false},
		"delivered again, no connection was lost": {"lose_acked: 10, every: 10", again(30 * time.Second), true},
		"at most once, and again after a while": {cut, func(s *driver.Semantics) {
			s.Redelivery = 30 * time.Second
		}, false},
		"in partitions": {"lose_acked: 10, every: 10", func(s *driver.Semantics) {
			s.Levels.Ordering = semantics.PerPartition
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := Verified(t, Load{Change: Stating(tt.states), Scenario: `
target: {options: {ack: broker, delay: 1ms, ` + tt.faults + `}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 2s, drain: 2s}
objectives: [lost_acked == 0]
`})
			c := &r.Summary.Counters
			lost, undelivered := c.Missing, int64(0)
			if !tt.lost {
				lost, undelivered = undelivered, lost
			}
			if c.Missing < 9 || c.Missing > 11 || c.LostAcked != lost || c.Undelivered != undelivered {
				t.Errorf("%d missing, %d of them lost, %d undelivered", c.Missing, c.LostAcked, c.Undelivered)
			}
			if least, most := r.LostAcked(); least != lost || most != c.Missing {
				t.Errorf("%d to %d of %d are lost", least, most, c.Missing)
			}
		})
	}
}

// What was overtaken and may come again waits in no queue: a broker that loses messages steadily is not overloaded, though
// it is not proven that they are lost.
func TestUnprovenLossesAreNoOverload(t *testing.T) {
	for name, states := range map[string]func(*driver.Semantics){
		"proven":        func(*driver.Semantics) {},
		"in partitions": func(s *driver.Semantics) { s.Levels.Ordering = semantics.PerPartition },
	} {
		t.Run(name, func(t *testing.T) {
			r := Verified(t, Load{Change: Stating(states), Scenario: `
target: {options: {ack: broker, delay: 1ms, lose_acked: 1000000, every: 20}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 10s, drain: 2s}
`})
			if c := &r.Summary.Counters; c.LostAcked+c.Undelivered != 50 || c.Missing != 50 {
				t.Errorf("%d missing, %d of them lost, %d undelivered", c.Missing, c.LostAcked, c.Undelivered)
			}
			if v := r.Summary.Verdict; v.Status != result.Valid {
				t.Errorf("%v", v)
			}
		})
	}
}
