package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sixnines/scenario"
)

// Draw makes the scenario of a seed, as text, and says when somebody ends its window;
// 0: nobody does. Instants and delays are odd numbers of nanoseconds, so that no two
// things that may come in either order happen at one instant.
func Draw(seed uint64) (text string, interrupted time.Duration) {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 0x6d6f64656c))}
	d.target()
	d.workload()
	d.phases()
	d.objectives()
	base := d.text(1+d.IntN(1000), nil)
	if valid(d.text(1, d.wanted)) {
		return base + d.slo(d.wanted), d.interrupted
	}
	var wanted []string
	for _, o := range d.wanted { // only what makes sense for the load, and beside the others
		if more := append(slices.Clone(wanted), o); valid(d.text(1, more)) {
			wanted = more
		}
	}
	return base + d.slo(wanted), d.interrupted
}

// text is the scenario with some objectives.
func (d *drawing) text(seed int, wanted []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed: %d\n", seed)
	fmt.Fprintf(&b, "target: {driver: mem, options: {%s}}\n", strings.Join(d.options, ", "))
	fmt.Fprintf(&b, "workload: {%s}\n", strings.Join(d.load, ", "))
	fmt.Fprintf(&b, "phases: {%s}\n", strings.Join(d.lengths, ", "))
	fmt.Fprintf(&b, "record: {probe: off, digits: %d}\n", d.digits)
	return b.String() + d.slo(wanted)
}

// slo is the line of the objectives.
func (d *drawing) slo(wanted []string) string {
	if len(wanted) == 0 {
		return ""
	}
	return fmt.Sprintf("objectives: [%s]\n", strings.Join(wanted, ", "))
}

// valid reports whether the text is a scenario that can be run.
func valid(text string) bool {
	s, err := scenario.Parse("drawn.yaml", []byte(text))
	if err != nil {
		return false
	}
	s.Normalise()
	return s.Validate() == nil
}

// drawing is a scenario in the making.
type drawing struct {
	*rand.Rand
	acks, warm, small bool
	pattern           string
	perSecond         float64
	messages          int
	window            time.Duration
	interrupted       time.Duration
	digits            int

	options, load, lengths, wanted []string
}

// one is one of several words.
func (d *drawing) one(words ...string) string { return words[d.IntN(len(words))] }

// chance is true in so many of a hundred cases.
func (d *drawing) chance(percent int) bool { return d.IntN(100) < percent }

// time is a length between two, of an odd number of nanoseconds.
func (d *drawing) time(from, to time.Duration) time.Duration {
	return (from+time.Duration(d.Int64N(int64(to-from))))/2*2 + 1
}

// option adds an option of mem's.
func (d *drawing) option(format string, args ...any) {
	d.options = append(d.options, fmt.Sprintf(format, args...))
}

// has reports whether an option of mem's was drawn.
func (d *drawing) has(option string) bool {
	return slices.ContainsFunc(d.options, func(o string) bool { return strings.HasPrefix(o, option+":") })
}

// target draws the broker and its faults.
func (d *drawing) target() {
	d.messages = []int{30, 100, 400, 1200}[d.IntN(4)]*(50+d.IntN(100))/100 + 1
	d.acks = d.chance(50)
	if d.acks {
		d.option("ack: broker")
		if d.chance(60) {
			d.option("ack_delay: %v", d.time(time.Microsecond, 20*time.Millisecond))
		}
	}
	if d.small = d.chance(15); d.small {
		// Before the window a probe is sent each 5 ms until one comes: a second one would
		// take a place in the queue.
		d.option("queue: %d, delay: %v", 1+d.IntN(20), d.time(time.Microsecond, 4*time.Millisecond))
	} else if d.chance(80) {
		d.option("delay: %v", d.time(time.Microsecond, 40*time.Millisecond))
	}
	if d.chance(40) {
		d.option("jitter: %v", d.time(time.Microsecond, 30*time.Millisecond))
	}
	d.warm = d.chance(30)
	if d.chance(70) {
		d.faults()
	}
	if d.chance(10) {
		d.option("stall_after: %d", d.IntN(d.messages))
		if d.chance(25) && !d.small && !d.acks { // for longer than anybody waits
			d.option("stall_for: %v", d.time(time.Minute, time.Hour))
		} else {
			d.option("stall_for: %v", d.time(time.Millisecond, 500*time.Millisecond))
		}
	}
	if d.chance(10) {
		d.option("slow_after: %d", d.IntN(d.messages))
		d.option("slow_delay: %v", d.time(time.Millisecond, 100*time.Millisecond))
	}
}

// faults draws which messages are hit by what.
func (d *drawing) faults() {
	names := strings.Fields("lose duplicate reorder corrupt reject")
	if d.acks {
		names = append(names, "lose_acked", "nack", "misreport")
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:1+d.IntN(3)] {
		n := 1 + d.IntN(5)
		if d.chance(20) {
			n = 1 + d.IntN(d.messages)
		}
		d.option("%s: %d", name, n)
		if name == "duplicate" && d.chance(50) {
			d.option("mark_duplicates: true")
		}
		if name == "lose" && d.acks && d.chance(50) {
			d.option("give_up: %v", d.time(time.Millisecond, 200*time.Millisecond))
		}
	}
	d.option("every: %d", 1+d.IntN(20))
	d.option("seed: %d", 1+d.IntN(1000))
	if d.chance(30) {
		d.option("after: %d", d.IntN(d.messages))
	}
}

