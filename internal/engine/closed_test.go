package engine

import (
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
