package model

import (
	"maps"
	"slices"
	"testing"
	"time"

	"sixnines/scenario"
)

// parse returns a normalised scenario.
func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// predict returns what the model says of a scenario with one load.
func predict(t *testing.T, text string, interrupted time.Duration) *Outcome {
	t.Helper()
	all, err := Predict(parse(t, text), []Moments{{Interrupted: int64(interrupted)}})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// Every scenario that is drawn can be run.
func TestWhatIsDrawnCanBeRun(t *testing.T) {
	for seed := range uint64(300) {
		text, _ := Draw(seed, int(seed%2)*100)
		s, err := scenario.Parse("drawn.yaml", []byte(text))
		if err == nil {
			s.Normalise()
			if err = s.Validate(); err == nil {
				_, err = Predict(s, nil)
			}
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
	}
}

// Ten messages, one each 100 ms, of which the second is lost, the fourth doubled, the
// sixth overtaken and the eighth refused: computed by hand.
func TestByHand(t *testing.T) {
	const ms = int64(time.Millisecond)
	text := func(faults string) string {
		return `
target: {driver: mem, options: {ack: broker, ack_delay: 3ms, delay: 5ms, every: 1, ` + faults + `}}
workload: {rate: 10/s, consumers: 2}
phases: {warmup: 0s, duration: 1s, drain: 500ms}
`
	}
	for _, tt := range []struct {
		name, faults string
		counters     map[string]int64
		response     []int64 // of deliveries
		bounds       []int64
		refused      int64
		published    []int64
		last         []int64
	}{
		{"nothing", "", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 20},
			repeat(20, 5*ms), nil, 0, repeat(10, 3*ms), repeat(10, 5*ms)},
		{"lost", "lose: 1, after: 1", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 9, "unknown": 1, "expected": 20, "received": 18,
			"missing": 2, "missing_unknown": 2, "censored": 3}, repeat(18, 5*ms), []int64{1400 * ms, 1400 * ms}, 0, repeat(9, 3*ms), repeat(9, 5*ms)},
		{"lost although acknowledged", "lose_acked: 1, after: 1", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 18,
			"missing": 2, "lost_acked": 2, "censored": 2}, repeat(18, 5*ms), []int64{1400 * ms, 1400 * ms}, 0, repeat(10, 3*ms), repeat(9, 5*ms)},
		{"doubled", "duplicate: 1, after: 3", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 20, "duplicated": 2},
			repeat(20, 5*ms), nil, 0, repeat(10, 3*ms), repeat(10, 5*ms)},
		{"overtaken", "reorder: 1, after: 5", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 20, "reordered": 2},
			append(repeat(18, 5*ms), 105*ms, 105*ms), nil, 0, repeat(10, 3*ms), append(repeat(9, 5*ms), 105*ms)},
		{"refused", "nack: 1, after: 7", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 9, "nacked": 1, "expected": 20, "received": 18,
			"missing": 2, "missing_nacked": 2}, repeat(18, 5*ms), nil, 2, repeat(9, 3*ms), repeat(9, 5*ms)},
		{"refused by the client", "reject: 1, after: 7", map[string]int64{"scheduled": 10, "taken": 10, "rejected": 1, "sent": 9, "acked": 9, "expected": 18, "received": 18},
			repeat(18, 5*ms), nil, 2, repeat(9, 3*ms), repeat(9, 5*ms)},
		{"damaged", "corrupt: 1", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 18, "corrupted": 2, "censored": 2},
			repeat(18, 5*ms), []int64{1000 * ms, 1000 * ms}, 0, repeat(10, 3*ms), repeat(9, 5*ms)},
		{"damaged and whole", "damage_twin: 1", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 20, "corrupted_copies": 2, "duplicated": 2},
			repeat(20, 5*ms), nil, 0, repeat(10, 3*ms), repeat(10, 5*ms)},
		{"stalled", "stall_after: 8, stall_for: 150ms", map[string]int64{"scheduled": 10, "taken": 10, "sent": 10, "acked": 10, "expected": 20, "received": 20},
			append(repeat(16, 5*ms), 50*ms, 50*ms, 150*ms, 150*ms), nil, 0, append(repeat(8, 3*ms), 50*ms, 150*ms), append(repeat(8, 5*ms), 50*ms, 150*ms)},
	} {
		o := predict(t, text(tt.faults), 0)
		for name, n := range o.Counters {
			if n == 0 {
				delete(o.Counters, name)
			}
		}
		if !maps.Equal(o.Counters, tt.counters) {
			t.Errorf("%s: accounts %v, want %v", tt.name, o.Counters, tt.counters)
		}
		response := o.Latencies["delivery.response"]
		if !slices.Equal(response.Values, tt.response) || !slices.Equal(response.Bounds, tt.bounds) || response.Refused != tt.refused {
			t.Errorf("%s: deliveries %v, at least %v, %d refused", tt.name, response.Values, response.Bounds, response.Refused)
		}
		if got := o.Latencies["publish.response"].Values; !slices.Equal(got, tt.published) {
			t.Errorf("%s: acknowledgements %v", tt.name, got)
		}
		if got := o.Latencies["delivery.last"].Values; !slices.Equal(got, tt.last) {
			t.Errorf("%s: last deliveries %v", tt.name, got)
		}
	}
}

func repeat(n int, v int64) []int64 { return slices.Repeat([]int64{v}, n) }

