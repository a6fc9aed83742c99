package engine

import (
	"testing"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// A requester that waits for each answer, and has more messages due than the answers allow, is
// overloaded: the time that its messages wait is not the generator's own lag, however many they are.
func TestWaitingForAnswersIsBlocked(t *testing.T) {
	r := measure(t, "target: {driver: mem, options: {ack: broker, ack_delay: 1ms}}\nphases: {warmup: 0s, duration: 2500ms, drain: 500ms}\nworkload: {rate: 5000/s, pattern: publish, in_flight: {each: 1}}", mem.Entry(), "")
	own, blocked := r.Summary.Histograms[result.LagOwn], r.Summary.Histograms[result.LagBlocked]
	if own == nil || blocked == nil || own.Count < 1000 {
		t.Fatalf("lag of %+v, %+v", own, blocked)
	}
	if own.Max != 0 || blocked.Figures["90"].Value == 0 {
		t.Errorf("own lag of up to %d ns; p90 of blocked is %d ns", own.Max, blocked.Figures["90"].Value)
	}
}
