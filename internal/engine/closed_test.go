package engine

import (
	"fmt"
	"testing"

	"sixnines/drivers/mem"
)

// Producers of a closed loop that share a connection take its payload slots at
// the same time, and none is given to two of them.
func TestClosedLoopsShareConnections(t *testing.T) {
	for _, pattern := range []string{"deliver", "request-reply"} {
		r := measure(t, `
phases: {warmup: 0s}
target: {driver: mem, options: {ack: broker}}
workload: {loop: closed, producers: 12, outstanding: 3, messages: 60000, connections: {producers: 2}, pattern: `+pattern+`}
`, mem.Entry(), "")
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
			if own, ok := d.OwnShare["50"]; ok && own > 0.25 {
				t.Errorf("%s: %.0f %% of the median is own lag: %s", m, 100*own, show(r))
			}
		}
		// 4 ms of thinking and next to no answering: 250 messages of each in 1 s.
		if n := r.Counters.Sent; n > int64(251*producers) {
			t.Errorf("%d messages of %d producers: they did not think", n, producers)
		}
	}
}
