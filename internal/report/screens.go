package report

import (
	"slices"
	"strings"

	"sixnines/result"
)

// comparison is the first screen of several results: a verdict each, what is said
// of all of them, one table with a row for each, and what became of their messages.
func comparison(p *printer, subjects []*subject) {
	for _, s := range subjects {
		line := s.label + ": " + verdictLine(s)
		for _, b := range s.banners {
			if b.marks() {
				line += dot + b.Head
			}
		}
		p.wrapped("", line, statusStyle(s.sum.Verdict.Status))
	}
	terminalSection(p, objectivesOfAll(subjects), "")
	for _, sentence := range omission(subjects) {
		p.blank()
		p.wrapped("", sentence, strong)
	}
	measured := func(m result.Metric) bool {
		return slices.ContainsFunc(subjects, func(s *subject) bool { return s.measuredMetric() == m })
	}
	for _, x := range repeatSections(subjects, measured) {
		x.Rows = slices.DeleteFunc(x.Rows, func(r sectionRow) bool {
			return !slices.ContainsFunc(screenRows(), func(name string) bool { return rowName(name) == r.Cells[0] })
		})
		terminalSection(p, x, "")
	}
	for _, kind := range kinds() {
		for _, k := range kind.Columns {
			if g := rowsOfRuns(subjects, k.Metric); g != nil {
				p.heading(kind.Name+", "+k.Head, "")
				for columns := len(g.head); columns > 3 && g.total() > p.width; columns-- {
					g.drop(columns - 2) // the maximum stays
				}
				g.write(p)
			}
		}
	}
	p.blank()
	var good []string
	for _, s := range subjects {
		parts, troubles := accountWordsOf(s)
		if ok, problem := s.sum.Counters.Conserved(); !ok {
			troubles = append(troubles, "the message counts do not add up: "+problem)
		}
		if len(troubles) == 0 {
			good = append(good, s.letter)
			continue
		}
		p.joined("  "+s.letter+"  ", append(parts, troubles...), dot, warning)
	}
	if len(good) > 0 {
		p.wrapped("  ", strings.Join(good, " ")+": nothing lost, duplicated, reordered or refused", normal)
	}
	p.wrapped("  ", "all of it: the same command with --full; parts of it: --show", faint)
}

// rowsOfRuns is a metric of the runs whose main latency it is, a row each and a
// column for each percentile that one of them supports; nil if it is of none.
func rowsOfRuns(subjects []*subject, m result.Metric) *grid {
	var with []*subject
	for _, s := range subjects {
		if s.measuredMetric() == m {
			with = append(with, s)
		}
	}
	if len(with) == 0 {
		return nil
	}
	g := &grid{head: []cell{{}}}
	for _, s := range with {
		g.rows = append(g.rows, gridRow{cells: []cell{{text: s.letter, style: strong}}})
	}
	for _, name := range screenRows() {
		i := slices.Index(rows(), name)
		if !slices.ContainsFunc(with, func(s *subject) bool { return s.column(m).Figures[i].Needs == 0 }) {
			continue
		}
		g.head = append(g.head, cell{text: rowName(name), right: true})
		for k, s := range with {
			c := figureCell(s.column(m).Figures[i])
			if s.column(m).Figures[i].Needs > 0 || s.column(m).Figures[i].Unstable {
				c.text = "n/a"
			}
			g.rows[k].cells = append(g.rows[k].cells, c)
		}
	}
	return g
}

// drop takes a column out of a grid.
func (g *grid) drop(column int) {
	g.head = slices.Delete(g.head, column, column+1)
	for i := range g.rows {
		g.rows[i].cells = slices.Delete(g.rows[i].cells, column, column+1)
	}
}
