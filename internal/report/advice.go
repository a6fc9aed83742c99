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

// usualAdvice is what is always said of reasons of a code: in brief, and what to do.
func usualAdvice() map[string]advice {
	return map[string]advice{
		"warm-up-left":     {brief: "the warm-up's backlog was left", try: "leave out the warm-up (--warmup 0s), or wait longer for it (--drain)"},
		"conservation":     {brief: "the message counts do not add up", try: "report it with the result file: it is a defect of sixnines or of the driver"},
		"violations":       {brief: "the driver broke its contract", try: "run the driver's conformance suite"},
		"cut-short":        {brief: "the run was cut short", try: "run it again"},
		"aborted":          {brief: "the run was aborted", try: "run it again, or interrupt it only once"},
		"suspended":        {brief: "the machine was suspended", try: "switch sleeping off and run again"},
		"consumers-absent": {brief: "consumers could not connect", try: "see why the broker refuses them"},
		"frozen":           {try: "look for what stopped the process (a signal, a limit, the hypervisor) and run again"},
		"self-inflicted":   {try: "look for what stopped the process (a signal, a limit, the hypervisor) and run again"},
		"own-lag":          {try: "lower the rate, or give the generator processors of its own"},
		"receive-lag":      {try: "lower the rate, use more connections, or give the generator more processor"},
		"generator-limit":  {try: "lower the rate, use more connections or a larger machine"},
		"backlog":          {try: "lower --rate, or find what it can carry: sixnines capacity"},
		"steady":           {try: "run longer (--duration), and see what changed: --show steady"},
		"not-sent":         {try: "lower the rate, or lengthen the drain (--drain)"},
		"rate":             {try: "lower the rate, or give the generator more processor"},
		"worst-second":     {try: "lower the rate, or give the generator more processor"},
		"throttled":        {try: "raise the processor quota (cpu.max)"},
		"steal":            {try: "run on a machine of your own, or at another time"},
		"starved":          {brief: "the broker lacked a processor", try: "give the broker processors of its own, or lower the rate"},
		"unseen":           {brief: "the broker may have lacked a processor", try: "run sixnines as the broker's user or as root, or lower the rate"},
		"swap":             {try: "free memory, or switch swapping off"},
		"cpu":              {try: "lower the rate, or use a larger machine"},
		"gc":               {try: "raise GOMEMLIMIT, or lower the rate"},
		"all-refused":      {brief: "every message was refused", try: "allow this user at the broker what it refuses, or log in as another"},
		"denied":           {brief: "the broker refused messages", try: "allow this user at the broker what it refuses, or log in as another"},
		"refused":          {try: "allow this user at the broker what it refuses, or log in as another"},
		"given-up":         {try: "allow this user at the broker what it refuses, or log in as another"},
		"unauthorised":     {try: "allow this user at the broker what it refuses, or log in as another"},
		"client-drops":     {try: "raise the client's limits"},
		"probe":            {try: "use more connections, and see --show reasons"},
	}
}

// adviceOf is a reason in short.
func adviceOf(s *subject, r result.Reason) advice {
	a, told := usualAdvice()[r.Code], firstClause(plain(r.Text))
	a.brief, a.why = cmp.Or(a.brief, plain(r.Brief)), strings.TrimPrefix(told, "self-inflicted: ")
	where := rowName(plain(r.Percentile))
	switch r.Code {
	case "frozen":
		a.brief = cmp.Or(a.brief, "the generator's own delay made the tail")
	case "self-inflicted":
		a.brief, a.why = cmp.Or(a.brief, "the generator's own delay made the tail"), "the generator itself made most of the slowest messages late"
	case "own-lag":
		a.brief, a.why = cmp.Or(a.brief, "own lag"), "the generator itself was late: own lag is above a quarter of "+where
	case "receive-lag":
		a.why = "received data waited to be read for more than half of " + where
	case "generator-limit":
		a.why = "the busiest sending thread of the generator was busy nearly all the time"
	case "backlog":
		switch {
		case r.Status == result.Suspect:
			a = advice{"overload or slow answers: the run is too short to tell", told, "run longer (--duration)"}
		case s.sum.Kept != nil && r.Status == result.Unstable:
			a = advice{"consumers did not catch up", told, "lower --rate, or make the window longer (--duration)"}
		default:
			a.why = "the backlog (messages due or in flight) grew until the end and did not shrink again"
		}
	case "steady":
		a.why = where + " depends on how long the run was: " + a.brief
	case "warm-up":
		a.why = where + " and the percentiles above it include a warm-up"
		for _, remedy := range []string{"run with --warmup ", "lengthen "} { // files of earlier versions have the second
			if _, how, found := strings.Cut(plain(r.Text), remedy); found {
				a.try = remedy + firstClause(how)
				break
			}
		}
	case "attribution":
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
	told := map[string]bool{}
	worthless := s.sum.Verdict.Status == result.Unstable || s.sum.Verdict.Status == result.Invalid
	for _, r := range s.reasons() {
		if r.Status == result.Valid || tellsRefusal(r) || told[r.Code] || r.Code == "own-lag" && len(causes) > 0 || worthless && r.Status == result.Suspect && r.Percentile != "" {
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
