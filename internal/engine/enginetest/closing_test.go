package enginetest

import (
	"testing"
	"time"

	"sixnines/result"
)

// A sender that is behind sends nothing more when the run is over: each of its sends waits
// for the broker, and clients leave after the last.
func TestASenderThatIsBehindStops(t *testing.T) {
	const work = 20 * time.Millisecond
	r := Verified(t, Load{Scenario: `
target: {options: {queue: 4}}
workload: {pattern: roundtrip, rate: 80/s, consumer: {work: 20ms}}
phases: {warmup: 0s, duration: 2s, drain: 3s}
`})
	if late := r.Series[len(r.Series)-1].Start - r.Summary.Resolved; r.Summary.Counters.Missing > 0 || late > int64(10*work) {
		t.Errorf("clients leave %s after the last message", time.Duration(late))
	}
}

// Unresolved messages count as given up when clients began to close, and not when a broker that hangs
// has let them go.
func TestGivenUpWhenClientsBeginToLeave(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {stall_after: 20, stall_for: 1h, delay: 1ms}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 1s, drain: 1s}
`})
	if at := time.Duration(r.Series[len(r.Series)-1].Start); at < 2*time.Second || at > 2100*time.Millisecond || r.Summary.Counters.Missing != 80 {
		t.Errorf("%d messages were given up after %s", r.Summary.Counters.Missing, at)
	}
}

// A request that was refused and is answered all the same gives its credit back once: the second of
// the two takes no credit from another message.
func TestRefusedAndAnsweredFreesOnePlace(t *testing.T) {
	for _, tt := range []struct {
		ackDelay, delay string
		each            time.Duration // that a pair of a refused and an answered request takes
	}{{"6ms", "31ms", 37 * time.Millisecond}, {"31ms", "6ms", 12 * time.Millisecond}} {
		r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, ack_delay: ` + tt.ackDelay + `, delay: ` + tt.delay + `, misreport: 1000, every: 2}}
workload: {pattern: request-reply, rate: max, in_flight: {messages: 1}, timeout: 10m}
phases: {warmup: 0s, duration: 1s, drain: 1s}
`})
		if got, most := r.Summary.Counters.Sent, 2*(int64(time.Second/tt.each)+2); got > most || r.Summary.Counters.Nacked == 0 {
			t.Errorf("acknowledged after %s, delivered after %s: %d sent, %d at most with one in flight", tt.ackDelay, tt.delay, got, most)
		}
	}
}

// An unpaced load, too, waits for no longer than the drain limit if the round trip after its last
// message does not come back.
func TestAFloodIsWaitedForNoLonger(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {stall_after: 20, stall_for: 1h, delay: 1ms}}
workload: {rate: max, messages: 100}
phases: {warmup: 0s, drain: 1s}
`})
	if at := time.Duration(r.Series[len(r.Series)-1].Start); at < time.Second || at > 1100*time.Millisecond {
		t.Errorf("clients began to leave after %s", at)
	}
}

// Whether messages still came in the second half of the wait depends on when clients began
// to close, and not on how long one was busy then: one of two members of a group waits for
// the other, which gets a message meanwhile and has work for 3 s.
func TestStillComingWhenClientsBeginToLeave(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, lose_acked: 1, every: 1}}
workload: {rate: 2/s, consumers: 2, groups: 1, consumer: {work: 3s}}
phases: {warmup: 0s, duration: 2500ms, drain: 1300ms}
`})
	c := &r.Summary.Counters
	if gone := time.Duration(r.Series[len(r.Series)-1].Start); gone < 6*time.Second || c.Received != 4 {
		t.Fatalf("clients left after %s, %d received", gone, c.Received)
	}
	if c.LostAcked != 0 || c.Undelivered != 1 {
		t.Errorf("%d lost, %d undelivered", c.LostAcked, c.Undelivered)
	}
}

// A later reply of the same producer proves that a message is lost, where one responder sends
// all of them, and as long as replies to other producers come.
func TestALostReplyOfSeveralProducers(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, lose_acked: 1, every: 1, delay: 1ms}}
workload: {pattern: request-reply, rate: 100/s, producers: 2, consumer: {work: 12ms}}
phases: {warmup: 0s, duration: 1s, drain: 100ms}
`})
	c := &r.Summary.Counters
	if c.Missing < 5 || c.LostAcked != 1 {
		t.Errorf("%d lost of %d missing", c.LostAcked, c.Missing)
	}
}

// A message that never came, and whose own send is forgotten, has waited at least since its stream's
// last send. A message that the client refused was not sent.
func TestABoundFromTheLastSend(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {delay: 5ms, corrupt: 1, reject: 50, every: 1, after: 1, seed: 8}}
workload: {loop: closed, think: 100ms, outstanding: 2, timeout: 10m}
phases: {warmup: 0s, duration: 1s, drain: 1s}
`})
	d := r.Summary.Histograms[result.DeliveryService]
	if c := &r.Summary.Counters; c.Corrupted != 1 || c.Rejected < 8 || c.Received != 1 {
		t.Fatalf("%+v", c)
	}
	if d.Max < int64(800*time.Millisecond) {
		t.Errorf("it has waited for %s", time.Duration(d.Max))
	}
}

