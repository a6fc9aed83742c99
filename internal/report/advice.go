package report

import (
	"cmp"
	"slices"

	"sixnines/internal/judge"
	"sixnines/result"
)

// advice is a reason of the verdict for the first screen.
type advice struct {
	brief string // for the verdict's line
	why   string
	try   string // what to do; empty: not known
}

// adviceOf returns a reason in short form. Reasons of earlier versions have no parts: their
// text says what to do.
func adviceOf(r result.Reason) advice {
	a := advice{brief: cmp.Or(plain(r.Brief), r.Code.Properties().Brief, plain(r.What())), why: plain(r.What()), try: plain(r.Try)}
	if r.Code == result.ReasonAttribution {
		return advice{brief: a.brief} // another advice is about the cause
	}
	return a
}

// advices returns the reasons that lower a run's verdict, the worst first, each once even if
// it concerns several metrics; then, if percentiles are suspect, the causes of the slowest
// messages. It leaves out the generator's own lag if it names the cause of that lag.
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
	worthless := s.worthless()
	for _, r := range s.reasons() {
		if r.Status == result.Valid || tellsRefusal(r) || told[r.Code] || r.Code == result.ReasonOwnLag && len(causes) > 0 || worthless && r.Status == result.Suspect && r.Percentile != "" {
			continue
		}
		told[r.Code] = true
		if a := adviceOf(r); a.why != "" {
			out = append(out, a)
		}
	}
	out = append(out, causes...)
	for i := range out { // each remedy appears once
		if slices.ContainsFunc(out[:i], func(a advice) bool { return a.try == out[i].try }) {
			out[i].try = ""
		}
	}
	return out
}
