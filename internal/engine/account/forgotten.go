package account

import (
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// Of messages whose ledger has forgotten them, see [integrity.Ledger.Gaps], it is known how many are missing, and not
// which. Each counts as due with the last of its gap, so that its bound is no longer than it has waited.

// among returns how many of a gap's numbers are marked.
func among(m *stream.Marks, g integrity.Gap) (n int64) {
	if m.N.Load() == 0 {
		return 0
	}
	for seq := g.From; seq < g.To; seq++ {
		if m.Has(seq) {
			n++
		}
	}
	return n
}

// unanswered adds to total the messages in gaps of the acknowledgements, and censors those that were not given up
// before.
func (a *Accounts) unanswered(total *result.Counters, st *stream.Stream, intended func(*stream.Stream, uint64, int64) int64) {
	for _, g := range st.Acked.Gaps(st.First, st.Last) {
		open := max(0, g.Missing-among(&st.Rejected, g)-among(&st.Nacked, g))
		total.Unknown += g.Missing
		total.Censored += open
		at := intended(st, g.To-1, a.End.Load())
		for range max(0, open-among(&st.GaveUp, g)) {
			a.Recording.Rec.Censor(a.Flow.AckService, recorder.UnknownDue, a.Observed-a.sentBy(st, at))
			if a.Flow.Timed {
				a.Recording.Rec.Censor(a.Flow.AckResponse, a.dueOf(at), a.Observed-at)
			}
		}
	}
}

// dueOf returns the due instant of a message, ns from the window's start, for the recorder.
func (a *Accounts) dueOf(at int64) int64 {
	if a.Schedule == nil {
		return recorder.UnknownDue
	}
	return at - a.Start.Load()
}

// forgotten accounts for messages in gaps of deliveries.
type forgotten struct {
	*Accounts
	total    *result.Counters
	keep     *keeping
	intended func(*stream.Stream, uint64, int64) int64
	lost     map[int64]int64     // [result.Interval.Lost], by slot
	last     map[[2]uint64]int64 // by stream and number: how many the slowest group is said to miss
}

// undelivered adds a stream's messages that a group did not receive, and returns how many these are. overtaken says
// that those before newest are not still coming; they are lost then if they were due before proven, see
// [receive.Receiving.Proves].
func (f *forgotten) undelivered(st *stream.Stream, ledger *integrity.Ledger, overtaken bool, newest uint64, proven int64) (absent int64) {
	_, late := ledger.Forgotten() // one that came late may be any of them
	for _, g := range ledger.Gaps(st.First, st.Last) {
		absent += g.Missing
		nacked := min(among(&st.Nacked, g), g.Missing)
		open := max(0, g.Missing-nacked-among(&st.Rejected, g))
		at := f.intended(st, g.To-1, f.End.Load())
		if nacked > 0 {
			f.Recording.RefusedBy(f.dueOf(at), nacked)
		}
		f.censor(st, g, at, open)
		if f.keep.record != nil {
			f.keep.record.Unread += nacked + open
		}
		f.total.MissingNacked += nacked
		acked := acknowledged(st, g, open)
		gone := overtaken && g.To <= newest
		none := int64(0) // of those that are no backlog
		if f.total.MissingUnknown += open - acked; gone && !f.Flow.Acked {
			none = open - acked
		}
		if gone = gone && late == 0; gone {
			none += acked
		}
		if gone && at < proven {
			f.total.LostAcked += acked
		} else {
			f.total.Undelivered += acked
		}
		if none > 0 && f.Flow.Timed {
			f.lost[(at-f.Start.Load())/int64(recorder.Slot)] += none
		}
	}
	return absent
}

// censor records n messages of a gap that never came.
func (f *forgotten) censor(st *stream.Stream, g integrity.Gap, at, n int64) {
	f.total.Censored += n
	for range n {
		f.Recording.Rec.Censor(f.Flow.Service, recorder.UnknownDue, f.Observed-f.sentBy(st, at))
		if f.Flow.Timed {
			f.Recording.Rec.Censor(f.Flow.Response, f.dueOf(at), f.Observed-at)
		}
	}
	if !f.Recording.Rec.Enabled(recorder.DeliveryLast) || st.Fan == nil {
		return
	}
	key := [2]uint64{uint64(st.ID), g.From}
	for range max(0, n-f.last[key]) {
		f.Recording.Rec.Censor(recorder.DeliveryLast, f.dueOf(at), f.Observed-at)
	}
	f.last[key] = max(f.last[key], n)
}

// acknowledged returns how many of open messages in a gap, which were neither refused nor received, are acknowledged at
// least: those that were not answered may all be among them.
func acknowledged(st *stream.Stream, g integrity.Gap, open int64) int64 {
	if st.Acked == nil {
		return 0
	}
	unanswered := -among(&st.Nacked, g) - among(&st.Rejected, g)
	for range st.Acked.Missing(g.From, g.To) {
		unanswered++
	}
	for _, x := range st.Acked.Gaps(g.From, g.To) {
		unanswered += x.Missing
	}
	return max(0, open-max(0, unanswered))
}
