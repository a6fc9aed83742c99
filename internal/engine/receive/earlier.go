package receive

import (
	"sync"
	"sync/atomic"

	"sixnines/internal/integrity"
)

// Earlier accounts for messages that earlier runs have left where this one uses
// what exists. They are distinguished by the run and the stream in their envelopes.
// How old they are is not known: the instants in them are of the clock of the
// machine that sent them, since its start, and nothing says which machine that was.
type Earlier struct {
	streams sync.Map // of *earlierStream by earlierKey
	// First and Last are when the first and the last new message came, CLOCK_MONOTONIC; 0: no message
	// has. Consumers store, any goroutine reads.
	First, Last atomic.Int64
}

type earlierKey struct {
	group       *Group
	run, stream uint32
}

// earlierStream is what has come to a group of one stream of an earlier run.
type earlierStream struct {
	ledger *integrity.Ledger
	lowest atomic.Uint64 // lowest sequence number that has come: those before it are not missing
}

// Came ticks a message off that came at now, CLOCK_MONOTONIC, and returns whether it is new to the
// group. It is safe for concurrent use.
func (x *Earlier) Came(g *Group, e *integrity.Envelope, now int64) integrity.Mark {
	key := earlierKey{g, e.Run, e.Stream}
	known, ok := x.streams.Load(key)
	if !ok {
		fresh := &earlierStream{ledger: integrity.NewLedger(0)}
		fresh.lowest.Store(e.Sequence)
		known, _ = x.streams.LoadOrStore(key, fresh)
	}
	st := known.(*earlierStream)
	m := st.ledger.Mark(e.Sequence)
	if m == integrity.New {
		// Other consumers change these at the same time: each ends as the least or the greatest of all.
		for low := st.lowest.Load(); e.Sequence < low && !st.lowest.CompareAndSwap(low, e.Sequence); low = st.lowest.Load() {
		}
		x.First.CompareAndSwap(0, now)
		for last := x.Last.Load(); last < now && !x.Last.CompareAndSwap(last, now); last = x.Last.Load() {
		}
	}
	return m
}

// Missing counts the sequence numbers that are missing between the lowest and the highest that came. It
// is called when nothing comes any more. Numbers that a ledger had to forget count as received.
func (x *Earlier) Missing() (n int64) {
	for _, v := range x.streams.Range {
		st := v.(*earlierStream)
		highest, ok := st.ledger.Highest()
		if !ok {
			continue
		}
		for range st.ledger.Missing(st.lowest.Load(), highest) {
			n++
		}
		for _, gap := range st.ledger.Gaps(st.lowest.Load(), highest) {
			n += gap.Missing
		}
		_, late := st.ledger.Forgotten()
		n -= late
	}
	return max(n, 0)
}

// earlierMessage counts a good message of another run where those are expected,
// and reports whether it was one.
func (c *Consumer) earlierMessage(e *integrity.Envelope, now int64) bool {
	if c.plan.Workload.Existing == "" || e.Run == c.plan.Id || e.Kind != integrity.Data {
		return false
	}
	switch c.receiving.Earlier.Came(c.group, e, now) {
	case integrity.New:
		c.Earlier.Add(1)
	case integrity.Duplicate:
		c.EarlierAgain.Add(1)
	default:
		c.Late.Add(1)
	}
	c.work.Do(now)
	return true
}
