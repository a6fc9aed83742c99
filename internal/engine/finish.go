package engine

import (
	"maps"

	"sixnines/internal/clock"
	"sixnines/internal/judge"
	"sixnines/result"
)

// finish closes the accounts when all senders and consumers have ended, and
// judges. Messages that were unresolved count as given up at Observed, when clients began to close,
// however long that took. It runs on the run's goroutine, which has waited for the collector's.
func (c *collector) finish(leftover error, aborted bool) (*result.Run, error) {
	r := c.run
	if leftover != nil {
		r.out.Event(result.Event{At: clock.Now(), Kind: result.EventError, Detail: "while disconnecting: " + leftover.Error()})
	}
	if r.config.Path != nil {
		r.out.Event(NetworkOver(r.config.Path))
	}
	r.watch.End()
	if err := c.rest(); err != nil {
		return nil, err
	}
	now := max(r.Observed, c.to)
	start := r.Start.Load()
	vitals := map[result.Vital]float64{}
	pauses := r.watch.Pauses(start, true, vitals)
	if n := r.watch.Unlisted(); n > 0 {
		r.out.Event(result.Event{At: now, Kind: result.EventPauses, Detail: "stretches with TCP retransmissions that are not listed", Count: int64(n)})
	}
	for _, ld := range r.loads {
		ld.sending.ReportRefusals()
		ld.churn.Report()
		closing, err := ld.accounts.Account(now, r.readNs, aborted)
		if err != nil {
			return nil, err
		}
		ld.side.Close(closing.Vitals)
		closing.Connections = ld.churn.Counted(now)
		maps.Copy(closing.Vitals, vitals)
		ld.accounts.KeepPauses(pauses)
		closing.Workload, closing.Pauses = ld.Part.Name, ld.accounts.Reported.Pauses
		closing.Ledger = ld.accounts.Ledger(true, r.breath.take)
		closing.Closing = ld.accounts.Closing(now, r.interrupted, aborted)
		closing.Closing.Left = ld.left
		if err := r.out.Interval(closing); err != nil {
			return nil, err
		}
		if dropped, err := ld.recording.CloseRaw(); err != nil {
			return nil, err
		} else if dropped > 0 {
			r.out.Event(result.Event{At: now, Kind: result.EventRawFull, Detail: "rows that did not fit into the raw file", Count: dropped})
		}
	}
	return r.out.End(func(part *result.Run) result.Summary {
		s := *judge.Close(part)
		s.Workload = part.Header.Workload
		return s
	})
}

// rest writes what has been counted or recorded after the last interval, if anything. It runs on the run's goroutine, which has waited for the collector's.
func (c *collector) rest() error {
	r := c.run
	if !r.unwritten() {
		return nil
	}
	from := c.to
	if from == 0 {
		from = r.End.Load()
		for _, ld := range r.loads {
			ld.accounts.Reported.To = ld.End.Load()
		}
	}
	err := c.collect(result.PhaseDrain, from, max(clock.Now(), from+1))
	c.to = clock.Now() // the interval of a load ends when its counts were read
	return err
}

// unwritten reports whether the loads have counted or recorded anything after the last interval.
func (r *run) unwritten() bool {
	for _, ld := range r.loads {
		if late := ld.accounts.Counts(); late.Earlier != ld.accounts.Reported.Counters.Earlier || late.Received != ld.accounts.Reported.Counters.Received || late.Acked != ld.accounts.Reported.Counters.Acked || ld.side.Unread() || ld.churn.Behind() || ld.recording.Rec.Behind() {
			return true
		}
	}
	return false
}
