package model

import (
	"cmp"
	"slices"

	"sixnines/scenario"
)

// Slot is the time, ns, to which it is known when messages were due that failed.
const Slot = slotLength

// dueMessage is what became of a message that was due: the longest of its waits, and whether one of its entries failed.
type dueMessage struct {
	due, wait int64
	failed    bool
}

// messagesOf returns the entries of a response time by message, in the order in which they were due, of those due in
// [from, to). Messages due at the same instant count as one.
func (o *Outcome) messagesOf(metric string, from, to int64) (all []dueMessage) {
	entries := slices.Clone(o.Entries[metric])
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Due, b.Due) })
	for _, e := range entries {
		if e.Due < from || e.Due >= to {
			continue
		}
		if n := len(all); n == 0 || all[n-1].due != e.Due {
			all = append(all, dueMessage{due: e.Due})
		}
		m := &all[len(all)-1]
		if e.Fate != Answered {
			m.failed = true
		} else {
			m.wait = max(m.wait, e.Wait)
		}
	}
	return all
}

// Outage returns between which lengths, ns, the longest time lies in [from, to) for which what was due had no
// answer. It begins when a message is due that waits longer than late, or fails. It ends when that message is answered;
// where it fails, no sooner than when it was due and no later than when the next message was due, unless that one
// fails or waits too long as well. Messages that are answered later meanwhile do not prolong it.
func (o *Outcome) Outage(metric string, from, to, late int64) (least, most int64) {
	all := o.messagesOf(metric, from, to)
	begun, end, open := int64(0), int64(-1), false // open: it ends with a message that failed
	before := max(from, 0)                         // when the message before was due
	for i, m := range all {
		bad := m.failed || m.wait > late
		next := to
		if i+1 < len(all) {
			next = all[i+1].due
		}
		if !bad {
			open = false
			before = m.due
			continue
		}
		if m.due >= end && !open {
			begun, end = m.due, m.due
			most = max(most, m.due-before)
		}
		if m.failed {
			end, open = max(end, m.due), true
			most = max(most, next-begun)
		} else if m.due >= end || open {
			end, open = max(end, m.due+m.wait), false
		}
		least, most = max(least, end-begun), max(most, end-begun+Slot)
		before = m.due
	}
	return least, most
}

// Outside returns the possible outcomes of an objective on a percentile of a response time over what was due outside of some
// periods. Whether a message was due outside is known to margin, ns: with those of the margins and without them.
func (o *Outcome) Outside(x scenario.Objective, periods [][2]int64, margin int64) (found []string) {
	for _, wider := range []int64{-margin, margin} {
		l := &Latency{Metric: x.Subject}
		for _, e := range o.Entries[x.Subject] {
			if slices.ContainsFunc(periods, func(p [2]int64) bool { return e.Due > p[0]-wider && e.Due < p[1]+wider }) {
				continue
			}
			switch e.Fate {
			case Answered:
				l.add(e.Wait)
			case Refused:
				l.refuse()
			default:
				l.bound(e.Wait)
			}
		}
		n := l.total()
		if all := o.Latencies[x.Subject]; all != nil && all.total() > 0 {
			n = max(1, n*all.Samples/all.total())
		}
		l.finish(n)
		part := &Outcome{Latencies: map[string]*Latency{x.Subject: l}, Bucket: o.Bucket}
		found = append(found, part.ofLatency(x)...)
		if l.total() == 0 {
			found = append(found, undecided)
		}
	}
	return found
}

// FailedIn returns how many entries of a response time failed in a way that were due in slots from one to another,
// without the last.
func (o *Outcome) FailedIn(metric string, f Fate, from, to int64) (n int64) {
	for _, e := range o.Entries[metric] {
		if s := e.Due / Slot; e.Fate == f && s >= from && s < to {
			n++
		}
	}
	return n
}

// MedianWait is the nearest-rank median of a response time, ns, where those that failed are the slowest; 0: refused
// messages reach it.
func (o *Outcome) MedianWait(metric string) int64 {
	if f := o.Latencies[metric].rank((o.Latencies[metric].total() + 1) / 2); !f.Refused {
		return f.Value
	}
	return 0
}
