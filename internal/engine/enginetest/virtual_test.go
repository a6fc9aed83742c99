package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/internal/engine"
	"sixnines/internal/hunttest"
	"sixnines/result"
)

// A delay takes exactly its time.
func TestDelaysAreExact(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {delay: 5ms, ack: broker, ack_delay: 3ms}}
workload: {rate: 1000/s, producers: 2, consumers: 2, groups: 1}
phases: {duration: 5s, warmup: 1s}
`})
	if c := r.Counters; c.Scheduled != 5000 || c.Sent != 5000 || c.Acked != 5000 || c.Received != 5000 {
		t.Errorf("%+v", c)
	}
	for m, want := range map[result.Metric]int64{
		result.DeliveryResponse: 5_000_000, result.DeliveryService: 5_000_000, result.PublishResponse: 3_000_000, result.LagOwn: 0} {
		if h := r.Summary.Histograms[m]; h == nil || h.Count != 5000 || h.Min != want || h.Max != want {
			t.Errorf("%s: %+v", m, h)
		}
	}
	if v := r.Summary.Verdict; v.Status != result.Valid {
		t.Errorf("%+v", v)
	}
}

// loads are of all kinds.
func loads() map[string]Load {
	return map[string]Load{
		"faults": {Scenario: `
seed: 7
target: {driver: mem, options: {ack: broker, jitter: 20ms, ack_delay: 1ms, every: 20, lose: 10, duplicate: 10, reorder: 10, corrupt: 10, lose_acked: 5, nack: 5, reject: 5}}
workload: {rate: 2000/s, arrivals: poisson, producers: 3, consumers: 2, groups: 1}
phases: {duration: 3s, warmup: 1s, drain: 2s}
`},
		"workloads": {Scenario: `
target: {driver: mem, options: {delay: 2ms}}
workloads:
  first: {rate: 500/s, consumers: 2}
  second: {rate: 300/s, from: 1s, arrivals: poisson, pattern: roundtrip}
phases: {duration: 3s, warmup: 500ms}
`},
		"closed": {Scenario: `
target: {driver: mem, options: {jitter: 5ms}}
workload: {loop: closed, outstanding: 3, think: 1ms, consumers: 1}
phases: {duration: 2s, warmup: 500ms}
`},
		"flat out": {Scenario: `
target: {driver: mem, options: {ack: broker, ack_delay: 1ms}}
workload: {rate: max, in_flight: {messages: 100}}
phases: {duration: 1s, warmup: 200ms}
`},
		"requests": {Scenario: `
target: {driver: mem, options: {delay: 1ms}}
workload: {rate: 400/s, pattern: request-reply, consumer: {work: 3ms}, in_flight: {messages: 10}}
phases: {duration: 2s, warmup: 0s, drain: 1s}
`},
		"paused": {Scenario: `
target: {driver: mem, options: {queue: 100}}
workload: {rate: 1000/s, consumers: 2, producers: 2, consumer: {pause: 1s@1s}}
phases: {duration: 4s, warmup: 0s}
`},
		"stalled": {Scenario: `
target: {driver: mem, options: {ack: broker, stall_after: 500, stall_for: 300ms}}
workload: {rate: 1000/s, in_flight: {messages: 50}}
phases: {duration: 2s, warmup: 0s}
`},
		"interrupted": {Scenario: `
target: {driver: mem, options: {delay: 1ms}}
workload: {rate: 1000/s}
phases: {duration: 60s, warmup: 1s}
`, Interrupt: 1500*time.Millisecond + 1},
		"frozen": {Scenario: `
target: {driver: mem}
workload: {rate: 1000/s, timeout: 500ms}
phases: {duration: 2s, warmup: 0s, drain: 1s}
`, Actions: []Action{{At: 1500*time.Millisecond + 1, Do: (*mem.Broker).Freeze}}},
	}
}

// counts is what a run counted, interval by interval, and what is concluded from it.
func counts(r *result.Run) string {
	var b strings.Builder
	for _, part := range r.Parts() {
		fmt.Fprintf(&b, "%+v\n%+v\n%d %d\n", part.Counters, part.Summary.Verdict, part.Summary.End, part.Summary.Resolved)
		for m, h := range part.Summary.Histograms {
			if h != nil && m == result.DeliveryResponse {
				fmt.Fprintf(&b, "%s %d %d %d %d %v\n", m, h.Count, h.Min, h.Max, h.Censored, h.Figures["99"].Value)
			}
		}
		for _, p := range part.Series {
			fmt.Fprintf(&b, "%s %d %d %+v %d %d %+v\n", p.Phase, p.Start, p.End, p.Counters, p.InFlight, p.Backlog, p.Levels)
		}
	}
	return b.String()
}

// The same load gives the same result, to the last count of each interval.
func TestRunsAreRepeatable(t *testing.T) {
	for name, l := range loads() {
		t.Run(name, func(t *testing.T) {
			first := counts(Verified(t, l))
			for range hunttest.Cases(t, 1, 3) {
				if again := counts(Verified(t, l)); again != first {
					t.Fatalf("first\n%s\nand then\n%s", first, again)
				}
			}
			t.Log(first[:strings.Index(first, "\n")])
		})
	}
}

// An interruption comes at the instant that Load.Interrupt gives.
func TestInterrupted(t *testing.T) {
	r := Verified(t, loads()["interrupted"])
	if s := r.Summary; !s.Interrupted || s.End != int64(1520*time.Millisecond)+1 || s.Counters.Sent != 1521 || s.Counters.Received != 1521 {
		t.Errorf("%+v", s)
	}
	if _, err := Run(t, Load{Scenario: loads()["interrupted"].Scenario, Abort: time.Second}); !errors.Is(err, engine.ErrAborted) {
		t.Errorf("%v", err)
	}
	if _, err := Run(t, Load{Scenario: loads()["interrupted"].Scenario, Interrupt: -time.Millisecond}); !errors.Is(err, engine.ErrAborted) {
		t.Errorf("%v", err)
	}
}

// A window that is interrupted while no message is due for long ends at once.
func TestInterruptedBetweenMessages(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {delay: 5ms}}
workload: {rate: 3/min, producers: 2}
phases: {duration: 10m, warmup: 0s, drain: 10s}
`, Interrupt: 62 * time.Second})
	closed := time.Duration(r.Series[len(r.Series)-1].Start)
	if c := r.Counters; c.Scheduled != 4 || c.Received != 4 || closed > 63*time.Second {
		t.Errorf("the run was over after %v: %+v", closed, c)
	}
}