// Work that takes longer than messages come makes a queue, and a queue that is full
// blocks the sender.
func TestAQueueByHand(t *testing.T) {
	const ms = int64(time.Millisecond)
	o := predict(t, `
target: {driver: mem, options: {queue: 2}}
workload: {rate: 10/s, consumer: {work: 250ms}}
phases: {warmup: 0s, duration: 600ms, drain: 5s}
`, 0)
	// Message n is taken at 250·n ms. Of the six due at 0 to 500 ms one is worked on and two
	// wait: the fifth has a place at 500 ms, when the third is taken, and the sixth at 750 ms.
	if got, want := o.Latencies["delivery.response"].Values, []int64{0, 150 * ms, 300 * ms, 450 * ms, 600 * ms, 750 * ms}; !slices.Equal(got, want) {
		t.Errorf("deliveries %v, want %v", got, want)
	}
	if got, want := o.Latencies["lag.blocked"].Values, repeat(6, 0); !slices.Equal(got[:5], want[:5]) {
		t.Errorf("blocked %v", got)
	}
}

// What is sent flat out ends its window when the last message is sent, however long a pause
// of the broker has blocked that: of four messages at once one is waited for and two wait
// for it, and the fourth has a place when the pause is over.
func TestFlatOutThroughAPauseByHand(t *testing.T) {
	const ms = int64(time.Millisecond)
	o := predict(t, `
target: {driver: mem, options: {queue: 2, delay: 1ms, stall_after: 1, stall_for: 100ms}}
workload: {rate: max, messages: 4}
phases: {warmup: 0s, drain: 1s}
`, 0)
	if o.End != 100*ms+1 || o.Counters["received"] != 4 {
		t.Errorf("the window ends at %d: %v", o.End, o.Counters)
	}
}

// Consumers leave one after the other, each with the work on its message done, and what comes
// to the others meanwhile counts: message 4 comes at 600 ms, when clients have been told to
// leave at 520 ms and the first consumer works until 700 ms on message 3, which came at 400 ms.
func TestLeavingByHand(t *testing.T) {
	o := predict(t, `
target: {driver: mem}
workload: {rate: 10/s, consumers: 2, groups: 1, consumer: {work: 300ms}}
phases: {warmup: 0s, duration: 500ms, drain: 20ms}
`, 0)
	if o.Resolved != 520*int64(time.Millisecond) || o.Counters["received"] != 5 {
		t.Errorf("clients leave at %d: %v", o.Resolved, o.Counters)
	}
}

// In a closed loop a send that the broker blocks makes those behind it late, and that lag is
// all own: of four messages at once the third waits for its place in the queue for 100 ms, and
// the fourth is sent then.
func TestAClosedLoopLagsByItself(t *testing.T) {
	const ms = int64(time.Millisecond)
	o := predict(t, `
target: {driver: mem, options: {queue: 1, delay: 100ms}}
workload: {loop: closed, think: 5ms, outstanding: 4}
phases: {warmup: 0s, duration: 80ms, drain: 1s}
`, 0)
	if got, want := o.Latencies["lag.own"].Values, []int64{0, 0, 0, 100 * ms}; !slices.Equal(got, want) {
		t.Errorf("own lag %v, want %v", got, want)
	}
}

// Percentiles and their intervals, from tables.
func TestFiguresByHand(t *testing.T) {
	x := &Latency{Metric: "publish.response"}
	for v := range int64(100) {
		x.add(100 - v)
	}
	x.finish(x.total())
	for p, want := range map[string]Figure{"50": {Value: 50}, "90": {Value: 90}, "95": {Needs: 72}, "99": {Needs: 368}, "99.9": {Needs: 3688}} {
		if p == "95" {
			want = Figure{Value: 95}
		}
		if got := x.percentile(p); got != want {
			t.Errorf("p%s is %+v, want %+v", p, got, want)
		}
	}
	// Hahn and Meeker, table A.15a: of 100 values [40, 61] holds the median with 95 %.
	if low, high, ok := x.span("50"); !ok || low.Value != 40 || high.Value != 61 {
		t.Errorf("the median lies in %d to %d", low.Value, high.Value)
	}
	x = &Latency{Metric: "publish.response"}
	for v := range int64(10) {
		x.add(v)
	}
	x.bound(3)
	x.bound(20)
	x.refuse()
	x.finish(x.total())
	for r, want := range map[int64]Figure{5: {Value: 4}, 10: {Value: 9}, 11: {Value: 9, AtLeast: true}, 12: {Value: 20, AtLeast: true}, 13: {Value: 20, AtLeast: true, Refused: true}} {
		if got := x.rank(r); got != want {
			t.Errorf("rank %d is %+v, want %+v", r, got, want)
		}
	}
}

// Waits that are remembered one by one, and two by two where they are many: of 1,025 of 10 µs,
// one each 100 µs, the first two become one, of whose 110 µs 20 were waited.
func TestManyWaitsByHand(t *testing.T) {
	var w waits
	for i := range int64(1024) {
		w.add(100_000*i, 100_000*i+10_000)
	}
	if got := w.since(5_000); got != 5_000+1023*10_000 {
		t.Errorf("1,024 waits, half of the first over: %d", got)
	}
	w.add(102_400_000, 102_410_000)
	if got := w.since(55_000); got != 10_000+1023*10_000 {
		t.Errorf("1,025 waits, half of the first two over: %d", got)
	}
}
