package engine

import (
	"maps"

	"sixnines/internal/clock"
	"sixnines/internal/judge"
	"sixnines/result"
)

// finish closes the accounts when all senders and consumers have ended, and
// judges. What was left was given up when clients began to leave, however long that took.
func (c *collector) finish(leftover error, aborted bool) (*result.Run, error) {
	r := c.run
	now := max(r.Observed, c.to)
	if leftover != nil {
		r.out.event(result.Event{At: clock.Now(), Kind: result.EventError, Detail: "while disconnecting: " + leftover.Error()})
	}
	if r.unwritten() {
		from := c.to
		if from == 0 {
			from = r.End.Load()
			for _, ld := range r.loads {
				ld.accounts.told.to = ld.End.Load()
			}
		}
		if err := c.collect(result.PhaseDrain, from, max(clock.Now(), from+1)); err != nil {
			return nil, err
		}
		now = clock.Now()
	}
	start := r.Start.Load()
	vitals := map[string]float64{}
	pauses := append(c.newPauses(start), r.tcp.interval(start, true, vitals)...)
	if n := r.tcp.unseen; n > 0 {
		r.out.event(result.Event{At: now, Kind: result.EventPauses, Detail: "stretches with TCP retransmissions that are not listed", Count: int64(n)})
	}
	for _, ld := range r.loads {
		ld.sending.TellRefusals()
		closing, err := ld.accounts.account(now, r.readNs, aborted)
		if err != nil {
			return nil, err
		}
		ld.side.close(closing.Vitals)
		maps.Copy(closing.Vitals, vitals)
		ld.accounts.keepPauses(pauses)
		closing.Workload, closing.Pauses = ld.Part.Name, ld.accounts.told.pauses
		closing.Closing = ld.accounts.closing(now, r.interrupted, aborted)
		if err := r.out.interval(closing); err != nil {
			return nil, err
		}
		if dropped, err := ld.recording.CloseRaw(); err != nil {
			return nil, err
		} else if dropped > 0 {
			r.out.event(result.Event{At: now, Kind: result.EventRawFull, Detail: "rows that did not fit", Count: dropped})
		}
	}
	return r.out.end(func(part *result.Run) result.Summary {
		s := *judge.Close(part)
		s.Workload = part.Header.Workload
		return s
	})
}

// unwritten reports whether something came in after the last interval.
func (r *run) unwritten() bool {
	for _, ld := range r.loads {
		if late := ld.accounts.counts(); late.Earlier != ld.accounts.told.counters.Earlier || late.Received != ld.accounts.told.counters.Received || late.Acked != ld.accounts.told.counters.Acked || ld.side.unread() || ld.recording.Rec.Behind() {
			return true
		}
	}
	return false
}

// closing is what only the run knows of the load, when it ends now.
func (a *accounts) closing(now int64, interrupted, aborted bool) *result.Closing {
	start, x := a.Start.Load(), &a.receiving.Earlier
	since := func(at int64) int64 {
		if at == 0 {
			return 0
		}
		return at - start
	}
	var received int64
	for _, c := range a.receiving.Consumers {
		received = max(received, c.Newest)
	}
	end := a.End.Load() - start
	return &result.Closing{Intervals: a.told.intervals, End: end, Interrupted: interrupted && end < int64(a.Length), Aborted: aborted,
		Acked: since(a.lastAck()), Received: since(received), Synced: since(a.sending.Synced),
		GivenUp: max(0, now-start), // before start if it never began
		WarmUp:  a.warmLeft(), EarlierFrom: since(x.First.Load()), EarlierTo: since(x.Last.Load())}
}

// warmLeft is how much of what a flood's warm-up had sent was through in the window only.
func (a *accounts) warmLeft() int64 {
	if a.Flow.Timed {
		return 0
	}
	return max(a.receiving.Warm()-a.receiving.WarmedUp, a.sending.Warm()-a.sending.WarmedUp)
}

// lastAck returns when the last measured message was acknowledged, 0 if none was.
func (a *accounts) lastAck() (at int64) {
	for _, l := range a.sending.Lanes {
		at = max(at, l.LastAck.Load())
	}
	return at
}
