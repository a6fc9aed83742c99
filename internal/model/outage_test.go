package model

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// Ten messages, one each 100 ms, of which the fifth cuts connections for 150 ms: computed by hand.
func TestAnOutageByHand(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, tt := range []struct {
		whose    string
		counters map[string]int64
		refused  int64
		given    []int64 // for how long acknowledgements were waited for that did not come
	}{
		// The fourth would be acknowledged at 430 ms, and is delivered all the same; the fifth and
		// sixth find no connection.
		{"producers", map[string]int64{"scheduled": 10, "taken": 10, "rejected": 2, "sent": 8, "acked": 7, "unknown": 1, "expected": 8, "received": 8, "ended_received": 1, "censored": 1}, 2, []int64{100 * ms}},
		// The fourth is delivered at 450 ms, and the fifth and sixth find nobody.
		{"consumers", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 10, "received": 7, "missing": 3, "lost_acked": 3, "censored": 3}, 0, nil},
		{"all", map[string]int64{"scheduled": 10, "taken": 10, "rejected": 2, "sent": 8, "acked": 7, "unknown": 1, "expected": 8, "received": 7, "missing": 1, "missing_unknown": 1, "censored": 2}, 2, []int64{100 * ms}},
	} {
		o := predict(t, `
target: {driver: mem, options: {ack: broker, ack_delay: 130ms, delay: 150ms, disconnect: `+tt.whose+`, disconnect_after: 4, disconnect_for: 150ms}}
workload: {rate: 10/s}
phases: {warmup: 0s, duration: 1s, drain: 500ms}
`, 0)
		maps.DeleteFunc(o.Counters, func(_ string, n int64) bool { return n == 0 })
		if !maps.Equal(o.Counters, tt.counters) {
			t.Errorf("%s: accounts %v, want %v", tt.whose, o.Counters, tt.counters)
		}
		if x := o.Latencies["publish.response"]; x.Refused != tt.refused || !slices.Equal(x.Bounds, tt.given) {
			t.Errorf("%s: %d refused, given up after %v", tt.whose, x.Refused, x.Bounds)
		}
	}
}

// With one in flight and a limit of 150 ms the second of five messages, one each 100 ms and all of
// them lost, is sent 50 ms late, the third 100 ms, and so on, each a little more for what is
// noticed late; all time out but those of which nobody waited for so long.
func TestATimeLimitByHand(t *testing.T) {
	const ms = int64(time.Millisecond)
	o := predict(t, `
target: {driver: mem, options: {lose: 5, every: 1}}
workload: {pattern: roundtrip, rate: 10/s, in_flight: {messages: 1}, timeout: 150ms}
phases: {warmup: 0s, duration: 500ms, drain: 1s}
`, 0)
	const late = 150*ms/12 + 2*ms
	for i, got := range o.Latencies["lag.blocked"].Values {
		if want := int64(i) * (50*ms + late); got != want {
			t.Errorf("message %d is blocked for %d, want %d", i, got, want)
		}
	}
	if got := *o.Within["timed_out"]; got != [2]int64{5, 5} {
		t.Errorf("%v timed out", got)
	}
}
