package engine

import (
	"testing"

	"sixnines/drivers/mem"
)

// A producer that waits for each answer has payloads for two messages, so the first message
// may take long.
func TestFirstMessageMayTakeLong(t *testing.T) {
	r := measure(t, `
phases: {warmup: 0s, duration: 300ms}
target: {driver: mem, options: {ack: broker, delay: 100ms, ack_delay: 100ms}}
workload: {rate: 20/s, in_flight: {each: 1}}
`, mem.Entry(), "")
	if c := r.Counters; c.Sent == 0 || c.Missing != 0 {
		t.Errorf("%+v", c)
	}
}

// Producers that wait for each answer send as much on a schedule, and flat out, as in a
// closed loop.
func TestWaitingForPlacesSendsAsMuchAsAClosedLoop(t *testing.T) {
	sent := func(workload string) int64 {
		return measureVirtually(t, "target: {driver: mem, options: {ack: broker, ack_delay: 2ms}}\nphases: {warmup: 0s, duration: 500ms, drain: 100ms}\nworkload: {pattern: publish, producers: 16, "+workload+"}",
			mem.Entry()).Counters.Sent
	}
	closed, paced, unpaced := sent("loop: closed"), sent("rate: 40000/s, in_flight: {each: 1}"), sent("rate: max, in_flight: {each: 1}")
	if least := closed * 95 / 100; paced < least || unpaced < least {
		t.Errorf("%d messages on a schedule and %d flat out, where a closed loop sends %d", paced, unpaced, closed)
	}
}
