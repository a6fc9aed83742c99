package report

import (
	"slices"
	"strings"

	"sixnines/result"
)

// comparison is the first screen of several results: a verdict each, what is said
// of all of them, one table with a row for each, and what became of their messages.
func comparison(subjects []*subject) (out document) {
	for _, line := range setLines(subjects) {
		out.add(line)
	}
	for _, s := range subjects {
		line := s.label + ": " + verdictLine(s)
		for _, b := range s.banners {
			if b.Mark {
				line += dot + b.Head
			}
		}
		out.say("", line, statusStyle(s.sum.Verdict.Status))
	}
	if x := objectivesOfAll(subjects); x != nil {
		out.add(x)
	}
	for _, sentence := range omission(subjects) {
		out.add(gap{})
		out.say("", sentence, strong)
	}
	measured := func(m result.Metric) bool {
		return slices.ContainsFunc(subjects, func(s *subject) bool { return s.measuredMetric() == m })
	}
	for _, x := range repeatTables(subjects, measured) {
		x.Rows = slices.DeleteFunc(x.Rows, func(r row) bool {
			return !slices.ContainsFunc(screenRows(), func(name result.Percentile) bool { return rowName(name) == r.Cells[0].Text })
		})
		out.add(x)
	}
	for _, x := range repeatCosts(subjects) {
		out.add(x)
	}
	for _, kind := range kinds() {
		for _, k := range kind.Columns {
			if x := rowsOfRuns(subjects, k.Metric); x != nil {
				x.Name = kind.Name + ", " + k.Head
				out.add(x)
			}
		}
	}
	out.add(gap{})
	var good []string
	for _, s := range subjects {
		parts, troubles := accountWordsOf(s)
		if text := s.unbalanced(); text != "" {
			troubles = append(troubles, text)
		}
		switch {
		case len(troubles) > 0:
			out.list("  "+s.letter+"  ", append(parts, troubles...), warning)
		case s.lostNothing():
			good = append(good, s.letter)
		default: // what became of its messages is not known
			out.list("  "+s.letter+"  ", parts, normal)
		}
	}
	if len(good) > 0 {
		out.say("  ", strings.Join(good, " ")+": nothing lost, duplicated, reordered or refused", normal)
	}
	out.say("  ", "everything: the same command with --full; parts: --show", faint)
	return out
}

// rowsOfRuns is a metric of the runs whose main latency it is, a row each and a
// column for each percentile that one of them supports; nil if it is of none.
func rowsOfRuns(subjects []*subject, m result.Metric) *table {
	var with []*subject
	for _, s := range subjects {
		if s.measuredMetric() == m {
			with = append(with, s)
		}
	}
	if len(with) == 0 {
		return nil
	}
	x := &table{Head: textCells(""), Gives: []int{}}
	for _, s := range with {
		x.add(s.letter)
	}
	for _, name := range screenRows() {
		if !slices.ContainsFunc(with, func(s *subject) bool { return s.column(m).at(name).Needs == 0 }) {
			continue
		}
		x.Head = append(x.Head, cell{Text: rowName(name), Right: true})
		for k, s := range with {
			c := figureCell(s.column(m).at(name))
			if s.column(m).at(name).Needs > 0 || s.column(m).at(name).Unstable {
				c.Text = "n/a"
			}
			x.Rows[k].Cells = append(x.Rows[k].Cells, c)
		}
	}
	for i := len(x.Head) - 2; i > 1; i-- { // the maximum stays
		x.Gives = append(x.Gives, i)
	}
	return x
}
