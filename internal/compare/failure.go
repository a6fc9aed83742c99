package compare

import (
	"fmt"
	"slices"

	"sixnines/internal/judge"
	"sixnines/result"
)

// failure is a way in which a run fails; a failed run counts as slower than any other.
type failure struct {
	did    string
	failed func(c *Comparison, r run) bool
}

func failureKinds() []failure {
	return []failure{
		{"did not carry the load", func(_ *Comparison, r run) bool { return unstable(r) }},
		{"delivered nothing", func(c *Comparison, r run) bool { return c.Throughput != nil && r.unfit == "" && c.Rate(r.Run) == 0 }},
		{"had unresolved messages up to a judged percentile", func(c *Comparison, r run) bool { return r.unfit == "" && c.unresolved(r) }},
	}
}

// failures judges the pairs in which one side failed and the other did not. Such pairs have
// no ratio; if they were ignored, a B that fails more often would leave fewer pairs against
// it. If A and B do not differ, either run of a pair is equally likely to be the one that
// failed, so the sign test applies. The result is nil if no run failed.
func (c *Comparison) failures(everyone []couple) *Judged {
	kinds := failureKinds()
	var s signs
	both := 0
	counts := make([]int, len(kinds)) // failures of B in pairs in which A did not fail
	for _, p := range everyone {
		if !p.runs[0].counts() || !p.runs[1].counts() {
			continue
		}
		var how [2]int
		for i, r := range p.runs {
			how[i] = slices.IndexFunc(kinds, func(k failure) bool { return k.failed(c, r) })
		}
		switch a, b := how[0] >= 0, how[1] >= 0; {
		case a && b:
			both++
		case a:
			s.better++
		case b:
			s.worse++
			counts[how[1]]++
		}
	}
	if s.worse+s.better+both == 0 {
		return nil
	}
	j := &Judged{Of: OfFailures, Better: s.better, Worse: s.worse}
	j.Answer, j.P = s.judge(c.oneSided(), 0)
	var words []string
	for i, n := range counts {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s in %d", kinds[i].did, n))
		}
	}
	j.Text = fmt.Sprintf("only B failed in %d pairs, only A in %d (p = %.2g)", s.worse, s.better, j.P)
	if len(words) > 0 {
		j.Text += ": B " + all(words)
	}
	if both > 0 {
		j.Text += fmt.Sprintf("; both in %d", both)
	}
	if j.Answer == Open {
		j.Cause = FewSigns
	}
	return j
}

// unresolved reports whether unresolved or refused messages reach a judged percentile of r.
func (c *Comparison) unresolved(r run) bool {
	for _, m := range c.Metrics {
		d := dist(r, m.Metric)
		if m.Judged && d != nil && slices.ContainsFunc(m.Rows, func(x Row) bool { return d.Figures[x.Percentile].AtLeast }) {
			return true
		}
	}
	return false
}

// unstable reports whether the system under test was overloaded. It is false if the
// generator was at its limit, because the run then shows nothing about the system: such a
// run is left out like an INVALID one.
func unstable(r run) bool {
	return r.Summary != nil && r.Summary.Verdict.Status == result.Unstable && !judge.Overloads(r.Summary.Verdict)
}
