package account

import "sixnines/result"

// Closing returns what only the run knows of the load, which ends at now, CLOCK_MONOTONIC. It is called
// when senders, consumers and the collector have ended. Instants are ns from the window's start; 0: it
// did not happen.
func (a *Accounts) Closing(now int64, interrupted, aborted bool) *result.Closing {
	start, x := a.Start.Load(), &a.Receiving.Earlier
	since := func(at int64) int64 {
		if at == 0 {
			return 0
		}
		return at - start
	}
	var received int64
	for _, c := range a.Receiving.Consumers {
		received = max(received, c.Newest())
	}
	end := a.End.Load() - start
	return &result.Closing{Intervals: a.Reported.intervals, End: end, Interrupted: interrupted && end < int64(a.Length), Aborted: aborted,
		Acked: since(a.lastAck()), Received: since(received), Synced: since(a.Sending.Synced),
		GivenUp: max(0, now-start), // before start if it never began
		WarmUp:  a.warmLeft(), Unconsumed: a.Unconsumed, EarlierFrom: since(x.First.Load()), EarlierTo: since(x.Last.Load())}
}

// CountUnconsumed counts messages that were sent, in the window and outside of it, and that no consumer of a group has
// received, once for each group; without consumers, all. Senders have ended; consumers may still receive.
// Of messages outside of the window it is not known whether the broker refused them.
func (a *Accounts) CountUnconsumed() (n int64) {
	for _, st := range a.Sending.Streams {
		if len(a.Receiving.Groups) == 0 {
			n += int64(st.Next) - st.Rejected.N.Load() - st.Nacked.N.Load()
		}
		for _, g := range a.Receiving.Groups {
			ledger, bound := g.Ledger(st)
			if !bound {
				continue
			}
			for seq := range ledger.Missing(0, st.Next) {
				if !st.Rejected.Has(seq) && !st.Nacked.Has(seq) {
					n++
				}
			}
			for _, gap := range ledger.Gaps(0, st.Next) {
				n += max(0, gap.Missing-among(&st.Rejected, gap)-among(&st.Nacked, gap))
			}
		}
	}
	return n
}

// warmLeft returns how many messages of an unpaced load's warm-up were answered or delivered in the
// window, whichever are more; 0 for other loads.
func (a *Accounts) warmLeft() int64 {
	if a.Flow.Timed {
		return 0
	}
	return max(a.Receiving.Warm()-a.Receiving.WarmedUp, a.Sending.Warm()-a.Sending.WarmedUp)
}

// lastAck returns when the last measured message was acknowledged, CLOCK_MONOTONIC; 0: no message was.
func (a *Accounts) lastAck() (at int64) {
	for _, l := range a.Sending.Lanes {
		at = max(at, l.LastAck.Load())
	}
	return at
}
