package engine

import (
	"testing"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// While messages of the warm-up still wait to be sent, a run sends these first: progress
// shows how many, though no message of the window is sent yet.
func TestProgressTellsWhatAnOverloadSends(t *testing.T) {
	told := false
	inVirtualTime(t, Config{Scenario: parse(t, `
target: {driver: mem, options: {ack: broker, ack_delay: 5ms}}
workload: {pattern: publish, rate: 2000/s, in_flight: {messages: 1}}
phases: {warmup: 1s, duration: 1s, drain: 100ms}
record: {interval: 100ms}
`), Entry: mem.Entry(), Observer: func(p Progress) {
		told = told || p.Phase == result.PhaseMeasure && p.Counters.Sent == 0 && p.Sent > 0
		if p.Phase == result.PhaseMeasure && p.Counters.Sent == 0 && p.Sent > 2000 {
			t.Errorf("%v/s were sent, far more than the system takes", p.Sent)
		}
	}})
	if !told {
		t.Error("no progress tells of the messages of the warm-up that were sent in the window")
	}
}
