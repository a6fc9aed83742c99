package judge

import "sixnines/result"

// due reports whether messages were due in a slot, as far as is known: answered, refused or never answered.
func (g *lateGrid) due(s int64) bool {
	return s < int64(len(g.x.Slots)) && g.x.Slots[s] != 0 || s < int64(len(g.failed)) && g.failed[s] > 0
}

// outage is a time without an answer.
type outage struct {
	start, end int64
	// slack is by how much either end may be less, since messages that failed are known by their slots.
	slack int64
	// lead and tail are by how much it may be longer at its ends, because nothing was due there.
	lead, tail int64
	failing    bool // it ends with a message that failed
	// solid is the start of the part at its end in which nothing was answered for sure, and least the longest such
	// part before it.
	solid, least int64
}

// within returns how long it was.
func (o *outage) within() result.Within {
	w := result.Within{Least: max(o.least, o.part()), Most: o.end - o.start + o.lead + o.tail}
	if !o.failing {
		w.Most += o.slack
	}
	return w
}

// part returns how long the solid part at the end was at least.
func (o *outage) part() int64 {
	length := o.end - o.solid - o.slack
	if o.failing {
		length -= o.slack
	}
	return max(0, length)
}

// solidShare is the share of failed messages in a cell from which on it counts as one in which nothing was answered: some
// that were answered are assigned to it from its neighbours.
const solidShare = 0.9

// solid reports whether nearly all messages failed around a slot. Else others may have been answered between those that
// failed, and an outage is not known to go on through it.
func (g *lateGrid) solid(s int64) bool {
	i := g.at(s*g.slot + g.slot/2)
	return i < len(g.cells) && float64(g.cells[i].failed) >= solidShare*float64(g.cells[i].count())
}

// outage returns the longest time in [from, to) for which what was due had no answer. It begins
// when a message is due that is late, refused or never answered, and ends when that message is
// answered; one that is refused or never answered ends it with its slot. Messages that fail
// meanwhile, or next, prolong it; messages that are answered later meanwhile do not: what was
// answered then is a backlog that is being worked off. A single wait is known exactly, the rest to
// the slots at both ends. Where nothing was due before or after it, it may have been longer.
func (g *lateGrid) outage(from, to, late int64) *result.Within {
	var best result.Within
	var o outage
	take := func() {
		if w := o.within(); w.Most > best.Most {
			best = w
		}
	}
	last, first := int64(-1), max(from, 0)/g.slot // last: the slot before in which messages were due
	for s := first; s*g.slot < to; s++ {
		if !g.due(s) {
			continue
		}
		at := s * g.slot
		v, failed := g.slotAt(s)
		good := !failed && v <= late
		switch {
		case o.failing && at > o.end && good:
			o.tail = at + g.slot - o.end
			take()
		case o.failing && at > o.end:
			o.end = at
		}
		switch {
		case good:
			o.failing = false
			last = s
			continue
		case at >= o.end && !(failed && at == o.end) && !(o.failing && at == o.end):
			o = outage{start: at, end: at + v, solid: at}
			if last < 0 && s > first {
				o.lead = at - max(from, 0)
			} else if last >= 0 && s > last+1 {
				o.lead = at - last*g.slot
			}
		case o.failing && !g.solid(s):
			o.least, o.solid = max(o.least, o.part()), at
			if at+v > o.end {
				o.end, o.failing = at+v, false
			}
		case o.failing && at+v > o.end:
			o.end, o.failing = at+v, false
		}
		if failed && at+g.slot >= o.end {
			o.end, o.slack, o.failing = at+g.slot, g.slot, true
		}
		take()
		last = s
	}
	return &best
}

// answered returns until when what was due in [from, to) was answered, to a slot; 0: nothing was.
func (g *lateGrid) answered(from, to int64) (at int64) {
	for s := max(from, 0) / g.slot; s*g.slot < to && s < int64(len(g.x.Slots)); s++ {
		if v, _ := g.slotAt(s); v > 0 {
			at = max(at, (s+1)*g.slot+v)
		}
	}
	return at
}

// blind returns the longest time without a message that was due, from an instant until the first one at to or
// later; 0 if it is not longer than a slot.
func (g *lateGrid) blind(from, to int64) (longest int64) {
	since, last := max(from, 0), max(from, 0)/g.slot-1
	for s := last + 1; s*g.slot < g.end(); s++ {
		if !g.due(s) {
			continue
		}
		if s > last+1 {
			longest = max(longest, (s+1)*g.slot-since)
		}
		if since, last = s*g.slot, s; since >= to {
			return longest
		}
	}
	if g.end() > (last+2)*g.slot {
		longest = max(longest, g.end()-since)
	}
	return longest
}
