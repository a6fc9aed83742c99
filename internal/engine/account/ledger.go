package account

import (
	"math"

	"sixnines/internal/engine/stream"
	"sixnines/internal/numbers"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// Ledger returns which messages were sent and received since the last call; nil: the process receives what it sends
// itself. It belongs to the collector; when that has ended, to the run's goroutine, whose call closes the ledgers.
// Counters are read before it, so that the ledgers have all that these count. breathe is called between two pieces of it.
func (a *Accounts) Ledger(closing bool, breathe func()) *result.Ledger {
	if !a.Crosses() {
		return nil
	}
	l := &result.Ledger{}
	for _, st := range a.Sending.Streams {
		if x, any := a.sentNumbers(st, closing); any {
			l.Sent = append(l.Sent, x)
		}
		breathe()
	}
	for _, g := range a.Receiving.Groups {
		for _, st := range a.Receiving.Streams() {
			x := result.ReceivedNumbers{Group: g.Number(), Stream: st.Plan.Number}
			// A message that is late was ticked off before that.
			x.Late = news(func(each func(uint64, []uint64)) { g.Late(st, each) })
			x.New = news(func(each func(uint64, []uint64)) { g.News(st, each) })
			if x.New != "" || x.Late != "" {
				l.Received = append(l.Received, x)
			}
		}
		breathe()
	}
	if closing {
		a.closeLedger(l)
	}
	if len(l.Sent)+len(l.Received)+len(l.Groups)+len(l.Lags) == 0 {
		return nil
	}
	return l
}

// news returns as a text the numbers that a ledger tells.
func news(tell func(each func(from uint64, words []uint64))) string {
	var s numbers.Set
	tell(s.AddWords)
	return s.Text()
}

// sentNumbers returns what is new of a stream that the process sends; false: nothing of it was sent in the window.
func (a *Accounts) sentNumbers(st *stream.Stream, closing bool) (x result.SentNumbers, any bool) {
	// What the sending goroutine wrote before it first added to one of these may be read from then on.
	sent := st.Sent.Load()
	taken := sent + st.Rejected.N.Load()
	if closing {
		taken = st.Taken
	}
	if taken <= 0 && !(closing && st.Begun) {
		return x, false
	}
	x = result.SentNumbers{Stream: st.Plan.Number, First: st.First, Taken: taken, Sent: sent,
		Refused: news(st.Nacked.News), Rejected: news(st.Rejected.News), GivenUp: news(st.GaveUp.News)}
	if st.Acked != nil {
		x.Acked = news(st.Acked.News)
	}
	if closing {
		x.Latest = max(0, st.Latest-a.Start.Load())
	}
	return x, true
}

// closeLedger adds what is known only when all is over.
func (a *Accounts) closeLedger(l *result.Ledger) {
	start := a.Start.Load()
	for _, g := range a.Receiving.Groups {
		newest, ways := a.Receiving.Ways(g)
		x := result.GroupEnd{Group: g.Number(), Ways: ways}
		switch proven := a.Receiving.Proves(g, a.Observed); {
		case proven <= start:
			x.Unproven = true
		case proven < math.MaxInt64:
			x.Proven = proven - start
		}
		if newest != 0 {
			x.Newest = newest - start
		}
		l.Groups = append(l.Groups, x)
	}
	for _, g := range a.Receiving.Groups {
		for _, st := range a.Receiving.Streams() {
			x := result.DamagedNumbers{Group: g.Number(), Stream: st.Plan.Number}
			for _, claim := range g.Damaged(st) {
				x.Counts = append(x.Counts, [2]int64{int64(claim.Number), claim.Deliveries})
			}
			if len(x.Counts) > 0 && a.Flow.Listens {
				l.Damaged = append(l.Damaged, x)
			}
		}
	}
	if len(a.Sending.Streams) == 0 {
		return
	}
	for slot := int64(0); slot*int64(recorder.Slot) < int64(a.Length); slot++ {
		if lag := a.Recording.Rec.LagAtMost(slot * int64(recorder.Slot)); lag > 0 {
			l.Lags = append(l.Lags, [2]int64{slot, lag})
		}
	}
}
