package report

import (
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
	a := advice{why: strings.TrimPrefix(firstClause(plain(r.Text)), "self-inflicted: "), brief: plain(r.Brief)}
	switch r.Code {
	case "conservation":
		a.brief, a.try = "the message counts do not add up", "report it with the result file: it is a defect of sixnines or of the driver"
	case "violations":
		a.brief, a.try = "the driver broke its contract", "run the driver's conformance suite"
	case "cut-short":
		a.brief, a.try = "the run was cut short", "run it again"
	case "aborted":
		a.brief, a.try = "the run was aborted", "run it again, or interrupt it only once"
	case "suspended":
		a.brief, a.try = "the machine was suspended", "switch sleeping off and run again"
	case "consumers-absent":
		a.brief, a.try = "consumers could not connect", "see why the broker refuses them"
	case "frozen", "self-inflicted":
		if a.brief == "" {
			a.brief = "the generator's own delay made the tail"
		}
		if r.Code == "self-inflicted" {
			a.why = "the generator itself made most of the slowest messages late"
		}
		a.try = "look for what stopped the process (a signal, a limit, the hypervisor) and run again"
	case "own-lag":
		if a.brief == "" {
			a.brief = "own lag"
		}
		a.why = "the generator itself was late: own lag is above a quarter of " + rowName(plain(r.Percentile))
		a.try = "lower the rate, or give the generator processors of its own"
	case "receive-lag":
		a.why = "received data waited to be read for more than half of " + rowName(plain(r.Percentile))
		a.try = "lower the rate, use more connections, or give the generator more processor"
	case "generator-limit":
		a.try = "lower the rate, use more connections or a larger machine"
		a.why = "the busiest sending thread of the generator was busy nearly all the time"
	case "backlog":
		a.why = "the backlog (messages due or in flight) grew until the end and did not shrink again"
		a.try = "lower --rate, or find what it can carry: sixnines capacity"
		if r.Status == result.Suspect {
			a.brief = "overload or slow answers: the run is too short to tell"
			a.why, a.try = firstClause(plain(r.Text)), "run longer (--duration)"
		}
		if s.sum.Kept != nil && r.Status == result.Unstable {
			a.brief, a.why, a.try = "consumers did not catch up", firstClause(plain(r.Text)), "lower --rate, or make the window longer (--duration)"
		}
	case "steady":
		a.why = rowName(plain(r.Percentile)) + " depends on how long the run was: " + a.brief
		a.try = "run longer (--duration), and see what changed: --show steady"
	case "warm-up":
		a.why = rowName(plain(r.Percentile)) + " and the percentiles above it include a warm-up"
		for _, remedy := range []string{"run with --warmup ", "lengthen "} { // files of earlier versions have the second
			if _, how, found := strings.Cut(plain(r.Text), remedy); found {
				a.try = remedy + firstClause(how)
				break
			}
		}
	case "attribution":
		return advice{brief: a.brief} // the cause is told by itself
	case "not-sent":
		a.try = "lower the rate, or lengthen the drain (--drain)"
	case "rate", "worst-second":
		a.try = "lower the rate, or give the generator more processor"
	case "throttled":
		a.try = "raise the processor quota (cpu.max)"
	case "steal":
		a.try = "run on a machine of your own, or at another time"
	case "swap":
		a.try = "free memory, or switch swapping off"
	case "cpu":
		a.try = "lower the rate, or use a larger machine"
	case "gc":
		a.try = "raise GOMEMLIMIT, or lower the rate"
	case "client-drops":
		a.try = "raise the client's limits"
	case "probe":
		a.try = "use more connections, and see --show reasons"
	}
	if a.brief == "" {
		a.brief = a.why
	}
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
	told := map[string]bool{}
	worthless := s.sum.Verdict.Status == result.Unstable || s.sum.Verdict.Status == result.Invalid
	for _, r := range s.reasons() {
		if r.Status == result.Valid || told[r.Code] || r.Code == "own-lag" && len(causes) > 0 || worthless && r.Status == result.Suspect && r.Percentile != "" {
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