// Work takes exactly as long as the scenario says, one message after the other: a queue with one
// server and constant service, for which 1,500/s of 1 ms is too much.
func TestWorkIsExact(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {queue: 100000}}
workload: {rate: 1500/s, consumer: {work: 1ms}}
phases: {duration: 2s, warmup: 0s, drain: 5s}
`})
	// The n-th is due at n/1500 s and begins after the n before.
	h := r.Summary.Histograms[result.DeliveryResponse]
	n := int64(2999)
	if want := n*1_000_000 - n*1_000_000_000/1500; h.Count != 3000 || h.Max < want-1 || h.Max > want+1 || h.Min != 0 {
		t.Errorf("%+v, want max %d", h, want)
	}
}

// A consumer works on copies and on damaged messages as on any other: each load below delivers
// more than it can work on.
func TestWorkOnCopiesAndDamage(t *testing.T) {
	for _, tt := range []struct {
		fault, work string
		last        time.Duration // service time of the last of a hundred messages, one each 10 ms
	}{
		{"duplicate: 100", "6ms", 99 * 2 * time.Millisecond},
		{"corrupt: 50", "15ms", 99 * 5 * time.Millisecond},
	} {
		r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {` + tt.fault + `, every: 1}}
workload: {rate: 100/s, consumer: {work: ` + tt.work + `}}
phases: {duration: 1s, warmup: 0s, drain: 10s}
`})
		if x := r.Metrics[result.DeliveryService]; x.Max != int64(tt.last) {
			t.Errorf("%s: the last message took %v, want %v", tt.fault, time.Duration(x.Max), tt.last)
		}
	}
}

// Replies that come too late count if their request was due in the window.
func TestLateRepliesAreOfTheWindow(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {ack: broker, delay: 300ms, misreport: 1000, every: 1}}
workload: {pattern: request-reply, rate: 100/s}
phases: {duration: 1s, warmup: 0s, drain: 10s}
`})
	if c := r.Counters; c.Nacked != 100 || c.LateReplies != 100 {
		t.Errorf("%+v", c)
	}
}

// A send that is blocked over the end of the window is not counted as the generator's lag, though
// its length is known only later.
func TestBlockedOverTheEnd(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {driver: mem, options: {ack: broker, queue: 5, stall_after: 70, stall_for: 400ms}}
workload: {rate: 100/s}
phases: {duration: 1s, warmup: 0s, drain: 2s}
`})
	if s := r.Summary; s.Verdict.String() != "VALID" || s.Rate.Sent >= s.Rate.Due || s.Counters.NotSent != 0 {
		t.Errorf("%+v, %+v", s.Verdict, s.Rate)
	}
}

// If nothing waits when the window ends, bursts are no overload, whatever earlier readings were: in
// the end each burst is delivered at once.
func TestBurstsAreNoOverload(t *testing.T) {
	r := Verified(t, Load{Scenario: `
seed: 90
target: {driver: mem, options: {delay: 5.726321ms, jitter: 23.159007ms, duplicate: 5, reorder: 10, every: 1, seed: 214, after: 8}}
workload: {arrivals: 'burst:5@87.311299ms', consumers: 4, size: 81B}
phases: {warmup: 0s, duration: 4.313535481s, drain: 1.165690309s}
`})
	if v := r.Summary.Verdict; v.Status == result.Unstable {
		t.Errorf("%v: %+v", v, v.Reasons)
	}
}

// A load that takes no time, so that an instant would never end, is refused.
func TestWhatTakesNoTimeIsRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		"target: {driver: mem}\nworkload: {rate: max}\nphases: {duration: 1s}":                                                        true,
		"target: {driver: mem}\nworkload: {rate: max, messages: 10}":                                                                  true,
		"target: {driver: mem}\nworkload: {rate: max, messages: 10}\nphases: {warmup: 0s}":                                            false,
		"target: {driver: mem, options: {ack: broker, ack_delay: 1ms}}\nworkload: {rate: max}\nphases: {duration: 1s, warmup: 100ms}": false,
	} {
		s, err := Scenario(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := ends(s); errors.Is(err, errNothing) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}
