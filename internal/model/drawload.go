package model

import (
	"fmt"
	"strings"
	"time"
)

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
