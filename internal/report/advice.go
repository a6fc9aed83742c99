package report

import (
	"cmp"
	"slices"
	"strings"

	"sixnines/internal/judge"
	"sixnines/result"
)

// advice is a reason of the verdict for the first screen.
type advice struct {
	brief string // for the verdict's line
	why   string
	try   string // what to do; empty: nobody knows
}

// adviceOf is a reason in short.
func adviceOf(s *subject, r result.Reason) advice {
	usual, told := r.Code.Properties(), firstClause(plain(r.Text))
	a := advice{brief: cmp.Or(plain(r.Brief), usual.Brief), why: strings.TrimPrefix(told, "self-inflicted: "), try: usual.Try}
	where := rowName(plain(r.Percentile))
	switch r.Code {
	case result.ReasonSelfInflicted:
		a.why = "the generator itself made most of the slowest messages late"
	case result.ReasonOwnLag:
		a.why = "the generator itself was late: own lag is above a quarter of " + where
	case result.ReasonReceiveLag:
		a.why = "received data waited to be read for more than half of " + where
	case result.ReasonGeneratorLimit:
		a.why = "the busiest sending thread of the generator was busy nearly all the time"
	case result.ReasonBacklog:
		switch {
		case r.Status == result.Suspect:
			a = advice{"overload or slow answers: the run is too short to tell", told, "run longer (--duration)"}
		case s.sum.Kept != nil && r.Status == result.Unstable:
			a = advice{"consumers did not catch up", told, "lower --rate, or make the window longer (--duration)"}
		default:
			a.why = "the backlog (messages due or in flight) grew until the end and did not shrink again"
		}
	case result.ReasonSteady:
		a.why = where + " depends on how long the run was: " + a.brief
	case result.ReasonWarmUp:
		a.why = where + " and the percentiles above it include a warm-up"
		for _, remedy := range []string{"run with --warmup ", "lengthen "} { // files of earlier versions have the second
			if _, how, found := strings.Cut(plain(r.Text), remedy); found {
				a.try = remedy + firstClause(how)
				break
			}
		}
	case result.ReasonAttribution:
		return advice{brief: a.brief} // the cause is told by itself
	}
	a.brief = cmp.Or(a.brief, a.why)
	return a
}

// firstClause is what was found, without what it means and what to do.
func firstClause(text string) string {
	clause, _, _ := strings.Cut(text, "; ")
	return clause
}

// advices are the reasons why a run is not better, each once whatever it touches,
// the worst first; then what the slowest messages met, where percentiles are
// suspect. Its own lag is not told where what caused it is.
func advices(s *subject) []advice {
	var causes, out []advice
	limited := len(s.sum.Verdict.Limits) > 0 || s.sum.Verdict.Status != result.Valid
	for _, x := range s.sum.Attribution {
		if x.Metric != s.measuredMetric() || !limited {
			continue
		}
		for _, c := range x.Causes {
			if !c.Named {
				continue
			}
			what, remedy := judge.Describe(plain(c.Source))
			causes = append(causes, advice{why: what + " (" + count(int64(c.Messages)) + " of the " + count(int64(x.Messages)) + " slowest)", try: remedy})
		}
	}
	told := map[result.ReasonCode]bool{}
	worthless := s.sum.Verdict.Status == result.Unstable || s.sum.Verdict.Status == result.Invalid
	for _, r := range s.reasons() {
		if r.Status == result.Valid || tellsRefusal(r) || told[r.Code] || r.Code == result.ReasonOwnLag && len(causes) > 0 || worthless && r.Status == result.Suspect && r.Percentile != "" {
			continue
		}
		told[r.Code] = true
		if a := adviceOf(s, r); a.why != "" {
			out = append(out, a)
		}
	}
	out = append(out, causes...)
	for i := range out { // a remedy is said once, too
		if slices.ContainsFunc(out[:i], func(a advice) bool { return a.try == out[i].try }) {
			out[i].try = ""
		}
	}
	return out
}
