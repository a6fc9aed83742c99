package merge

import (
	"slices"

	"sixnines/internal/histograms"
	"sixnines/internal/layout"
	"sixnines/internal/schedule"
	"sixnines/result"
	"sixnines/scenario"
)

// account adds to the closing record what the segment of a lost agent still has in the accounts: what it had
// due after its last record and never sent, and what it sent and nobody saw the end of. A message that was not
// sent has waited since it was due; of those that were sent nothing is known after the agent's last record. Which
// ones were not answered is not known either: they count as the last that were sent.
func (m *merger) account(l *load, a *agent, run *result.Run, timed timed, v *result.Interval) error {
	d := l.untimed(run)
	c, last := run.Counters, int64(0)
	c.Add(d)
	if n := len(run.Series); n > 0 {
		last = run.Series[n-1].End
	}
	sent := c.Sent + c.Rejected
	counted := max(c.Scheduled, sent) // as the intervals have it
	unanswered, missing := c.Sent-c.Acked-c.Nacked, c.Expected-c.Received-c.Corrupted
	d.Add(result.Counters{Taken: sent, Unknown: unanswered, Missing: missing})
	if l.header.Ack == ackNone {
		d.MissingUnknown = missing
	} else {
		fan := int64(1)
		if c.Sent > 0 {
			fan = max(1, c.Expected/c.Sent)
		}
		d.MissingUnknown = min(missing, unanswered*fan)
		d.Undelivered = missing - d.MissingUnknown
	}
	x := &lostMetrics{load: l, timed: timed, at: map[result.Metric]*lostMetric{}}
	s, p, err := planOf(l.header)
	if err != nil {
		return err
	}
	if p == nil { // a closed loop or flat out has nothing due
		d.Scheduled += sent - max(c.Scheduled, sent)
		return x.finish(v, d)
	}
	part, share, err := partOf(s, p, a.segment())
	if err != nil {
		return err
	}
	if l.books != nil {
		extra := l.books.reached(a.segment().Index, dueByStream(part, share, l, v.Closing.End))
		sent, unanswered = sent+extra, unanswered+extra
		d.Taken, d.Unknown, d.Sent = d.Taken+extra, d.Unknown+extra, extra
		if l.header.Sizes == "" {
			d.BytesSent = extra * l.header.Size
		}
	}
	fan := fanOut(&s.Workload, share)
	all := make([]int, len(share.Producers))
	for i := range all {
		all[i] = i
	}
	due, walk := int64(0), part.Merge(all, schedule.Window)
	for at, producer, more := walk.Next(); more && at < v.Closing.End; at, producer, more = walk.Next() {
		due++
		waited := v.Closing.GivenUp - at
		switch {
		case due > sent:
			d.NotSent++
		case due > sent-max(unanswered, missing/max(1, fan[producer])):
			waited = max(0, last-at)
		default:
			continue
		}
		acked := due > sent-unanswered && l.header.Ack != ackNone
		d.Censored += x.censor(at, waited, acked, due > sent-missing/max(1, fan[producer]), fan[producer], l.header.Slot.Nanoseconds())
	}
	d.Scheduled = due - counted
	return x.finish(v, d)
}

// untimed takes back what a lost agent counted and did not time any more: its last record takes its times first and its counters
// then, and what comes in between has its time in a next record.
func (l *load) untimed(run *result.Run) (d result.Counters) {
	for metric, n := range map[result.Metric]struct{ of, less *int64 }{
		result.PublishService:  {&run.Counters.Acked, &d.Acked},
		result.DeliveryService: {&run.Counters.Received, &d.Received},
	} {
		if m := run.Metrics[metric]; m != nil && m.Hist != nil {
			*n.less = min(0, m.Hist.Count()-*n.of)
		}
	}
	if l.header.Sizes == "" {
		d.BytesRecv = d.Received * l.header.Size
	}
	return d
}

