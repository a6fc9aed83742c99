package engine

import (
	"maps"
	"math"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// finish closes the accounts when all senders and consumers have ended, and
// judges.
func (c *collector) finish(leftover error, aborted bool) (*result.Run, error) {
	r := c.run
	now := clock.Now()
	if leftover != nil {
		r.out.event(result.Event{At: now, Kind: "error", Detail: "while disconnecting: " + leftover.Error()})
	}
	if r.unwritten() {
		from := c.to
		if from == 0 {
			from = r.end.Load()
			for _, ld := range r.loads {
				ld.accounts.told.to = ld.end.Load()
			}
		}
		if err := c.collect(result.PhaseDrain, from, max(now, from+1)); err != nil {
			return nil, err
		}
		now = clock.Now()
	}
	start := r.start.Load()
	vitals := map[string]float64{}
	pauses := append(c.newPauses(start), r.tcp.interval(start, true, vitals)...)
	if n := r.tcp.unseen; n > 0 {
		r.out.event(result.Event{At: now, Kind: "pauses", Detail: "stretches with TCP retransmissions that are not listed", Count: int64(n)})
	}
	for _, ld := range r.loads {
		ld.sending.tellRefusals()
		closing, err := ld.accounts.account(now, r.readNs, aborted)
		if err != nil {
			return nil, err
		}
		ld.side.close(closing.Vitals)
		maps.Copy(closing.Vitals, vitals)
		ld.accounts.keepPauses(pauses)
		closing.Workload, closing.Pauses = ld.part.Name, ld.accounts.told.pauses
		if err := r.out.interval(closing); err != nil {
			return nil, err
		}
		if dropped, err := ld.recording.closeRaw(); err != nil {
			return nil, err
		} else if dropped > 0 {
			r.out.event(result.Event{At: now, Kind: "raw file full", Detail: "rows that did not fit", Count: dropped})
		}
	}
	return r.out.end(func(i int, part *result.Run) result.Summary {
		ld := r.loads[i]
		in := ld.accounts.inputs(now)
		in.Interrupted, in.Aborted = r.interrupted && in.End < int64(ld.window), aborted
		s := *judge.Summarise(part, in)
		s.Workload = ld.part.Name
		return s
	})
}

// unwritten reports whether something came in after the last interval.
func (r *run) unwritten() bool {
	for _, ld := range r.loads {
		if late := ld.accounts.counts(); late.Earlier != ld.accounts.told.counters.Earlier || late.Received != ld.accounts.told.counters.Received || late.Acked != ld.accounts.told.counters.Acked || ld.side.unread() || ld.recording.rec.Behind() {
			return true
		}
	}
	return false
}

// inputs are what the load's verdict needs beside its records.
func (a *accounts) inputs(now int64) judge.Inputs {
	start := a.start.Load()
	in := judge.Inputs{End: a.end.Load() - start, Resolved: max(0, now-start)} // before start if it never began
	if t := a.resolvedAt(); t != 0 {
		in.Resolved = t - start
	}
	if !a.timed {
		in.Throughput = a.throughput()
		if !a.workload.Consumer.From.IsZero() {
			in.Throughput = a.filling()
		}
	}
	return in
}

// resolvedAt returns when the last measured message was resolved, 0 if that is not
// known.
func (a *accounts) resolvedAt() int64 {
	t := max(a.sending.synced, a.lastAck())
	for _, c := range a.receiving.consumers {
		t = max(t, c.newest)
	}
	return t
}

// drained is how fast consumers consumed what earlier runs left: from the first to the
// last message of those.
func (a *accounts) drained(c result.Counters) *result.Throughput {
	x := &a.receiving.earlier
	t := &result.Throughput{Received: c.Earlier, Elapsed: time.Duration(max(1, x.last.Load()-x.first.Load())), Until: "the last delivery"}
	if c.Earlier > 1 { // so many followed the first
		t.ReceivedPerSecond = float64(c.Earlier-1) / t.Elapsed.Seconds()
	}
	return t
}

// throughput is what a flat-out run achieved. A message that the broker refused, or that
// did not arrive where it should, does not count.
func (a *accounts) throughput() *result.Throughput {
	c := a.counts()
	if a.workload.Pattern == scenario.Consume {
		return a.drained(c)
	}
	through := c.Sent - c.Nacked
	if a.session.ack != driver.AckKindNone {
		through = c.Acked
	}
	if c.Expected > 0 { // in messages
		through = min(through, int64(math.Round(float64(c.Received)*float64(c.Sent)/float64(c.Expected))))
	}
	t := &result.Throughput{Messages: through, Bytes: c.BytesSent, Received: c.Received, Until: "the last send returned"}
	if through != c.Sent { // so many of what was sent
		t.Bytes = int64(math.Round(float64(c.BytesSent) / float64(c.Sent) * float64(through)))
	}
	switch {
	case c.Acked > 0:
		t.Until = "the last acknowledgement"
	case len(a.receiving.consumers) > 0:
		t.Until = "the last delivery"
	case a.sending.synced != 0:
		t.Until = "a round trip to the broker after the last message"
	}
	t.Elapsed = a.until(t, a.resolvedAt())
	t.PerSecond = float64(t.Messages) / t.Elapsed.Seconds()
	t.ReceivedPerSecond = float64(t.Received) / t.Elapsed.Seconds()
	t.SentPerSecond = a.sendersRate(c)
	t.WarmUp = a.warmLeft()
	return t
}

// until is how long a flood lasted: to the instant at which the last of it was through, and
// for as long as the senders tried. A broker that answers no more, or refuses everything,
// has stopped no clock.
func (a *accounts) until(t *result.Throughput, through int64) time.Duration {
	start, end := a.start.Load(), a.end.Load()
	if through != 0 && end-through > (end-start)/100 {
		t.Until = "the end of the window"
	}
	return time.Duration(max(1, max(through, end)-start))
}

// warmLeft is how much of what a flood's warm-up had sent was through in the window only.
func (a *accounts) warmLeft() int64 {
	return max(a.receiving.warm()-a.receiving.warmedUp, a.sending.warm()-a.sending.warmedUp)
}

// sendersRate is what the senders of a flat-out load came to by themselves, see
// [result.Throughput].
func (a *accounts) sendersRate(c result.Counters) float64 {
	through, stop := c.Sent-c.Nacked, a.end.Load()
	if a.session.ack != driver.AckKindNone {
		through, stop = c.Acked, max(stop, a.lastAck())
	}
	if through == 0 {
		return 0
	}
	return float64(through) / time.Duration(max(1, stop-a.start.Load())).Seconds()
}

// lastAck returns when the last measured message was acknowledged, 0 if none was.
func (a *accounts) lastAck() (at int64) {
	for _, l := range a.sending.lanes {
		at = max(at, l.lastAck.Load())
	}
	return at
}

// filling is the throughput of a flat-out load whose consumers connect when it is over:
// how fast the broker took it.
func (a *accounts) filling() *result.Throughput {
	c := a.counts()
	t := &result.Throughput{Messages: c.Sent - c.Nacked, Bytes: c.BytesSent, Until: "the last send returned"}
	var through int64
	switch {
	case a.session.ack != driver.AckKindNone:
		t.Messages, t.Until, through = c.Acked, "the last acknowledgement", a.lastAck()
	case a.sending.synced != 0:
		t.Until, through = "a round trip to the broker after the last message", a.sending.synced
	}
	if t.Messages != c.Sent && c.Sent > 0 {
		t.Bytes = int64(math.Round(float64(c.BytesSent) / float64(c.Sent) * float64(t.Messages)))
	}
	t.Elapsed = a.until(t, through)
	t.PerSecond = float64(t.Messages) / t.Elapsed.Seconds()
	t.SentPerSecond = a.sendersRate(c)
	t.WarmUp = a.warmLeft()
	return t
}
