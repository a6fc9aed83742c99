package compare

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Account is a counter or a rate of both sets. They are facts of these runs, and
// no test is made of them.
type Account struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	Unit string  `json:"unit"` // "messages", "/s", "of due"
	// RunsA and RunsB say in how many runs a counter is not zero.
	RunsA int `json:"runs_a,omitempty"`
	RunsB int `json:"runs_b,omitempty"`
}

// accounts sums counters over the runs of each side, and takes the least of
// rates, which have no sum.
func accounts(pairs []couple) []Account {
	out := []Account{}
	if len(pairs) == 0 {
		return out
	}
	for _, k := range []struct {
		name   string
		always bool
		value  func(*result.Counters) int64
	}{
		{"due", true, func(c *result.Counters) int64 { return c.Scheduled }},
		{"not sent", false, func(c *result.Counters) int64 { return c.NotSent }},
		{"refused", false, func(c *result.Counters) int64 { return c.Rejected + c.Nacked }},
		{"lost", true, func(c *result.Counters) int64 { return c.Missing }},
		{"lost although acknowledged", false, func(c *result.Counters) int64 { return c.LostAcked }},
		{"corrupted", false, func(c *result.Counters) int64 { return c.Corrupted }},
		{"duplicated", false, func(c *result.Counters) int64 { return c.Duplicated }},
		{"reordered", false, func(c *result.Counters) int64 { return c.Reordered }},
	} {
		a := Account{Name: k.name, Unit: "messages"}
		for _, p := range pairs {
			for i, sum := range []*float64{&a.A, &a.B} {
				n := k.value(&p.runs[i].Summary.Counters)
				*sum += float64(n)
				if n != 0 {
					*[]*int{&a.RunsA, &a.RunsB}[i]++
				}
			}
		}
		if k.always || a.A+a.B > 0 {
			out = append(out, a)
		}
	}
	if !slices.ContainsFunc(pairs, func(p couple) bool { return p.runs[0].Header.Rate == 0 || p.runs[1].Header.Rate == 0 }) {
		for _, k := range []struct {
			name, unit string
			value      func(*result.Summary) float64
		}{
			{"rate kept, worst run", "of due", func(s *result.Summary) float64 {
				kept, _ := s.Rate.Kept()
				return kept
			}},
			{"worst second of any run", "of due", func(s *result.Summary) float64 { return s.Rate.WorstSecond }},
		} {
			a := Account{Name: k.name, Unit: k.unit, A: math.Inf(1), B: math.Inf(1)}
			for _, p := range pairs {
				a.A, a.B = min(a.A, k.value(p.runs[0].Summary)), min(a.B, k.value(p.runs[1].Summary))
			}
			if !math.IsNaN(a.A+a.B) && !math.IsInf(a.A+a.B, 0) {
				out = append(out, a)
			}
		}
	}
	return out
}

// brokenPromise is a regression whatever the latencies: B lost what it had
// acknowledged, and A nothing of the kind. It is a count and not a test, and a run that
// was overloaded counts, too: what it lost is a fact, though its latencies are none.
func brokenPromise(everyone []couple) string {
	var lost [2]int64
	runs := 0 // of B
	for _, p := range everyone {
		for i, r := range p.runs {
			if r.unfit != "" && !unstable(r) || r.Summary.Aborted {
				continue
			}
			n := r.Summary.Counters.LostAcked
			if lost[i] += n; i == 1 && n > 0 {
				runs++
			}
		}
	}
	if lost[0] > 0 || lost[1] == 0 {
		return ""
	}
	return fmt.Sprintf("B lost %s in %s, A none", spell.Plural(lost[1], "acknowledged message"), spell.Plural(runs, "run"))
}

// collapsed is a regression where B failed in pairs in which A did not: it did not
// hold the load, or messages that never came reach a percentile that is judged.
// Such pairs have no ratio, and without a word on them the more B failed the less
// would be left to judge. Under exchange of a pair's runs either is as likely to
// be the one that failed: n pairs in which one alone did, all of them B, have p =
// 2/2ⁿ. Of a gate's false alarms the latencies take half of 5 %, for it fails in
// one direction, and this at most 1/2⁶ more.
func (c *Comparison) collapsed(everyone []couple) string {
	if c.Refused != "" {
		return ""
	}
	var failed [2]int
	overloads, unresolved := 0, 0
	for _, p := range everyone {
		var fails [2]bool
		for i, r := range p.runs {
			fails[i] = unstable(r) || r.unfit == "" && c.unresolved(r)
		}
		switch a, b := p.runs[0], p.runs[1]; {
		case fails[0] == fails[1], a.unfit != "" && !unstable(a), b.unfit != "" && !unstable(b):
			continue
		case fails[0]:
			failed[0]++
			continue
		case unstable(b):
			overloads++
		default:
			unresolved++
		}
		failed[1]++
	}
	n := failed[1]
	if failed[0] > 0 || n == 0 || 2/math.Pow(2, float64(n)) > 1-Confidence {
		return ""
	}
	var how []string
	if overloads > 0 {
		how = append(how, fmt.Sprintf("did not carry the load in %d", overloads))
	}
	if unresolved > 0 {
		how = append(how, fmt.Sprintf("had unresolved messages up to a judged percentile in %d", unresolved))
	}
	return fmt.Sprintf("B failed in %d pairs in which A did not (p = %.2g): it %s", n, 2/math.Pow(2, float64(n)), all(how))
}

// unresolved reports whether messages that never came reach a percentile of r
// that is judged.
func (c *Comparison) unresolved(r run) bool {
	for _, m := range c.Metrics {
		d := dist(r, m.Metric)
		if m.Judged && d != nil && slices.ContainsFunc(m.Rows, func(x Row) bool { return d.AtLeast[x.Percentile] && x.Percentile != maximum }) {
			return true
		}
	}
	return false
}

func unstable(r run) bool {
	return r.Summary != nil && r.Summary.Verdict.Status == result.Unstable
}

// suspectReasons collects why runs in use are SUSPECT, once for each reason and metric.
func suspectReasons(pairs []couple) []SuspectReason {
	out := []SuspectReason{}
	for i := range 2 {
		for _, p := range pairs {
			r := p.runs[i]
			counted := map[int]bool{} // a run counts once for each reason
			add := func(code string, m result.Metric, percentile, text string) {
				at := slices.IndexFunc(out, func(d SuspectReason) bool { return d.Side == side(i) && d.Code == code && d.Metric == m })
				if at < 0 {
					at = len(out)
					out = append(out, SuspectReason{Side: side(i), Code: code, Metric: m, Text: text})
				}
				d := &out[at]
				if !counted[at] {
					counted[at] = true
					d.Runs++
				}
				if percentile != "" && !slices.Contains(d.Percentiles, percentile) {
					d.Percentiles = append(d.Percentiles, percentile)
				}
			}
			if r.Summary.Interrupted {
				add("interrupted", "", "", "the window was ended early")
			}
			for _, reason := range r.Summary.Verdict.Reasons {
				if reason.Status != result.Valid {
					add(reason.Code, reason.Metric, reason.Percentile, reason.Text)
				}
			}
		}
	}
	return out
}
