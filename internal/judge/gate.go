package judge

import (
	"cmp"
	"slices"
	"strings"

	"sixnines/result"
)

// gate is one check of the verdict. It returns nil if it finds nothing, else its
// findings, each with the status that it alone leads to; a Valid one is a note.
type gate func(*evidence) []result.Reason

// gates lists all checks in the order in which reasons are printed: first those that
// invalidate a run, last the notes.
func gates() []gate {
	return []gate{
		cutShort, conservation, violations, suspended, consumersAbsent, actionsDone, brokerEnded, agentsLost, agentsInvalid, agentsApart, agentsDiffer, clocks,
		selfInflicted, frozen, ownLag, receiveLag, generatorShare, generatorLimit,
		backlogGrows, backlogKept, steadiness, dependence,
		notSent, sentLate, worstSecond,
		throttled, steal, swap, starved, unseen, processors, collector, scheduler, attributed, besideProbe,
		clientDrops, clamps, little,
		closedLoop, unpaced, sameHost, nearFloor, aboveLimit, interrupted, until,
		aborted, losses, refusals, refusedConnections, denials, answers, duplicates, censoredMessages, lastUnknown, lifetime, takeovers, events, semantics,
	}
}

// decide runs all gates.
func decide(e *evidence) result.Verdict {
	reasons := []result.Reason{}
	outside := e.outsideActions()
	for _, g := range gates() {
		found := g(e)
		if outside != nil {
			found = append(found, heldTwice(found, g(outside))...)
		}
		for _, r := range found {
			reasons = append(reasons, worded(r))
		}
	}
	return e.verdict(reasons)
}

// heldTwice returns the findings outside of the effects of actions that lower the verdict further
// than those of the same gate over the whole run do.
func heldTwice(whole, outside []result.Reason) (more []result.Reason) {
	for _, r := range outside {
		if r.Status == result.Valid || r.Code.Properties().Held != result.HeldTwice || slices.ContainsFunc(whole, func(w result.Reason) bool { return covers(w, r) }) {
			continue
		}
		r.Found = "outside of the effects of actions: " + r.Found
		more = append(more, r)
	}
	return more
}

// covers reports whether a reason lowers the verdict as far as another of the same code does.
func covers(w, r result.Reason) bool {
	return w.Code == r.Code && w.Metric == r.Metric && rank(w.Status) >= rank(r.Status) &&
		(w.Percentile == "" || r.Percentile != "" && percentOf(w.Percentile) <= percentOf(r.Percentile))
}

// verdict returns the worst status of all findings. A finding about a percentile of a
// latency only limits that latency, which stays valid below the percentile. If even the
// lowest percentile of the run's first latency is limited, no valid one is left: the run is
// SUSPECT then, and INVALID where the lowest percentile is invalid.
func (e *evidence) verdict(reasons []result.Reason) result.Verdict {
	v := result.Verdict{Status: result.Valid, Reasons: reasons}
	for _, r := range v.Reasons {
		if !limits(r) {
			v.Status = worse(v.Status, r.Status)
		}
	}
	first := result.Metric("")
	for _, m := range e.latencies() {
		if first == "" {
			first = m
		}
		l := e.limit(m, v.Reasons)
		if l == nil {
			continue
		}
		v.Limits = append(v.Limits, *l)
		switch {
		case m != first:
		case l.ValidTo == "" && l.InvalidFrom == l.From:
			v.Status = worse(v.Status, result.Invalid)
		case l.ValidTo == "":
			v.Status = worse(v.Status, result.Suspect)
		case v.Status == result.Valid:
			v.ValidTo = l.ValidTo
		}
	}
	return v
}

// limits reports whether a reason concerns a percentile and those above it only.
func limits(r result.Reason) bool {
	return (r.Status == result.Suspect || r.Status == result.Invalid) && r.Percentile != "" && (r.Metric == "" || r.Metric.IsLatency())
}