// rest adds to the closing record what the segment of an agent had due after its window, if that ended before the others':
// it was stopped alone, and nobody sent these messages.
func (m *merger) rest(l *load, a *agent, run *result.Run, timed timed, v *result.Interval) error {
	if own := (&result.Agent{End: run.Closing.End}); !own.Unfinished(v.Closing.End) || a.segment().Role == result.RoleConsumers {
		return nil
	}
	s, p, err := planOf(l.header)
	if err != nil || p == nil { // a closed loop or flat out has nothing due
		return err
	}
	part, share, err := partOf(s, p, a.segment())
	if err != nil {
		return err
	}
	x := &lostMetrics{load: l, timed: timed, at: map[result.Metric]*lostMetric{}}
	var d result.Counters
	fan, all := fanOut(&s.Workload, share), make([]int, len(share.Producers))
	for i := range all {
		all[i] = i
	}
	walk := part.Merge(all, schedule.Window)
	for at, producer, more := walk.Next(); more && at < v.Closing.End; at, producer, more = walk.Next() {
		if at < run.Closing.End {
			continue
		}
		d.Scheduled++
		d.NotSent++
		d.Censored += x.censor(at, v.Closing.GivenUp-at, l.header.Ack != ackNone, true, fan[producer], l.header.Slot.Nanoseconds())
	}
	return x.finish(v, d)
}

// dueByStream returns how many messages of a stream of a producing agent are due before end, ns from the window's start.
func dueByStream(part *schedule.Plan, share layout.Share, l *load, end int64) func(stream int) int64 {
	return func(stream int) int64 {
		producer := l.books.whole.Streams[stream].Producer
		ids := l.books.whole.ByProducer[producer]
		before := uint64(0)
		for _, id := range ids {
			before += l.books.streams[id].first
		}
		turn, n := int(before%uint64(len(ids))), int64(0)
		cursor := part.Producer(slices.Index(share.Producers, producer))
		for at, more := cursor.Next(); more && at < end; at, more = cursor.Next() {
			if ids[turn] == stream {
				n++
			}
			if turn++; turn == len(ids) {
				turn = 0
			}
		}
		return n
	}
}

// fanOut returns how many delivery groups get a message of each producer of a share.
func fanOut(w *scenario.Workload, s layout.Share) (all []int64) {
	whole := layout.Of(w)
	for _, p := range s.Producers {
		all = append(all, int64(whole.Streams[whole.ByProducer[p][0]].FanOut))
	}
	return all
}

// lostMetrics collects the lower bounds of a lost agent's messages.
type lostMetrics struct {
	load  *load
	timed timed // what the agent recorded
	at    map[result.Metric]*lostMetric
}

type lostMetric struct {
	bounds     *result.Histogram
	unanswered map[int64]int64
}

// censor adds a message that was due at an instant and has waited for so long to the response times that the
// agent recorded, and returns how many lower bounds that are. Which of them it lacks, acked and delivered say.
func (x *lostMetrics) censor(at, waited int64, acked, delivered bool, fan, slot int64) (n int64) {
	for metric, grid := range x.timed {
		times := int64(1)
		switch metric {
		case result.PublishResponse:
			if !acked {
				continue
			}
		case result.DeliveryResponse:
			times = fan
			fallthrough
		default:
			if !delivered {
				continue
			}
		}
		m := x.at[metric]
		if m == nil {
			m = &lostMetric{bounds: result.NewHistogram(grid.lowest, grid.highest, grid.digits), unanswered: map[int64]int64{}}
			x.at[metric] = m
		}
		_, highest, _ := m.bounds.Layout()
		_ = m.bounds.Record(min(max(waited, 0), highest), times) // in range: cannot fail
		if m.unanswered[at/max(slot, 1)] += times; metric != result.DeliveryLast {
			n += times
		}
	}
	return n
}

// finish adds the counters and the bounds to the closing record.
func (x *lostMetrics) finish(v *result.Interval, d result.Counters) error {
	v.Counters.Add(d)
	add := &result.Interval{Metrics: map[result.Metric]*result.MetricInterval{}}
	for metric, m := range x.at {
		text, err := histograms.Encode(histograms.Of(m.bounds))
		if err != nil {
			return err
		}
		add.Metrics[metric] = &result.MetricInterval{Censored: text, Unanswered: pairs(m.unanswered)}
	}
	return x.load.sums.add(add)
}
