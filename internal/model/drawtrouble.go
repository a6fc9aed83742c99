package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// trouble draws lost connections, from a random stream of its own, so that everything else
// drawn from a seed stays the same.
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
	if d.chance(15) && d.kind == single && !d.acting && d.alone && d.loads[0].pattern != "request-reply" {
		d.option("damage_twin: %d", 1+d.IntN(5))
	}
}

// timeout draws a time limit that answers exceed, and sometimes an even shorter drain.
func (d *drawing) timeout() {
	if !d.alone || d.kind == backlogs || d.kind == closed && d.small {
		return
	}
	limit := d.time(5*time.Millisecond, []time.Duration{30, 300}[d.IntN(2)]*time.Millisecond)
	for i := range d.loads {
		l := &d.loads[i]
		// If places of several connections become free at the same instant, the order of their
		// sends is undefined; and sends of several loads are not recorded separately.
		if at := l.field(drawnTimeout); at >= 0 && (d.kind == several || l.producers > 1 && l.field("connections: {producers: 1}") < 0) {
			continue
		} else if text := fmt.Sprintf("timeout: %v", limit); at >= 0 {
			l.fields[at] = strings.Replace(l.fields[at], drawnTimeout, text, 1)
		} else {
			l.fields = append(l.fields, text)
		}
	}
	// Whether a consumer that is still paused when it is closed gets the waiting messages is undefined.
	if last := len(d.lengths) - 1; d.chance(30) && d.kind != paused {
		d.lengths[last] = fmt.Sprintf("drain: %v", d.time(limit/4, limit))
	}
}

// field returns the index of the first field that contains a text; below 0 if none does.
func (l *drawnLoad) field(text string) int {
	return slices.IndexFunc(l.fields, func(f string) bool { return strings.Contains(f, text) })
}

// outage draws which connections are lost, when, and for how long.
func (d *drawing) outage() {
	// Not drawn: independent loops would be cut at the same instant; a backlog for late
	// consumers is at the broker; an unpaced load with an in-flight limit sends the next message
	// at the very instant at which several answers come.
	if !d.alone || d.kind == backlogs || d.kind == flatOut && d.loads[0].field("in_flight") >= 0 {
		return
	}
	// Nor if messages wait for places in flight: the message that cuts the connections may wait
	// too, and would then be sent at the instant of another event.
	if l := &d.loads[0]; d.kind == limited && (d.small || d.has("stall_for") || d.has("jitter") || l.field("consumers: ") >= 0 || l.field("burst:") >= 0 || l.field(drawnTimeout) < 0) {
		return
	}
	// Nor if a loop waits for several messages and all answers take equally long: each message is
	// sent a think time after an answer or a refusal, so one is sent at the instant of another.
	if slices.ContainsFunc(d.loads, func(l drawnLoad) bool { return l.field("outstanding: ") >= 0 }) && !d.has("jitter") {
		return
	}
	whose := d.one("all", "producers", "consumers")
	// Whether a message that is sent, delivered and answered at the instant of the loss is lost
	// is undefined.
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
