package model

import (
	"math"
	"time"

	"sixnines/scenario"
)

// Rate is the rates at which messages were due and sent in the window.
type Rate struct {
	Asked     float64
	Due, Sent float64 // a second
	Worst     float64 // the least share of the messages due in a second that were sent in it
	// WorstBefore is the same without what is sent at the very instant at which the window ends:
	// it may be counted before that end or after it.
	WorstBefore float64
}

// rate computes the rates of the window.
func (p *play) rate() Rate {
	if !p.paced() {
		return Rate{}
	}
	var due, sent float64
	for _, m := range p.all {
		if m.due < 0 || m.due >= p.end {
			continue
		}
		due++
		if m.answer != unsent && m.answer != atOnce && m.sent < p.end {
			sent++
		}
	}
	if due == sent+1 { // the last message was due as the window ended, and was sent a moment later
		due = sent
	}
	return Rate{Asked: p.asked(), Due: due / float64(p.end) * 1e9, Sent: sent / float64(p.end) * 1e9, Worst: p.worst(true), WorstBefore: p.worst(false)}
}

// worst goes through the seconds of the window, made of whole intervals, one after the
// other. What is left behind the last is looked at with the second before the window's end,
// and a shorter window as a whole. What the client refused was in time, and one message
// across the end of a second is not late. What is sent at the window's end counts if atEnd.
func (p *play) worst(atEnd bool) float64 {
	const second = 990_000_000 // ends of intervals jitter
	least := 1.0
	look := func(from, to int64) {
		var due, sent float64
		for _, m := range p.all {
			if m.due < 0 || m.due >= p.end {
				continue
			}
			if m.due >= from && m.due < to {
				due++
			}
			if m.answer != unsent && (m.sent > from || from == 0) && m.sent <= to && (atEnd || m.sent < p.end) {
				sent++
			}
		}
		if due > 0 {
			least = min(least, (sent+1)/due)
		}
	}
	from, starts := int64(0), []int64{0}
	for _, t := range p.ends() {
		if t-from >= second {
			look(from, t)
			from = t
		}
		starts = append(starts, t)
	}
	if from < p.end {
		for i := len(starts) - 1; i >= 0 && (starts[i] > from || p.end-from < second); i-- {
			from = min(from, starts[i])
		}
		look(from, p.end)
	}
	return least
}

// asked returns the schedule's mean rate, in messages a second.
func (p *play) asked() float64 {
	switch p.w.Arrivals.Kind {
	case scenario.Constant, scenario.Poisson:
		return float64(p.w.Rate.Messages) / p.w.Rate.Per.Seconds()
	case scenario.Burst:
		bursts := (p.window + int64(p.w.Arrivals.Period) - 1) / int64(p.w.Arrivals.Period)
		return float64(bursts) * float64(p.w.Arrivals.Count) / float64(p.window) * 1e9
	}
	f, err := flowOf(p.w, time.Duration(p.window))
	if err != nil {
		return 0
	}
	return f.near(float64(p.window)) / float64(p.window) * 1e9
}

// Through is the throughput of a load without a schedule.
type Through struct {
	Messages int64
	Received int64
	Elapsed  int64 // ns until the last message was through, and at least until the senders ended
}

// throughput computes the throughput: the number of acknowledged messages, if the load has
// acknowledgements, and of delivered ones, if it has consumers. Deliveries are converted to
// messages by their share of the expected deliveries.
func (l *ledger) throughput() Through {
	c := l.out.Counters
	t := Through{Messages: c["sent"] - c["nacked"], Received: c["received"], Elapsed: max(1, l.end)}
	if l.acknowledges() {
		t.Messages = c["acked"]
	} else if last := l.end - 1; l.flatOut() && !l.away("producers", last) {
		if back := l.frost.over(last); back-last < l.drain { // the round trip behind the last message
			t.Elapsed = max(t.Elapsed, back)
		}
	}
	for _, m := range l.all {
		if m.due < 0 || m.due >= l.end || m.answer == unsent {
			continue
		}
		if l.acknowledges() && m.answer == acknowledged && m.at <= l.leaves {
			t.Elapsed = max(t.Elapsed, m.at)
		}
		for g := range l.layout.groups {
			if r := l.had(m, g, true); r != nil && l.w.Consumer.From.IsZero() {
				t.Elapsed = max(t.Elapsed, r.at)
			}
		}
	}
	if c["expected"] > 0 && l.w.Consumer.From.IsZero() {
		t.Messages = min(t.Messages, int64(math.Round(float64(c["received"])*float64(c["sent"])/float64(c["expected"]))))
	}
	return t
}
