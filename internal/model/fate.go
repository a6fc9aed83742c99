package model

import (
	"slices"

	"sixnines/drivers/mem"
)

// Entry is what became of a message in a response time: one of its deliveries, or its acknowledgement.
type Entry struct {
	Due  int64 // ns from the window's start
	Wait int64 // ns; of one that was never answered a lower bound, of a refused one 0
	Fate Fate
}

// Fate is how an entry ended.
type Fate int

const (
	Answered Fate = iota
	Refused
	NeverAnswered
)

// Loss is an acknowledged message that the broker does not keep.
type Loss struct {
	Acked      int64 // when it was acknowledged
	Deliveries int64 // groups that did not get it; without groups 1
}

// note notes what became of a message in a response time, for what actions cost.
func (l *ledger) note(name string, m *message, wait int64, f Fate) {
	l.out.Entries[name] = append(l.out.Entries[name], Entry{m.due, wait, f})
}

// keeps reports whether the broker keeps a message until it is read back: one that it has taken. It has not taken
// what was rejected, refused or lost on its way, nor what it acknowledged and lost.
func keeps(m *message) bool {
	return m.answer != unsent && !slices.Contains([]fault{rejected, cutOff, lost, lostAcked, refused}, m.fault)
}

// readsBack reports whether what the broker keeps of a load is read when the run is over.
func readsBack(o *mem.Options) bool { return o.Keep }
