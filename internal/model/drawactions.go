package model

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// actions draws what happens in the window by plan, from a random stream of its own, so that everything else drawn from a
// seed stays the same. The broker is stalled at most once and by nothing else. All other acts do nothing in the broker by
// themselves: they happen beside its faults, which are known.
func (d *drawing) actions(seed uint64) {
	was := d.Rand
	d.Rand = rand.New(rand.NewPCG(seed, 0x616374696f6e73))
	defer func() { d.Rand = was }()
	if !d.acting || !d.alone || d.interrupted > 0 || d.kind == backlogs || d.kind == flatOut && d.loads[0].window == 0 {
		return
	}
	at := func() time.Duration { return d.time(d.window/3, d.window*9/10) }
	stalls := d.kind == single && !d.small && !d.has("stall_for") && !d.has("disconnect")
	if stalls && d.chance(60) {
		// If several connections wait for places in one queue, their order is undefined.
		if d.loads[0].producers > 1 && !d.has("queue") {
			d.option("queue: 5000")
		}
		from := at()
		d.acts = append(d.acts, fmt.Sprintf("{at: %v, stall: {node: all}, for: %v}", from, d.time(time.Millisecond, d.window-from)))
	}
	cut := false
	for range d.IntN(3) {
		switch from, kind := at(), d.IntN(3); {
		case kind == 0 || kind == 1 && (cut || from < d.latest): // connections of a load that has not begun cannot be cut
			d.acts = append(d.acts, fmt.Sprintf("{at: %v, kill: {node: %d}, restart: %v}", from, d.IntN(3), d.time(time.Millisecond, d.window-from)))
		case kind == 1:
			cut = true
			d.acts = append(d.acts, fmt.Sprintf("{at: %v, disconnect: %s}", from, d.one("all", "producers")))
		default:
			d.acts = append(d.acts, fmt.Sprintf("{at: %v, network: {delay: 1ms}, for: %v}", from, d.time(time.Millisecond, d.window-from)))
		}
	}
	if len(d.acts) == 0 {
		return
	}
	l := &d.loads[0]
	if d.acks && d.kind == single && !d.has("disconnect") && l.pattern != "request-reply" && l.pattern != "roundtrip" && d.chance(60) {
		d.option("keep: true")
		d.lengths = append(d.lengths, "read_back: 5s")
		if !d.has("every") {
			d.option("lose_acked: %d, every: 1, after: %d", 1+d.IntN(30), d.messages/3+d.IntN(d.messages/2))
		}
	}
	for i := range d.loads {
		l := &d.loads[i]
		for _, of := range []string{"unavailable", "recovered"} {
			if d.chance(40) {
				l.wanted = append(l.wanted, fmt.Sprintf("%s < %v", of, d.time(time.Millisecond, d.window)))
			}
		}
		if d.chance(40) && l.pattern != "publish" {
			metric := "roundtrip"
			if l.pattern == "deliver" {
				metric = "delivery"
			}
			l.wanted = append(l.wanted, fmt.Sprintf("%s.response %s < %v outside actions", metric, d.one("p50", "p90", "p99"), d.time(time.Millisecond, 80*time.Millisecond)))
		}
		l.taken = l.wanted
	}
}
