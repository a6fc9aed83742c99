package engine

import (
	"fmt"
	"testing"

	"sixnines/drivers/mem"
)

// Producers of a closed loop that share a connection take its payload slots at
// the same time, and no slot is given to two of them.
func TestClosedLoopsShareConnections(t *testing.T) {
	for _, pattern := range []string{"deliver", "request-reply"} {
		r := measureReally(t, `
phases: {warmup: 0s}
target: {driver: mem, options: {ack: broker}}
workload: {loop: closed, producers: 12, outstanding: 3, messages: 60000, connections: {producers: 2}, pattern: `+pattern+`}
`, mem.Entry())
		if c := r.Counters; c.Sent != 60000 || c.Missing+c.Corrupted+c.Duplicated+c.Violations != 0 {
			t.Errorf("%s: %+v", pattern, c)
		}
	}
}

// A closed loop with think time is not suspect for Go's timers: a user who
// thinks for longer sends later, and is not late. Nor is the think time much longer
// than was asked for.
func TestThinkTimeIsNoOwnLag(t *testing.T) {
	judgesFigures(t)
	for producers, pattern := range map[int]string{1: "deliver", 7: "publish"} {
		r := measure(t, fmt.Sprintf(`
phases: {warmup: 200ms, duration: 1s}
target: {driver: mem, options: {ack: broker}}
workload: {loop: closed, think: 4ms, producers: %d, pattern: %s}
`, producers, pattern), mem.Entry(), "")
		for m, d := range r.Summary.Histograms {
			if own := d.Figures["50"].OwnShare; own != nil && *own > 0.25 {
				t.Errorf("%s: %.0f %% of the median is own lag: %s", m, 100**own, show(r))
			}
		}
		// 4 ms of thinking and next to no answering: 250 messages of each in 1 s.
		if n := r.Counters.Sent; n > int64(251*producers) {
			t.Errorf("%d messages of %d producers: they did not think", n, producers)
		}
	}
}

// A message that is not answered in time is counted once: by its closed loop, or without one
// by the sweep for messages that have been in flight for long. Three cases are no further
// timeout: the broker reports it too, the message is refused and not delivered, or the answer
// comes while the user is thinking.
func TestTimeoutsAreCountedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		options, phases, workload string
		timedOut, lateReplies     int64
	}{
		"never acknowledged": {"{ack: broker, ack_delay: 1ms, ack_lost: 3, every: 2}", "duration: 1500ms, drain: 500ms",
			"{loop: closed, pattern: publish, timeout: 300ms}", 3, 0},
		"never delivered": {"{ack: broker, delay: 1ms, lose: 3, every: 2}", "duration: 1500ms, drain: 500ms",
			"{loop: closed, timeout: 300ms}", 3, 0},
		"never replied to": {"{ack: broker, lose: 3, every: 2}", "duration: 1500ms, drain: 500ms",
			"{pattern: request-reply, rate: 100/s, timeout: 300ms}", 3, 0},
		"told by the broker": {"{ack: broker, ack_delay: 1ms, lose: 3, every: 2}", "duration: 200ms, drain: 500ms",
			"{loop: closed, pattern: publish, timeout: 2s}", 3, 0},
		"refused": {"{ack: broker, ack_delay: 1ms, nack: 3, every: 2}", "drain: 500ms",
			"{loop: closed, messages: 100, timeout: 2s}", 0, 0},
		"replied to late": {"{delay: 1s}", "drain: 5s",
			"{loop: closed, pattern: request-reply, messages: 3, timeout: 20ms}", 3, 3},
		"answered while thinking": {"{ack: broker}", "duration: 2500ms",
			"{loop: closed, pattern: publish, outstanding: 4, think: 600ms, timeout: 300ms}", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := measure(t, "target: {driver: mem, options: "+tt.options+"}\nphases: {warmup: 0s, "+tt.phases+"}\nworkload: "+tt.workload, mem.Entry(), "")
			c := r.Counters
			if c.Sent == 0 || c.TimedOut != tt.timedOut || c.LateReplies != tt.lateReplies {
				t.Errorf("%d timed out and %d replies were late, want %d and %d: %+v", c.TimedOut, c.LateReplies, tt.timedOut, tt.lateReplies, c)
			}
		})
	}
}

// Timeouts of messages of the warm-up, or of the load after the window, are not counted, whether
// a loop waits for them or not, and whether an acknowledgement or a delivery would end them.
func TestTimeoutsAreThoseOfTheWindow(t *testing.T) {
	for name, workload := range map[string]string{
		"closed": "{loop: closed, pattern: request-reply, messages: 3, timeout: 20ms}",
		"places": "{loop: closed, pattern: deliver, messages: 3, timeout: 20ms}",
	} {
		r := measure(t, "target: {driver: mem, options: {delay: 1s}}\nphases: {warmup: 600ms, drain: 5s}\nworkload: "+workload, mem.Entry(), "")
		if c := r.Counters; c.Sent != 3 || c.TimedOut != 3 || c.LateReplies > 3 {
			t.Errorf("%s: %d of %d messages have timed out", name, c.TimedOut, c.Sent)
		}
	}
}