// The window of an unpaced load begins when consumers have received the warm-up's messages, however long they
// work on each.
func TestAFloodBeginsBehindItsWarmUp(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, delay: 3ms, ack_delay: 6ms}}
workload: {rate: max, in_flight: {messages: 4}, consumer: {work: 50ms}}
phases: {warmup: 100ms, duration: 500ms, drain: 5s}
`})
	if left := r.Summary.Throughput.WarmUp; left != 0 {
		t.Errorf("%d messages of the warm-up came in the window", left)
	}
}

// An unpaced load begins with every payload free: first messages have been acknowledged by then. With
// one message in flight and two payloads, first messages to four topics would keep both payloads for
// some 12 ms.
func TestAFloodBeginsBehindItsProbes(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, delay: 20ms, ack_delay: 12ms}}
workload: {rate: max, in_flight: {messages: 1}, topics: 4, consumers: 4, groups: 4}
phases: {warmup: 0s, duration: 1009ms, drain: 1s}
`})
	if got, want := r.Summary.Counters.Sent, int64(1009*time.Millisecond/(12*time.Millisecond)+1); got != want {
		t.Errorf("%d sent, %d with one in flight for 12 ms each", got, want)
	}
}

// A first message that finds no payload free is sent when one is free: the setup does not wait for its
// answer before that, and tries each topic.
func TestFirstMessagesTakeTurns(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, delay: 1ms, ack_delay: 12ms}}
workload: {rate: 10/s, in_flight: {messages: 1}, topics: 8}
phases: {warmup: 0s, duration: 1s, drain: 1s}
`})
	for _, cold := range r.Header.SetupTimes {
		if cold.Duration > time.Second {
			t.Errorf("%s: %s", cold.Name, cold.Duration)
		}
	}
	if len(r.Header.SetupTimes) == 0 {
		t.Error("nothing says how long the first messages took")
	}
}

// Messages that a producer without a message in the window sends after it are not part of it: of
// four producers two have one message each, and the others have their first after the window, where
// the run does not wait for it.
func TestAProducerWithoutAMessageInTheWindow(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {delay: 600ms}}
workload: {rate: 2/s, producers: 4}
phases: {warmup: 0s, duration: 1s, drain: 2s}
`})
	if c := &r.Summary.Counters; c.Missing != 0 || c.Received != 2 || r.Summary.Verdict.Status == result.Invalid {
		t.Errorf("%d missing, %d received: %s", c.Missing, c.Received, r.Summary.Verdict.Status)
	}
}

// A message that a load never received has waited until all loads are over, however short the load's
// own window is.
func TestABoundLastsAsLongAsTheRun(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, lose_acked: 1, every: 1}}
workloads:
  a: {rate: 10/s, for: 1s}
  b: {rate: 1/s}
phases: {warmup: 0s, duration: 30s, drain: 1s}
`})
	if d := r.Parts()[0].Summary.Histograms[result.DeliveryResponse]; d.Censored != 1 || d.Max < int64(29*time.Second) {
		t.Errorf("%d unresolved, at least %s", d.Censored, time.Duration(d.Max))
	}
}

// The end of a time limit is noticed soon, however short the limit is: with one message in flight and
// no answers, another one is sent each time.
func TestAShortTimeLimitIsNoticed(t *testing.T) {
	const limit = 5 * time.Millisecond
	r := Verified(t, Load{Scenario: `
target: {options: {lose: 5000, every: 1}}
workload: {pattern: roundtrip, rate: 2000/s, in_flight: {messages: 1}, timeout: ` + limit.String() + `}
phases: {warmup: 0s, duration: 2s, drain: 10ms}
`})
	if got, least := r.Summary.Counters.Sent, int64(2*time.Second/(limit+limit/12+2*time.Millisecond)); got < least {
		t.Errorf("%d sent, %d at least", got, least)
	}
}

// A closed loop notices timeouts during think time: with three messages outstanding, whose answers
// take longer than the limit, all are given up.
func TestALoopThatThinksNoticesTimeouts(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {delay: 37ms, jitter: 6ms, reject: 2, every: 5}}
workload: {pattern: roundtrip, loop: closed, think: 52ms, outstanding: 3, timeout: 14ms}
phases: {warmup: 0s, duration: 700ms, drain: 1s}
`})
	if c := &r.Summary.Counters; c.TimedOut < c.Sent-3 || c.Sent < 25 {
		t.Errorf("%d of %d timed out", c.TimedOut, c.Sent)
	}
}

// A message that the broker refuses and delivers all the same is taken off the backlog once,
// whichever comes first. Of ten a second every other one is refused: when the window ends five are
// in flight where refusals come a second sooner than deliveries, ten where they come a second
// later, and five where both take half a second.
func TestRefusedAndReceivedIsInFlightOnce(t *testing.T) {
	for _, tt := range []struct {
		ackDelay, delay string
		inFlight        int64
	}{{"10ms", "1s", 5}, {"1s", "10ms", 10}, {"500ms", "500ms", 5}} {
		r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, ack_delay: ` + tt.ackDelay + `, delay: ` + tt.delay + `, misreport: 50, every: 2}}
workload: {rate: 10/s, consumers: 2}
phases: {warmup: 0s, duration: 5s, drain: 3s}
`})
		if c := &r.Summary.Counters; c.EndedReceived != 2*c.Nacked || c.Nacked == 0 {
			t.Errorf("%v: two consumers received %d of %d refused messages", tt, c.EndedReceived, c.Nacked)
		}
		var last int64
		for _, p := range r.Series {
			if p.Phase == result.PhaseMeasure {
				last = p.InFlight
			}
		}
		if last < tt.inFlight-1 || last > tt.inFlight+1 {
			t.Errorf("%v: %d in flight when the window ends", tt, last)
		}
	}
}
