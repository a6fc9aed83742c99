package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// Thresholds of the share of due messages that was sent, 0 to 1.
const (
	sentSuspect        = 0.999 // over the window
	worstSecondSuspect = 0.9   // in the worst second
)

// paced reports whether the run had a schedule that could be missed.
func (e *evidence) paced() bool { return e.run.Header.Mode == result.ModeOpen }

// blockedAt reports whether blocked sends, rather than the generator's own lag, delayed the
// messages that were not sent in a second. It compares the maxima of the two lags in that
// second and up to the second interval after it in which anything was sent. A lag is recorded
// when its message is sent, so that of a stall appears when the stall is over, or never. An own
// lag shorter than half of the missing time therefore explains nothing.
func (e *evidence) blockedAt(w worstStretch) bool {
	var own, blocked int64
	i := w.at
	from := e.run.Series[i].Start
	length := min(wholeSecond, float64(w.length))
	for left := 2; i < len(e.run.Series) && left > 0; i++ {
		p := &e.run.Series[i]
		own = max(own, p.Metrics[result.LagOwn].Max)
		blocked = max(blocked, p.Metrics[result.LagBlocked].Max)
		if p.Counters.Sent > 0 && float64(p.End-from) >= length {
			left--
		}
	}
	return blocked > own || float64(own) < (1-w.share)/2*length
}

// late returns the share, 0 to 1, of the sent messages whose own lag was above minMeanOwnLag;
// 1 if unknown.
func (e *evidence) late() float64 {
	x := e.run.Metrics[result.LagOwn]
	if count(x) == 0 {
		return 1
	}
	return float64(histograms.RanksOf(x.Hist).Above(minMeanOwnLag)) / float64(count(x))
}

// notSent: messages were due and had not been sent when the run ended.
func notSent(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.NotSent == 0 {
		return nil
	}
	share := float64(c.NotSent) / float64(max(c.Scheduled, 1))
	if act := e.blockedBy(c.NotSent); act != nil {
		return note(result.ReasonNotSent, fmt.Sprintf("%s of %s due could not be sent before the run ended: sends were blocked from the action %s on, whose effect lasted to the end; they count in the percentiles as lower bounds",
			spell.Plural(c.NotSent, "message"), spell.Count(c.Scheduled), act.Action.Text))
	}
	return e.suspectFrom(share, result.Reason{Code: result.ReasonNotSent, Brief: spell.Share(share) + " not sent", Found: fmt.Sprintf(
		"%s of %s due could not be sent before the run ended", spell.Plural(c.NotSent, "message"), spell.Count(c.Scheduled)),
		Means: "they count in the percentiles as lower bounds"})
}

// blockedBy returns the action that had an effect to the end of the window and explains that messages
// were never sent: they were all due from there on, and no own lag of the generator could be the cause;
// nil if no action does.
func (e *evidence) blockedBy(notSent int64) *Stretch {
	s := e.unfinished()
	if s == nil {
		return nil
	}
	var before, own, blocked int64
	for _, p := range e.timed {
		for _, l := range p.Stretches {
			if l.At <= s.From {
				before = l.Backlog
			}
		}
		if p.End > s.From {
			own, blocked = max(own, p.Metrics[result.LagOwn].Max), max(blocked, p.Metrics[result.LagBlocked].Max)
		}
	}
	missing := float64(notSent) / e.run.Header.Rate * 1e9 // ns of the schedule
	if before > max(1, notSent/100) || own >= blocked && float64(own) >= missing/2 {
		return nil
	}
	return s
}

// sentLate: less than 99.9 % of the messages due in the window were sent in it. If sends were
// blocked, the broker caused that and the response times include it: a note.
func sentLate(e *evidence) []result.Reason {
	if !e.paced() {
		return nil
	}
	var due, sent, own, blocked int64
	for _, p := range e.measure {
		due += p.Counters.Scheduled
		sent += handled(p.Counters)
	}
	for _, p := range e.timed { // with the drain: it has the lag of messages sent after the window
		blocked = max(blocked, p.Metrics[result.LagBlocked].Max)
	}
	for _, p := range e.whole { // what was due outside of an action's effect may be sent during it
		own = max(own, p.Metrics[result.LagOwn].Max)
	}
	if due == 0 || sent+1 >= due || float64(sent+1) >= sentSuspect*float64(due) {
		return nil
	}
	text := fmt.Sprintf("%s of the %s due in the window were sent in it", spell.ExactShare(float64(sent)/float64(due)), spell.Plural(due, "message"))
	missing := float64(due-sent) / e.run.Header.Rate * 1e9     // ns of the schedule
	elsewhere := e.run.Counters.NotSent > 0 || len(e.left) > 0 // lags of some messages are in no interval of these
	if blocked > own || float64(own) < missing/2 && elsewhere {
		return note(result.ReasonBlocked, text+": sends were blocked or the in-flight limit was reached, which the response times include")
	}
	late := max(e.late(), float64(due-sent)/float64(due))
	return e.suspectFrom(late, result.Reason{Code: result.ReasonRate, Brief: spell.Share(late) + " sent late", Found: text, Means: "the generator did not keep up with the rate"})
}

// worstSecond: in some second, or in a shorter window, less than 90 % of the messages due were
// sent. The rate over the whole window does not show a run that stalls and catches up.
func worstSecond(e *evidence) []result.Reason {
	if !e.paced() {
		return nil
	}
	all := slices.DeleteFunc(secondsOf(e.run, e.leaves), func(w worstStretch) bool { return w.share >= worstSecondSuspect })
	if len(all) == 0 {
		return nil
	}
	// Sends that were blocked in the worst second explain no other.
	slices.SortStableFunc(all, func(a, b worstStretch) int { return cmp.Compare(a.share, b.share) })
	w, which := all[0], "in the worst second"
	if i := slices.IndexFunc(all, func(w worstStretch) bool { return !e.blockedAt(w) }); i > 0 {
		w, which = all[i], "in the worst second in which sends were not blocked"
	}
	where := fmt.Sprintf("%s, %s after the start,", which, spell.Period(time.Duration(w.start)))
	if float64(w.length) < wholeSecond {
		where = fmt.Sprintf("in the window of %s", spell.Period(time.Duration(w.length)))
	}
	text := fmt.Sprintf("%s only %s of the messages due were sent", where, spell.Share(w.share))
	if e.blockedAt(w) {
		return note(result.ReasonWorstSecondBlocked, text+": sends were blocked or the in-flight limit was reached, which the response times include")
	}
	late := max(e.late(), (1-w.share)*float64(w.length)/e.window())
	return e.suspectFrom(late, result.Reason{Code: result.ReasonWorstSecond, Brief: spell.Share(late) + " sent late", Found: text + " because the generator was late"})
}
