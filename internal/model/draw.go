package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sixnines/scenario"
)

// Draw returns the random scenario of a seed, as text, and when its window is interrupted; 0:
// it is not. Of a hundred scenarios, acting have actions. Instants and delays are odd numbers of nanoseconds, so that no two events whose
// order is not defined happen at the same instant.
func Draw(seed uint64, acting int) (text string, interrupted time.Duration) {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 0x6d6f64656c))}
	d.kind = drawnKind()[d.IntN(len(drawnKind()))]
	d.window, d.digits = d.time(300*time.Millisecond, 2*time.Second), 2
	if d.chance(15) { // seldom: a hundred intervals of three digits take most of the test's time
		d.window, d.digits = d.time(300*time.Millisecond, 6*time.Second), 3
	}
	if d.acting = rand.New(rand.NewPCG(seed, 0x616374696e67)).IntN(100) < acting; d.levels() {
		d.window += 2500 * time.Millisecond
	}
	d.target()
	n := 1
	if d.kind == several {
		n = 2 + d.IntN(2)
	}
	for i := range n {
		d.workload(i)
	}
	d.phases()
	for i := range d.loads {
		d.objectives(&d.loads[i])
	}
	d.seed = 1 + d.IntN(1000)
	d.trouble(seed)
	d.actions(seed)
	if valid(d.text()) {
		return d.text(), d.interrupted
	}
	all := d.acts
	for d.acts = nil; len(all) > 0; all = all[1:] { // keep only actions that are valid beside those before
		if d.acts = append(d.acts, all[0]); !valid(d.text()) {
			d.acts = d.acts[:len(d.acts)-1]
		}
	}
	if valid(d.text()) {
		return d.text(), d.interrupted
	}
	for i := range d.loads { // keep only objectives that are valid for the load
		d.loads[i].taken = nil
	}
	for i := range d.loads {
		l := &d.loads[i]
		for _, o := range l.wanted {
			before := l.taken
			if l.taken = append(slices.Clone(before), o); !valid(d.text()) {
				l.taken = before
			}
		}
	}
	return d.text(), d.interrupted
}

// The kinds of scenarios.
const (
	single   = "open loop"
	several  = "several workloads"
	closed   = "closed loop"
	flatOut  = "flat out"
	backlogs = "late consumers"
	paused   = "paused consumers"
	limited  = "limits in flight"
)

// drawnKind lists the kinds, each as often as its weight in the draw.
func drawnKind() []string {
	return []string{single, single, single, single, single, limited, limited, limited, several, several, closed, closed, flatOut, flatOut, backlogs, paused}
}

// text returns the scenario with the chosen objectives.
func (d *drawing) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed: %d\n", d.seed)
	nodes := ""
	if len(d.acts) > 0 {
		nodes = "nodes: 3, "
	}
	fmt.Fprintf(&b, "target: {driver: mem, %soptions: {%s}}\n", nodes, strings.Join(d.options, ", "))
	slo := func(all []string) string { return fmt.Sprintf("objectives: [%s]", strings.Join(all, ", ")) }
	if len(d.loads) == 1 {
		fmt.Fprintf(&b, "workload: {%s}\n", strings.Join(d.loads[0].fields, ", "))
		if len(d.loads[0].taken) > 0 {
			fmt.Fprintln(&b, slo(d.loads[0].taken))
		}
	} else {
		fmt.Fprintln(&b, "workloads:")
		for i, l := range d.loads {
			fmt.Fprintf(&b, "  %c: {%s}\n", 'a'+i, strings.Join(append(slices.Clone(l.fields), slo(l.taken)), ", "))
		}
	}
	fmt.Fprintf(&b, "phases: {%s}\n", strings.Join(d.lengths, ", "))
	if len(d.acts) > 0 {
		fmt.Fprintf(&b, "actions: [%s]\n", strings.Join(d.acts, ", "))
	}
	fmt.Fprintf(&b, "record: {probe: off, digits: %d}\n", d.digits)
	return b.String()
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

// drawing is a scenario under construction.
type drawing struct {
	*rand.Rand
	kind              string
	acks, warm, small bool
	alone             bool // at most one producer if the load has no schedule
	messages          int
	window            time.Duration
	latest            time.Duration // when the last load begins
	interrupted       time.Duration
	digits, seed      int

	options, lengths []string
	acts             []string // actions of the run
	acting           bool     // it is to have some
	loads            []drawnLoad
}

// drawnLoad is a load under construction.
type drawnLoad struct {
	pattern               string
	messages              int
	window                time.Duration
	producers             int
	alone                 bool // the load has one consumer
	members               int  // size of the largest group
	fields, wanted, taken []string
}

// add adds a field.
func (l *drawnLoad) add(format string, args ...any) {
	l.fields = append(l.fields, fmt.Sprintf(format, args...))
}

// one returns one of several words at random.
func (d *drawing) one(words ...string) string { return words[d.IntN(len(words))] }

// chance is true with the given probability in per cent.
func (d *drawing) chance(percent int) bool { return d.IntN(100) < percent }

