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

// workload draws a load.
func (d *drawing) workload(which int) {
	l := &drawnLoad{window: d.window, messages: d.messages, producers: 1}
	defer func() { d.loads = append(d.loads, *l) }()
	l.pattern = d.one("deliver", "deliver", "deliver", "publish", "roundtrip", "request-reply")
	if l.pattern == "request-reply" && d.has("misreport") && d.has("stall_for") {
		l.pattern = "roundtrip" // else refusal and reply come at the same instant when the pause ends
	}
	if d.kind == backlogs || d.kind == paused || l.pattern == "publish" && !d.acks && (d.kind == closed || d.kind == limited || d.kind == flatOut) {
		l.pattern = "deliver"
	}
	l.add("pattern: %s", l.pattern)
	if d.kind == several {
		l.messages = l.messages/2 + 1
		if which > 0 && d.chance(60) {
			from := d.time(time.Millisecond, d.window*2/3)
			l.add("from: %v", from)
			l.window -= from
			d.latest = max(d.latest, from)
		}
		if d.chance(40) {
			l.window = d.time(l.window/3, l.window)
			l.add("for: %v", l.window)
		}
	}
	size := 33 + d.IntN(200)
	l.add("size: %dB", size)
	switch {
	case d.kind == closed || d.kind == several && which == 0 && d.chance(25) && (l.pattern != "publish" || d.acks):
		d.closedLoop(l)
	case d.kind == flatOut:
		d.flatOut(l)
	default:
		d.schedule(l)
		if d.kind == limited {
			d.limits(l, size)
		}
	}
	if d.alone {
		d.receivers(l)
	}
	d.consumers(l)
}

// schedule draws when messages are due, and which producers send them.
func (d *drawing) schedule(l *drawnLoad) {
	arrivals := d.IntN(10)
	if d.chance(40) && arrivals > 0 && !d.small { // not for a burst: the order of its producers is undefined
		l.producers = 1 + d.IntN(4)
		l.add("producers: %d", l.producers)
		if d.chance(30) && d.kind != limited {
			l.add("connections: {producers: %d}", 1+d.IntN(l.producers))
		}
	}
	// If several connections wait for places in one queue, their order is undefined, and the first one that waits has the
	// thread of the others for a time.
	if l.producers > 1 && (d.has("stall_for") || d.kind == paused) && !d.has("queue") {
		d.option("queue: 5000")
	}
	rate := func(of float64) string { return fmt.Sprintf("%d/%v", 1+int(of*float64(l.messages)), l.window) }
	random := ""
	if d.chance(30) {
		random = ",random"
	}
	switch arrivals {
	case 0:
		count, period := 1+d.IntN(10), d.time(10*time.Millisecond, 250*time.Millisecond)
		l.add("arrivals: 'burst:%d@%v'", count, period)
		l.messages = count * int(l.window/period+1)
	case 1, 2, 3:
		l.add("rate: %s, arrivals: poisson", rate(1))
	case 4:
		var steps []string
		n := 2 + d.IntN(3)
		left := l.window
		for i := range n {
			length := left
			if i < n-1 {
				length = d.time(l.window/time.Duration(3*n), l.window/time.Duration(n))
			}
			left -= length
			steps = append(steps, fmt.Sprintf("%s@%v", rate(0.3+1.4*d.Float64()), length))
		}
		l.add("arrivals: 'step:%s%s'", strings.Join(steps, ","), random)
	case 5:
		l.add("arrivals: 'ramp:%s..%s%s'", rate(2*d.Float64()), rate(2*d.Float64()), random)
	case 6:
		l.add("rate: %s, arrivals: 'sine:%d%%@%v%s'", rate(1), 10+d.IntN(81), d.time(l.window/5, l.window*2), random)
	default:
		l.add("rate: %s", rate(1))
	}
}

// drawnTimeout is longer than any run, so that a message without an answer keeps its place in
// flight.
const drawnTimeout = "timeout: 10m"

// limits draws how many messages may be in flight. If several connections could get a place at
// the same instant, from one consumer or when a pause ends, their order is undefined, so the
// load gets only one connection.
func (d *drawing) limits(l *drawnLoad, size int) {
	l.add(drawnTimeout)
	each := d.chance(30)
	switch byAck := d.acks && l.pattern != "request-reply" && (l.pattern != "roundtrip" || !each); {
	case l.producers > 1 && (!byAck || d.has("stall_for")):
		l.add("connections: {producers: 1}")
		each = false
	case !each && d.chance(30):
		l.add("connections: {producers: %d}", 1+d.IntN(l.producers))
	}
	switch {
	case each:
		l.add("in_flight: {each: %d}", 1+d.IntN(4))
	case d.chance(50):
		l.add("in_flight: {messages: %d}", 1+d.IntN(20))
	default:
		l.add("in_flight: {messages: 1000, bytes: %dB}", size*(1+d.IntN(20)))
	}
}

// closedLoop draws a load that waits for answers. A round must take some time, or it would never
// end.
func (d *drawing) closedLoop(l *drawnLoad) {
	l.add("loop: closed, %s, think: %v", drawnTimeout, d.time(l.window/300, l.window/10))
	if d.chance(50) {
		l.add("outstanding: %d", 1+d.IntN(6))
	}
	d.apart(l)
}

// flatOut draws a load that sends as fast as it can: a number of messages, or for a time with a
// limit of messages in flight.
func (d *drawing) flatOut(l *drawnLoad) {
	answer := "delay"
	if d.acks && l.pattern != "request-reply" {
		answer = "ack_delay"
	}
	if d.chance(50) && d.length(answer) == 0 {
		d.option("%s: %v", answer, d.time(l.window/300, l.window/30))
	}
	// Whether a message that is sent and answered at the instant at which the broker pauses comes
	// before the pause is undefined.
	for _, slow := range []string{"delay", "ack_delay"} {
		if d.has("stall_for") && d.length(slow) == 0 && (d.acks || slow == "delay") {
			d.option("%s: %v", slow, d.time(time.Millisecond, 20*time.Millisecond))
		}
	}
	if slow := d.length(answer); slow > l.window/300 {
		l.add("rate: max, %s, in_flight: {messages: %d}", drawnTimeout, 1+d.IntN(8))
		d.apart(l)
		return
	}
	l.add("rate: max, messages: %d", l.messages)
	l.window = 0
	if d.chance(40) {
		places := 1 + d.IntN(200)
		if d.has("every") { // a lost message may keep its place for ever
			places += l.messages
		}
		l.add("%s, in_flight: {messages: %d}", drawnTimeout, places)
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
