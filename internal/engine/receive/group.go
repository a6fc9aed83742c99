package receive

import (
	"slices"
	"sync/atomic"

	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/layout"
)

// Group is a delivery group: a queue group, or a lone consumer. Each message of the topics it is
// bound to is expected once. Its methods are safe for concurrent use.
type Group struct {
	plan    layout.Group
	span    int                                // of sequence numbers that a ledger holds without a lock
	journal bool                               // ledgers tell what is new
	ledgers []atomic.Pointer[integrity.Ledger] // one for each stream of its topics, made with the first message
	ended   []stream.Marks                     // by stream, likewise: messages that it received although they were refused or given up
	late    []stream.Marks                     // by stream: measured messages that came after later ones; with a journal only
	damaged []damages                          // by stream: messages that came damaged
	seen    []atomic.Bool                      // by the group's topics: a first message has arrived
}

// newGroup returns the group of the plan, whose ledgers hold span sequence numbers without a lock.
func newGroup(p layout.Group, span int, journal bool) *Group {
	return &Group{plan: p, span: span, journal: journal, ledgers: make([]atomic.Pointer[integrity.Ledger], p.Streams), ended: make([]stream.Marks, p.Streams), late: lateMarks(p.Streams, journal), damaged: make([]damages, p.Streams), seen: make([]atomic.Bool, len(p.Topics))}
}

// lateMarks returns marks for n streams, which tell what is new; nil: nobody asks.
func lateMarks(n int, journal bool) []stream.Marks {
	if !journal {
		return nil
	}
	all := make([]stream.Marks, n)
	for i := range all {
		all[i].Journal = true
	}
	return all
}

// index returns the index of a stream's ledger; false: the group is not bound to its topic.
func (g *Group) index(st *stream.Stream) (i int, bound bool) {
	b := g.plan.Base(st.Plan.Topic)
	return b + st.Plan.Index, b >= 0
}

// ledger returns the ledger with an index, and makes it if there is no such ledger yet. Of several
// goroutines that make it at once one stores its own, and all return that.
func (g *Group) ledger(i int) *integrity.Ledger {
	if l := g.ledgers[i].Load(); l != nil {
		return l
	}
	l := integrity.NewLedger(g.span)
	if g.journal {
		l.Journal()
	}
	g.ledgers[i].CompareAndSwap(nil, l)
	return g.ledgers[i].Load()
}

// Ledger returns the ledger of a stream's messages; false: the group is not bound to its topic.
func (g *Group) Ledger(st *stream.Stream) (l *integrity.Ledger, bound bool) {
	i, bound := g.index(st)
	if !bound {
		return nil, false
	}
	return g.ledger(i), true
}

// News calls each with what the group has received of a stream since the last call, see [integrity.Ledger.News].
func (g *Group) News(st *stream.Stream, each func(from uint64, words []uint64)) {
	if i, bound := g.index(st); bound {
		if l := g.ledgers[i].Load(); l != nil {
			l.News(each)
		}
	}
}

// Late calls each with the measured messages of a stream that came after later ones, since the last call.
func (g *Group) Late(st *stream.Stream, each func(from uint64, words []uint64)) {
	if i, bound := g.index(st); bound && g.late != nil {
		g.late[i].News(each)
	}
}

// Number is the group's in the whole workload.
func (g *Group) Number() int { return g.plan.Number }

// receivedEnded notes, once, that the group received a message of the window that was refused or
// given up, whichever came first.
func (g *Group) receivedEnded(i int, st *stream.Stream, seq uint64) {
	if g.ended[i].Add(seq) {
		st.EndedReceived.Add(1)
	}
}

// hasSeen reports whether a first message of a topic has arrived, if the group is bound to it.
func (g *Group) hasSeen(topic int) bool {
	i := slices.Index(g.plan.Topics, topic)
	return i < 0 || g.seen[i].Load()
}
