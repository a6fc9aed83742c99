package report

import (
	"cmp"
	"slices"
	"strings"

	"sixnines/result"
)

// opening is what a page says first of a run: passed or failed, one sentence, where the time
// went, and what to do next. The reasons follow below the figures, see [verdictOf].
func opening(s *subject, many bool) finding {
	v := s.sum.Verdict
	x := finding{Status: s.status(), Class: statusClass(v.Status), Style: statusStyle(v.Status), Text: joinNonEmpty(" ", outcomeSentence(s), latencySentence(s))}
	label := ""
	if word, st := objectivesWord(s); word != "" && (!s.worthless() || st == bad) {
		label = "the measurement is " + x.Status
		if x.Status = word; v.Status == result.Valid || st == bad {
			x.Class, x.Style = st.class(), st
		}
	}
	x.Label = joinNonEmpty(" · ", s.of(), label)
	for _, l := range s.limits() {
		x.Blocks.add(text{Class: "limit", Text: l})
	}
	x.Blocks.add(facts{List: s.identity()})
	for _, b := range s.banners {
		if b.Loud {
			x.Blocks.add(notice{Head: b.Head, Text: b.Text, Loud: true})
		}
	}
	if many {
		return x
	}
	var steps points
	why, next := nextStep(s)
	if why != "" {
		steps = append(steps, remark{Word: "why", Class: "remark", Text: why})
	}
	if line := spentLine(s); line != "" {
		steps = append(steps, remark{Word: "time in", Class: "remark", Text: line})
	}
	if next != "" {
		steps = append(steps, remark{Word: "next", Class: "remark", Text: next})
	}
	if len(steps) > 0 {
		x.Blocks.add(steps)
	}
	return x
}

// worthless reports whether the run's figures say nothing of the broker.
func (s *subject) worthless() bool {
	return s.sum.Verdict.Status == result.Unstable || s.sum.Verdict.Status == result.Invalid
}

// objectivesWord says in a word how the run stands to its objectives; empty without any.
func objectivesWord(s *subject) (string, style) {
	missed, open := s.failedObjectives()
	switch {
	case len(s.sum.Objectives) == 0:
		return "", normal
	case len(missed) > 0:
		return "FAILED", bad
	case len(open) > 0:
		return "UNDECIDED", warning
	}
	return "PASSED", good
}

// failedObjectives returns the objectives that are missed, and those that the run did not decide.
func (s *subject) failedObjectives() (missed, open []string) {
	for _, o := range s.sum.Objectives {
		switch plain(o.Outcome) {
		case "met":
		case "missed":
			missed = append(missed, plain(o.Text))
		default:
			open = append(open, plain(o.Text))
		}
	}
	return missed, open
}

// outcomeSentence says which objectives the run did not meet; empty without objectives.
func outcomeSentence(s *subject) string {
	n := len(s.sum.Objectives)
	if n == 0 {
		return ""
	}
	missed, open := s.failedObjectives()
	var parts []string
	if len(missed) > 0 {
		parts = append(parts, "Missed: "+strings.Join(missed, ", ")+".")
	}
	if len(open) > 0 {
		parts = append(parts, "Undecided: "+strings.Join(open, ", ")+".")
	}
	if len(parts) == 0 {
		return "All objectives are met (" + count(n) + ")."
	}
	return strings.Join(parts, " ")
}

// latencySentence says how long messages took, and what became of them.
func latencySentence(s *subject) string {
	var parts []string
	m := s.measuredMetric()
	switch {
	case m == "", s.sum.Verdict.Status == result.Invalid:
	case s.sum.Verdict.Status == result.Unstable && m.IsResponse():
		parts = append(parts, "Response times are withheld: they depend on the length of the run.")
	default:
		c, took := s.column(m), []string{}
		for _, q := range []struct {
			percentile result.Percentile
			of         string
		}{{result.P50, "half of the messages took at most "}, {result.P99, "99 % at most "}, {result.P999, "99.9 % at most "}} {
			if f := c.at(q.percentile); f.ok() && f.Needs == 0 && f.stands() == result.Valid {
				took = append(took, q.of+duration(f.Value))
			}
		}
		if f := c.at(result.Maximum); f.ok() && f.stands() == result.Valid {
			took = append(took, "the slowest "+f.text())
		}
		if len(took) > 0 {
			parts = append(parts, sentence(metricName(m)+": "+strings.Join(took, ", ")))
		}
	}
	all, troubles := accountWordsOf(s)
	if len(troubles) == 0 && len(all) > 0 {
		troubles = all[len(all)-1:]
	}
	if len(troubles) > 0 {
		parts = append(parts, sentence(strings.Join(troubles, ", ")))
	}
	return strings.Join(parts, " ")
}

// spentLine says in which parts of a message's way most of the time was spent; empty where that
// is not known.
func spentLine(s *subject) string {
	type spent struct {
		name     string
		p50, p99 figure
	}
	var all []spent
	for _, p := range []struct {
		metric result.Metric
		name   string
	}{
		{result.StageBroker, "kernels, network and broker"},
		{result.StageClient, "client library, before it writes"},
		{result.StageReceive, "arrived, not yet read"},
		{result.StageCallback, "client library, after it reads"},
		{result.LagOwn, "generator, before it sends"},
		{result.LagBlocked, "blocked sends"},
	} {
		c := s.column(p.metric)
		if c == nil || c.Dist.Count == 0 {
			continue
		}
		if x := (spent{name: p.name, p50: c.at("50"), p99: c.at("99")}); x.p50.ok() && x.p50.Needs == 0 {
			all = append(all, x)
		}
	}
	if s.column(result.StageBroker) == nil || s.sum.Verdict.Status == result.Unstable {
		return ""
	}
	slices.SortStableFunc(all, func(a, b spent) int { return cmp.Compare(b.p50.Value, a.p50.Value) })
	var parts []string
	for _, x := range all[:min(3, len(all))] {
		line := x.name + " p50 " + x.p50.text()
		if x.p99.ok() && x.p99.Needs == 0 {
			line += ", p99 " + x.p99.text()
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, "; ")
}

// nextStep is what to do next and why: against the worst reason, else to decide what the run
// did not, else to see how runs differ; empty if nothing is to do.
func nextStep(s *subject) (why, next string) {
	for _, a := range advices(s) {
		if a.try != "" {
			return a.why, a.try
		}
	}
	if _, open := s.failedObjectives(); len(open) > 0 {
		return "", "run longer (--duration): the run is too short to decide every objective"
	}
	if line := steadyLine(s); line != "" {
		return "", line
	}
	return "", repeatLine(s)
}

// repeatLine suggests several runs, where there is one.
func repeatLine(s *subject) string {
	if s.letter != "" || s.run.Header.Trial != nil || s.cut || s.run.Header.Workload != "" {
		return ""
	}
	return "one run does not show how much runs differ: --repeat 10 does"
}
