package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// trouble draws connections that are lost, from a stream of its own: what else is drawn of
// a seed stays.
func (d *drawing) trouble(seed uint64) {
	was := d.Rand
	d.Rand = rand.New(rand.NewPCG(seed, 0x74726f75626c65))
	defer func() { d.Rand = was }()
	outage := d.chance(12)
	if d.chance(10) {
		d.timeout()
	}
	if outage {
		d.outage()
	}
}

// timeout draws a time limit that answers miss, and perhaps a wait that is shorter still.
func (d *drawing) timeout() {
	if !d.alone || d.kind == backlogs || d.kind == closed && d.small {
		return
	}
	limit := d.time(5*time.Millisecond, []time.Duration{30, 300}[d.IntN(2)]*time.Millisecond)
	for i := range d.loads {
		l := &d.loads[i]
		// Of several connections whose places come free at one instant nothing says which sends
		// first, and whose send is whose of several loads is not noted.
		if at := l.field(drawnTimeout); at >= 0 && (d.kind == several || l.producers > 1 && l.field("connections: {producers: 1}") < 0) {
			continue
		} else if text := fmt.Sprintf("timeout: %v", limit); at >= 0 {
			l.fields[at] = strings.Replace(l.fields[at], drawnTimeout, text, 1)
		} else {
			l.fields = append(l.fields, text)
		}
	}
	// Whether a consumer that is still paused gets what waits for it when it is to leave, nothing says.
	if last := len(d.lengths) - 1; d.chance(30) && d.kind != paused {
		d.lengths[last] = fmt.Sprintf("drain: %v", d.time(limit/4, limit))
	}
}

// field is the place of the first field that has a text in it; below 0: none has.
func (l *drawnLoad) field(text string) int {
	return slices.IndexFunc(l.fields, func(f string) bool { return strings.Contains(f, text) })
}

// outage draws whose connections are lost, when, and for how long.
func (d *drawing) outage() {
	// Loops that have nothing in common would be cut at one instant, what waits for consumers
	// that come late is at the broker, and a flood with a limit in flight sends the next message
	// at the very instant at which several come.
	if !d.alone || d.kind == backlogs || d.kind == flatOut && d.loads[0].field("in_flight") >= 0 {
		return
	}
	// Where messages wait for places, so may the one with which connections are cut, which is
	// then sent at an instant at which nothing else may come.
	if l := &d.loads[0]; d.kind == limited && (d.small || d.has("stall_for") || d.has("jitter") || l.field("consumers: ") >= 0 || l.field("burst:") >= 0 || l.field(drawnTimeout) < 0) {
		return
	}
	// Of several messages that a loop waits for each is sent a think time after an answer or a
	// refusal: where answers all take equally long, one is sent at the instant of another's.
	if slices.ContainsFunc(d.loads, func(l drawnLoad) bool { return l.field("outstanding: ") >= 0 }) && !d.has("jitter") {
		return
	}
	whose := d.one("all", "producers", "consumers")
	// What is sent, delivered and answered at the instant of the loss is lost, or is not.
	for _, takes := range []string{"delay", "ack_delay"} {
		if d.length(takes) == 0 && (d.acks || takes == "delay") {
			d.option("%s: %v", takes, d.time(time.Microsecond, 20*time.Millisecond))
		}
	}
	d.option("disconnect: %s, disconnect_after: %d, disconnect_for: %v", whose, d.IntN(d.messages), d.time(time.Millisecond, 500*time.Millisecond))
	if d.chance(40) {
		d.option("disconnect_every: %d", 1+d.IntN(d.messages/2))
	}
}
