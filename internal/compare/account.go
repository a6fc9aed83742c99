package compare

import (
	"fmt"
	"math"
	"slices"

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

// lostAcked names the account of the broker's broken promises.
const lostAcked = "lost although acknowledged"

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
		{lostAcked, false, func(c *result.Counters) int64 { return c.LostAcked }},
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
			{"rate kept, worst run", "of asked", func(s *result.Summary) float64 { return s.Rate.Sent / s.Rate.Asked }},
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
// acknowledged, and A nothing of the kind. It is a count and not a test.
func brokenPromise(accounts []Account) string {
	for _, a := range accounts {
		if a.Name == lostAcked && a.A == 0 && a.B > 0 {
			return fmt.Sprintf("B lost %.0f acknowledged messages in %d runs, A none", a.B, a.RunsB)
		}
	}
	return ""
}

// overloaded is a regression where too few pairs are left because B did not
// hold the load and A did. Under exchange of a pair's runs either is as likely to
// be the one that failed, and whether the pair is left does not change: n pairs
// in which one alone failed, all of them B, have p = 2/2ⁿ. So it does not spend
// what the latencies would have been judged with, since of those there are none.
func overloaded(all []couple, left int) string {
	if left >= MinPairs {
		return ""
	}
	var failed [2]int
	for _, c := range all {
		for i := range c.runs {
			if unstable(c.runs[i]) && !unstable(c.runs[1-i]) {
				failed[i]++
			}
		}
	}
	if n := failed[1]; failed[0] == 0 && n > 0 && 2/math.Pow(2, float64(n)) <= 1-Confidence {
		return fmt.Sprintf("B did not hold the load in %d pairs in which A did (p = %.3f)", n, 2/math.Pow(2, float64(n)))
	}
	return ""
}

func unstable(r run) bool {
	return r.Summary != nil && r.Summary.Verdict.Status == result.Unstable
}

// doubts collects why runs in use are SUSPECT, once for each reason and metric.
func doubts(pairs []couple) []Doubt {
	out := []Doubt{}
	for i := range 2 {
		for _, p := range pairs {
			r := p.runs[i]
			counted := map[int]bool{} // a run counts once for each doubt
			add := func(code string, m result.Metric, percentile, text string) {
				at := slices.IndexFunc(out, func(d Doubt) bool { return d.Side == side(i) && d.Code == code && d.Metric == m })
				if at < 0 {
					at = len(out)
					out = append(out, Doubt{Side: side(i), Code: code, Metric: m, Text: text})
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
