package engine

import (
	"testing"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// An acknowledgement that times out is no refusal: the message's outcome is
// unknown, and in the distribution it took longer than the wait. A refusal is an answer, and
// ranks as slower than any latency.
func TestUnansweredIsCensoredAndRefusedIsNot(t *testing.T) {
	r := measure(t, `
phases: {warmup: 200ms, duration: 1s, drain: 1s}
target:
  driver: mem
  options: {ack: broker, lose: 17, nack: 5}
workload: {rate: 1000/s, pattern: publish}
`, mem.Entry(), "")
	c := r.Counters
	if c.Unknown != 17 || c.TimedOut != 17 || c.Nacked != 5 || c.Acked != c.Sent-22 || c.Censored != 17 {
		t.Errorf("%+v", c)
	}
	d := r.Summary.Histograms[result.PublishResponse]
	if d.Censored != 17 || !d.Figures["99"].AtLeast || d.Figures["95"].AtLeast || d.Figures["99"].Refused {
		t.Errorf("17 of 1,000 are unanswered: p99 is a lower bound and p95 is not: %+v", d)
	}
	if d.Refusals != 5 || !d.MaxRefused {
		t.Errorf("5 of 1,000 are refused: %+v", d)
	}
}

// A broker that hangs until the run is over, so that closing the client resolves what is left,
// has refused nothing either.
func TestUnansweredUntilTheEndIsCensored(t *testing.T) {
	r := measure(t, `
phases: {warmup: 0s, duration: 200ms, drain: 100ms}
target:
  driver: mem
  options: {ack: broker, ack_delay: 1h}
workload: {rate: 500/s, pattern: publish}
`, mem.Entry(), "")
	c := r.Counters
	if c.Sent != 100 || c.Unknown != 100 || c.Nacked != 0 || c.Censored != 100 {
		t.Errorf("%+v", c)
	}
	if d := r.Summary.Histograms[result.PublishResponse]; d == nil || d.Censored != 100 {
		t.Errorf("all of 100 are unanswered: %+v", d)
	}
}