// workload draws the load.
func (d *drawing) workload() {
	d.pattern = d.one("deliver", "deliver", "deliver", "publish", "roundtrip", "request-reply")
	if d.pattern == "request-reply" && d.has("misreport") && d.has("stall_for") {
		d.pattern = "roundtrip" // refusal and reply come at one instant when the pause is over
	}
	add := func(format string, args ...any) { d.load = append(d.load, fmt.Sprintf(format, args...)) }
	add("pattern: %s", d.pattern)
	d.window, d.digits = d.time(300*time.Millisecond, 2*time.Second), 2
	if d.chance(15) { // a hundred intervals of three digits take most of the time
		d.window, d.digits = d.time(300*time.Millisecond, 8*time.Second), 3
	}
	d.perSecond = float64(d.messages) / d.window.Seconds()
	producers, arrivals := 1, d.IntN(6)
	if d.chance(40) && arrivals > 0 && !d.small { // of a burst nothing says whose message goes first
		producers = 1 + d.IntN(4)
	}
	if producers > 1 {
		add("producers: %d", producers)
	}
	switch arrivals {
	case 0:
		count, period := 1+d.IntN(10), d.time(10*time.Millisecond, 250*time.Millisecond)
		add("arrivals: 'burst:%d@%v'", count, period)
		d.messages = count * int(d.window/period+1)
	case 1, 2:
		add("rate: %d/%v, arrivals: poisson", d.messages, d.window)
	default:
		add("rate: %d/%v", d.messages, d.window)
	}
	switch d.pattern {
	case "deliver":
		consumers, topics := 1, 1
		if d.chance(50) {
			consumers = 1 + d.IntN(4)
			add("consumers: %d", consumers)
		}
		if d.chance(30) {
			topics = 1 + d.IntN(min(4, consumers))
			add("topics: %d", topics)
		}
		if d.chance(30) {
			add("groups: %d", 1+d.IntN(consumers))
		}
	}
	if d.pattern == "request-reply" && d.chance(50) {
		add("consumers: %d", 1+d.IntN(4))
	}
	add("size: %dB", 33+d.IntN(200))
	if d.pattern != "publish" && d.chance(30) {
		gap := time.Duration(float64(time.Second) / d.perSecond)
		add("consumer: {work: %v}", d.time(gap/10, gap*6/5))
	}
}

// phases draws how long it lasts.
func (d *drawing) phases() {
	warmup := time.Duration(0)
	if d.warm {
		warmup = d.time(10*time.Millisecond, 300*time.Millisecond)
	}
	d.lengths = append(d.lengths, fmt.Sprintf("warmup: %v", warmup), fmt.Sprintf("duration: %v", d.window),
		fmt.Sprintf("drain: %v", d.time(300*time.Millisecond, 2*time.Second)))
	// The load after a window that was interrupted comes some milliseconds late, and with it
	// what overtakes a message that was held back.
	if d.chance(15) && !d.has("reorder") {
		d.interrupted = d.time(d.window/10, d.window)
	}
}

// objectives draws what the run must show.
func (d *drawing) objectives() {
	metrics := []string{"lag.blocked"}
	switch d.pattern {
	case "deliver":
		metrics = append(metrics, "delivery.response", "delivery.service")
	case "roundtrip", "request-reply":
		metrics = append(metrics, "roundtrip.response", "roundtrip.service")
	}
	if d.acks {
		metrics = append(metrics, "publish.response", "publish.service")
	}
	figures := []string{"max"}
	for _, p := range percentiles() {
		if d.messages > 2*int(leastSamples(decimal(p))) {
			figures = append(figures, "p"+p)
		}
	}
	for range d.IntN(4) {
		d.wanted = append(d.wanted, fmt.Sprintf("%s %s %s %v", metrics[d.IntN(len(metrics))],
			figures[d.IntN(len(figures))], d.one("<", "<="), d.time(time.Millisecond, 80*time.Millisecond)))
	}
	for range d.IntN(4) {
		d.wanted = append(d.wanted, fmt.Sprintf("%s %s %d", d.one("lost", "duplicated", "corrupted", "rejected", "nacked", "reordered", "lost_acked", "unknown"),
			d.one("==", "<="), []int{0, 0, 0, 1, 5}[d.IntN(5)]))
	}
	if d.chance(20) {
		d.wanted = append(d.wanted, "rate >= 99.9%")
	}
	if d.chance(20) {
		d.wanted = append(d.wanted, "worst_second >= 95%")
	}
	if d.chance(20) {
		d.wanted = append(d.wanted, fmt.Sprintf("availability > %d%%", 80+d.IntN(20)))
	}
}
