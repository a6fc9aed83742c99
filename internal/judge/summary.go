package judge

import (
	"sixnines/result"
)

// Inputs are the facts in a summary that do not follow from the intervals. The zero value
// means that the run went as its header planned. All instants are ns from the window's start.
type Inputs struct {
	End         int64 // of the window; 0: as the header plans, unless it was ended early
	Resolved    int64 // when the last message was resolved or given up; 0: the end of the last interval
	Interrupted bool  // the window was ended early
	Aborted     bool  // the run was ended without a drain
	// CutShort says that the run ended before it wrote its summary.
	CutShort   bool
	Throughput *result.Throughput // of a run without a schedule; else nil
	// stopsInvalidate makes long pauses, throttling and steal invalidate the whole run,
	// as in earlier versions.
	stopsInvalidate bool
}

// Close computes the summary of a run with a closing record as its last record; it panics
// without one.
func Close(run *result.Run) *result.Summary { return Summarise(run, closed(run)) }

// closed returns the inputs that the closing record gives.
func closed(run *result.Run) Inputs {
	c := run.Closing
	return Inputs{End: c.End, Resolved: c.Resolved(), Interrupted: c.Interrupted, Aborted: c.Aborted, Throughput: throughput(run, c)}
}

// InputsOf returns the inputs behind a run's summary: those of its closing record, or, in
// results of earlier versions, those that the summary itself states. A run without a summary
// counts as cut short at the end of its last interval.
func InputsOf(run *result.Run) Inputs {
	if run.Summary != nil && run.Closing != nil {
		return closed(run)
	}
	if s := run.Summary; s != nil {
		return Inputs{End: s.End, Resolved: s.Resolved, Interrupted: s.Interrupted, Aborted: s.Aborted, Throughput: s.Throughput}
	}
	in := Inputs{CutShort: true}
	for _, p := range run.Series {
		if p.Phase == result.PhaseMeasure {
			in.End = max(in.End, p.End)
		}
		in.Resolved = max(in.Resolved, p.End)
	}
	return in
}

// Summarise computes a run's summary from its intervals. It neither reads nor sets
// run.Summary.
func Summarise(run *result.Run, in Inputs) *result.Summary {
	in = in.complete(run)
	s := &result.Summary{
		Type:        "summary",
		Counters:    run.Counters,
		Connections: run.Connections,
		Rate:        rate(run, in),
		Throughput:  in.Throughput,
		Histograms:  map[result.Metric]*result.Distribution{},
		End:         in.End,
		Resolved:    in.Resolved,
		Interrupted: in.Interrupted,
		Aborted:     in.Aborted,
	}
	for m, x := range run.Metrics {
		if total(x) > 0 {
			s.Histograms[m] = Distribution(m, x, Samples(m, x, run.Counters))
			setFloor(s.Histograms[m], m, run.Header.Floor)
			setBlocks(s.Histograms[m], m, run, in)
		}
	}
	setCorrected(run, s)
	s.Until = setUntil(run, in, s)
	s.Backlog = brokerBacklog(run, in)
	s.ReadBack = run.ReadBack
	if run.Closing != nil {
		s.Left = run.Closing.Left
	}
	s.Costs = costs(run, in)
	s.Unexplained = unexplained(run, s.Costs)
	setOutside(run, s)
	s.Availability = availability(run, s)
	s.Steady = steady(run, s)
	s.EffectiveSampleSize = effective(run, s)
	e := newEvidence(run, in, s)
	s.Attribution, e.attributed = attribute(run, in)
	s.Verdict = decide(e)
	s.Objectives = objectives(run, s, in.CutShort)
	return s
}

// complete fills in, from the header and the intervals, the instants that are 0.
func (in Inputs) complete(run *result.Run) Inputs {
	if in.End == 0 && !in.Interrupted && !in.CutShort {
		in.End = int64(run.Header.Window)
	}
	if in.Resolved == 0 {
		for _, p := range run.Series {
			in.Resolved = max(in.Resolved, p.End)
		}
	}
	return in
}