// time returns a random duration between two, of an odd number of nanoseconds.
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
	if d.levels() {
		d.messages += 1200
	}
	d.acks = d.chance(50)
	if d.acks {
		d.option("ack: broker")
		if d.chance(60) {
			d.option("ack_delay: %v", d.time(time.Microsecond, 20*time.Millisecond))
		}
	}
	// Loops of several producers begin at the same instant in an undefined order, so they must
	// not share a topic or a consumer.
	d.alone = d.kind != closed && d.kind != flatOut || d.chance(60)
	if d.small = d.chance(15) && d.kind != backlogs && d.kind != several; d.small {
		// Before the window a readiness message is sent every 5 ms until one comes; with a longer
		// delay a second one would take a place in the queue.
		d.option("queue: %d, delay: %v", 1+d.IntN(20), d.time(time.Microsecond, 4*time.Millisecond))
	} else if d.chance(80) {
		d.option("delay: %v", d.time(time.Microsecond, 40*time.Millisecond))
	}
	if d.chance(40) {
		d.option("jitter: %v", d.time(time.Microsecond, 30*time.Millisecond))
	}
	d.warm = d.chance(30)
	// These loads need long queues: messages wait for consumers, or are sent at one instant
	// while readiness messages from before the window are still in flight.
	if d.kind == backlogs || d.kind == flatOut && !d.small {
		d.option("queue: 5000")
	}
	if !d.alone {
		return
	}
	if d.chance(70) {
		d.faults()
	}
	if d.chance(10) && d.kind != several {
		d.option("stall_after: %d", d.IntN(d.messages))
		if d.chance(25) && !d.small && !d.acks { // longer than any wait of the run
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

// levels reports whether the load must be long enough for the latency before an action to be known.
func (d *drawing) levels() bool { return d.acting && (d.kind == single || d.kind == paused) }

// faults draws which messages have which faults.
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

// apart gives a load without a schedule several producers, each with a topic and a consumer
// of its own.
func (d *drawing) apart(l *drawnLoad) {
	if d.alone || d.kind == several || l.pattern == "request-reply" { // responders serve all producers
		return
	}
	l.producers = 2 + d.IntN(3)
	l.add("producers: %d, topics: %d", l.producers, l.producers)
	if l.pattern != "publish" {
		l.add("consumers: %d", l.producers)
	}
}

// length is the value of an option that is a duration, 0 if it was not drawn.
func (d *drawing) length(option string) (v time.Duration) {
	for _, all := range d.options {
		for o := range strings.SplitSeq(all, ", ") {
			if text, ok := strings.CutPrefix(o, option+": "); ok {
				v, _ = time.ParseDuration(text)
			}
		}
	}
	return v
}

// phases draws the lengths of the phases.
func (d *drawing) phases() {
	warmup := time.Duration(0)
	if d.warm && d.kind != backlogs && (d.kind != flatOut || d.loads[0].window > 0) {
		warmup = d.time(10*time.Millisecond, 300*time.Millisecond)
	}
	d.lengths = append(d.lengths, fmt.Sprintf("warmup: %v", warmup))
	if d.kind != flatOut || d.loads[0].window > 0 {
		d.lengths = append(d.lengths, fmt.Sprintf("duration: %v", d.window))
	}
	d.lengths = append(d.lengths, fmt.Sprintf("drain: %v", d.time(300*time.Millisecond, 2*time.Second)))
	// After an interrupted window the load goes on some milliseconds late, and so does the
	// message that overtakes a held-back one: no interruption with reorder.
	if d.chance(15) && !d.has("reorder") && d.kind != flatOut && d.kind != backlogs {
		d.interrupted = d.time(max(d.window/10, d.latest), d.window)
	}
}

// objectives draws the objectives of the scenario.
func (d *drawing) objectives(l *drawnLoad) {
	metrics := []string{"lag.blocked"}
	switch l.pattern {
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
		if l.messages > 2*int(leastSamples(decimal(p))) {
			figures = append(figures, "p"+p)
		}
	}
	for range d.IntN(4) {
		l.wanted = append(l.wanted, fmt.Sprintf("%s %s %s %v", metrics[d.IntN(len(metrics))],
			figures[d.IntN(len(figures))], d.one("<", "<="), d.time(time.Millisecond, 80*time.Millisecond)))
	}
	for range d.IntN(4) {
		l.wanted = append(l.wanted, fmt.Sprintf("%s %s %d", d.one("lost", "duplicated", "corrupted", "rejected", "nacked", "reordered", "lost_acked", "unknown"),
			d.one("==", "<="), []int{0, 0, 0, 1, 5}[d.IntN(5)]))
	}
	if d.chance(20) {
		l.wanted = append(l.wanted, "rate >= 99.9%")
	}
	if d.chance(20) {
		l.wanted = append(l.wanted, "worst_second >= 95%")
	}
	if d.chance(20) {
		l.wanted = append(l.wanted, fmt.Sprintf("availability > %d%%", 80+d.IntN(20)))
	}
	l.taken = l.wanted
}