// limit returns the published percentiles from which on a latency is suspect and invalid; nil
// if no reason limits it.
func (e *evidence) limit(m result.Metric, reasons []result.Reason) *result.Limit {
	d := e.summary.Histograms[m]
	var below result.Percentile
	var l *result.Limit
	for name := range d.All() {
		why, invalid := reached(m, name, reasons)
		if len(why.codes) > 0 && l == nil {
			l = &result.Limit{Metric: m, ValidTo: below, From: name, Why: strings.Join(why.words, ", "), Codes: why.codes}
		}
		if len(invalid.codes) > 0 {
			l.InvalidFrom, l.InvalidWhy, l.InvalidCodes = name, strings.Join(invalid.words, ", "), invalid.codes
			break
		}
		below = name
	}
	return l
}

// why lists the reasons that limit a percentile: their codes and short texts, each once.
type why struct {
	codes []result.ReasonCode
	words []string
}

func (w *why) add(r result.Reason) {
	if !slices.Contains(w.codes, r.Code) {
		w.codes = append(w.codes, r.Code)
	}
	if text := r.Short(); !slices.Contains(w.words, text) {
		w.words = append(w.words, text)
	}
}

// reached returns all reasons that limit a percentile of a metric, and those that make it invalid.
func reached(m result.Metric, percentile result.Percentile, reasons []result.Reason) (all, invalid why) {
	for _, r := range reasons {
		if !limits(r) || r.Metric != m && r.Metric != "" || percentOf(r.Percentile) > percentOf(percentile) {
			continue
		}
		all.add(r)
		if r.Status == result.Invalid {
			invalid.add(r)
		}
	}
	return all, invalid
}

// worse returns the worse of two statuses.
func worse(a, b result.Status) result.Status {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// rank orders the statuses from best to worst.
func rank(s result.Status) int {
	switch s {
	case result.Valid:
		return 0
	case result.Suspect:
		return 1
	case result.Unstable:
		return 2
	}
	return 3
}

// worded completes a reason. If it lowers the verdict and has no advice, Try comes from the
// table of codes. Text becomes all parts in one line.
func worded(r result.Reason) result.Reason {
	if r.Status != result.Valid {
		r.Try = cmp.Or(r.Try, r.Code.Properties().Try)
	}
	r.Text = r.Found
	if r.Means != "" {
		r.Text += "; " + r.Means
	}
	switch {
	case r.Try == "":
	case r.Means != "":
		r.Text += ": " + r.Try
	default:
		r.Text += "; " + r.Try
	}
	return r
}

// single is the outcome of a gate with one finding.
func single(r result.Reason) []result.Reason { return []result.Reason{r} }

// note is the outcome of a gate with one finding that does not lower the verdict.
func note(code result.ReasonCode, found string) []result.Reason {
	return single(result.Reason{Status: result.Valid, Code: code, Found: found})
}

// suspectFrom is the outcome of a gate whose finding affects at most a share, 0 to 1, of
// the messages: SUSPECT from the lowest published percentile that it can affect, a note
// if it can affect none. Twice the share counts, because a delayed message delays those
// behind it, for no longer than itself in a system that is loaded to half of its capacity.
func (e *evidence) suspectFrom(share float64, r result.Reason) []result.Reason {
	r.Status = result.Suspect
	reaches := ""
	published := e.reaches(1)
	reached := e.reaches(2 * share)
	switch {
	case len(published) == 0 || e.run.Header.Mode == result.ModeFlatOut: // the run publishes only totals
	case len(reached) == 0:
		r.Status = result.Valid
		reaches = "too little to affect any percentile of this run"
	case reached[0] == published[0]:
		reaches = "every percentile may be affected"
	default:
		r.Percentile = reached[0]
		reaches = "p" + string(reached[0])
		if len(reached) > 1 {
			reaches += " and the percentiles above it"
		}
		reaches += " may be affected"
	}
	r.Means = joined(reaches, r.Means)
	return single(r)
}

// invalidIfAll is like suspectFrom, for a share of the window's time large enough to make the
// run INVALID if it can affect every percentile. The run is always INVALID where throughput is
// its subject, as in a closed loop.
func (e *evidence) invalidIfAll(share float64, r result.Reason) []result.Reason {
	if e.in.stopsInvalidate || e.run.Header.Mode == result.ModeClosed {
		r.Status = result.Invalid
		return single(r)
	}
	found := e.suspectFrom(e.mostDue(share), r)
	if r := &found[0]; r.Status == result.Suspect && r.Percentile == "" {
		r.Status = result.Invalid
	}
	return found
}

// joined joins two clauses into one; either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