// rate computes the rates of the measured window.
func rate(run *result.Run, in Inputs) result.Rate {
	r := result.Rate{Asked: run.Header.Rate, WorstSecond: 1}
	var sent, due int64
	for i := range run.Series {
		if p := &run.Series[i]; p.Phase == result.PhaseMeasure {
			sent += p.Counters.Sent
			due += p.Counters.Scheduled
		}
	}
	missing := len(unfinished(run.Header.Fleet, in.End)) > 0
	if missing { // the intervals do not have what these agents had due from then on
		due = max(due, run.Counters.Scheduled)
	}
	if due == sent+1 { // the last message was due as the window ended, and was sent a moment later
		due = sent
	}
	if in.End > 0 {
		r.Sent = float64(sent) / (float64(in.End) / 1e9)
		if r.Asked > 0 {
			r.Due = float64(due) / (float64(in.End) / 1e9)
		}
	}
	r.WorstSecond = worst(run).share
	if missing && due > 0 { // no second has what these agents had due
		r.WorstSecond = min(r.WorstSecond, float64(sent)/float64(due))
	}
	return r
}

// wholeSecond is the least length, ns, of intervals that count as a second: their ends
// jitter.
const wholeSecond = 0.99e9

// worstStretch is a stretch of the window, a second long unless the window is shorter, and the
// share of the messages due in it that were handed to the client in it.
type worstStretch struct {
	share  float64 // at most 1
	at     int     // index of the interval in which it begins; −1: nothing was due
	start  int64   // ns from the window's start
	length int64   // ns
}

// worst returns the second of the window with the smallest share.
func worst(run *result.Run) worstStretch {
	w := worstStretch{share: 1, at: -1}
	for _, x := range secondsOf(run, func(from, to int64) bool { return false }) {
		if x.share < w.share {
			w = x
		}
	}
	return w
}

// secondsOf returns the seconds of the window in which anything was due, without intervals that are
// left out. Intervals, or the levels within long ones, are joined to seconds from the start of the
// window; a remainder at the end is checked as part of the window's last second. A window shorter
// than a second counts as a whole. One message may lie across a second's end, which does not count
// as late.
func secondsOf(run *result.Run, leave func(from, to int64) bool) (seconds []worstStretch) {
	var all []paceStretch
	look := func(part []paceStretch) {
		sum := paceStretch{start: part[0].start, at: part[0].at}
		for _, x := range part {
			sum.due, sum.sent, sum.length = sum.due+x.due, sum.sent+x.sent, sum.length+x.length
		}
		if sum.due > 0 {
			seconds = append(seconds, worstStretch{min(1, float64(sum.sent+1)/float64(sum.due)), sum.at, sum.start, sum.length})
		}
	}
	var length int64
	first, parts := 0, false
	flush := func() {
		if first < len(all) {
			for first > 0 && float64(length) < wholeSecond {
				first--
				length += all[first].length
			}
			if !parts || float64(length) >= wholeSecond { // a part of the window may be too short to say anything
				look(all[first:])
			}
		}
		all, first, length = nil, 0, 0
	}
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseMeasure {
			continue
		}
		if leave(p.Start, p.End) {
			parts = true
			flush()
			continue
		}
		for start, l := range p.Stretches {
			all = append(all, paceStretch{start: start, length: l.At - start, due: l.Due, sent: l.Sent, at: i})
			if length += l.At - start; float64(length) >= wholeSecond {
				look(all[first:])
				first, length = len(all), 0
			}
		}
	}
	flush()
	return seconds
}

// paceStretch is how many messages were due and handed to the client between two readings;
// start and length are in ns.
type paceStretch struct {
	start, length int64
	due, sent     int64
	at            int // index of its interval
}

// handled counts messages that were handed to the client. A message that the client
// rejected was not late.
func handled(c result.Counters) int64 { return c.Sent + c.Rejected }
