package study

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// mostRounds is the largest number of rounds of a cell.
const mostRounds = 1000

// checker collects the errors of a study.
type checker struct {
	s     *Study
	cells []string // names of all cells, of every length
	errs  scenario.Errors
}

func (c *checker) fail(cause, hint string, where ...any) {
	line, column := c.s.at(where...)
	c.errs = append(c.errs, &scenario.Error{File: c.s.file, Line: line, Column: column, Cause: cause, Hint: hint})
}

// need refuses a text that is missing.
func (c *checker) need(text, what string, where ...any) {
	if strings.TrimSpace(text) == "" {
		c.fail(what+" is missing", "write one", where...)
	}
}

// oneOf reports an error if a word is not one of words.
func (c *checker) oneOf(word string, words []string, what string, where ...any) bool {
	if slices.Contains(words, word) {
		return true
	}
	c.fail(fmt.Sprintf("there is no %s %q", what, word), hintOf(word, words), where...)
	return false
}

// hintOf suggests the most similar of the words, or lists all of them.
func hintOf(word string, words []string) string {
	const most = 12
	if near := spell.Nearest(word, words); near != "" {
		return "did you mean " + near + "?"
	}
	if len(words) > most {
		words = append(slices.Clone(words[:most]), "…")
	}
	return "there are " + strings.Join(words, ", ")
}

// check checks everything but the scenarios.
func (s *Study) check() error {
	c := &checker{s: s}
	c.need(s.Name, "the name of the study", "name")
	if s.Name != "" && !nameForm.MatchString(s.Name) {
		c.fail(fmt.Sprintf("%q is no name of a study", s.Name), "1 to 64 letters, digits, dots, hyphens and underscores", "name")
	}
	c.need(s.Title, "the title", "title")
	c.need(s.Question, "the question", "question")
	c.named()
	for i, x := range s.Selections {
		c.patterns(x.Systems, s.systemNames(), matches, "system", "cells", i, "systems")
		c.patterns(x.Loads, s.loadNames(), matches, "load", "cells", i, "loads")
		for _, l := range x.Lengths {
			c.oneOf(l, []string{Quick, Default, Full}, "length", "cells", i, "lengths")
		}
	}
	c.lengths()
	s.cells = c.cells
	c.benches()
	if len(c.errs) > 0 {
		return c.errs
	}
	c.figures()
	c.sections()
	for i, x := range s.Conclusions {
		c.need(x.Name, "the name of the conclusion", "conclusions", i)
		c.need(x.Claim, "the claim", "conclusions", i, "claim")
		if slices.ContainsFunc(s.Conclusions[:i], func(y Conclusion) bool { return y.Name == x.Name }) {
			c.fail(fmt.Sprintf("two conclusions are called %q", x.Name), "give one another name", "conclusions", i, "name")
		}
		if len(x.Tests) == 0 {
			c.fail(fmt.Sprintf("%s has no test", x.Name), "say how it is tested, or {kind: undecidable, why: …, needs: …}", "conclusions", i)
		}
		if x.Share < 0 || x.Share > 1 {
			c.fail(fmt.Sprintf("a share of %v", x.Share), "1 is all of them", "conclusions", i, "share")
		}
		for k := range x.Tests {
			c.test(&x.Tests[k], "conclusions", i, "tests", k)
		}
	}
	c.beside()
	for i, x := range s.Caveats {
		c.need(x.Text, "the text of the caveat", "caveats", i)
		c.need(x.Holds, "whether the caveat holds", "caveats", i)
	}
	for i, x := range s.Slips {
		c.need(x.Text, "the text of the slip", "slips", i)
		c.oneOf(x.Where, append(c.titles(), s.conclusionNames()...), "section or conclusion", "slips", i, "where")
	}
	if len(c.errs) > 0 {
		return c.errs
	}
	numbers := func(f Figures) bool { return len(f.Rows) > 0 || f.Value != "" }
	if o := s.Original; o != nil && o.Unprinted != "" && slices.ContainsFunc(s.Figures, numbers) {
		c.fail("unprinted, and there are numbers", "say it of each test that has none", "original", "unprinted")
	}
	for i, x := range s.Conclusions {
		for k := range x.Tests {
			c.theirs(&s.Conclusions[i].Tests[k], "conclusions", i, "tests", k)
			c.together(&s.Conclusions[i].Tests[k], "conclusions", i, "tests", k)
		}
	}
	if len(c.errs) > 0 {
		return c.errs
	}
	return nil
}

func (s *Study) systemNames() []string {
	var all []string
	for _, x := range s.Systems {
		all = append(all, x.Name)
	}
	return all
}

func (s *Study) loadNames() []string {
	var all []string
	for _, x := range s.Loads {
		all = append(all, x.Name)
	}
	return all
}

func (s *Study) conclusionNames() []string {
	var all []string
	for _, x := range s.Conclusions {
		all = append(all, x.Name)
	}
	return all
}

func (c *checker) titles() []string {
	var all []string
	for _, x := range c.s.Sections {
		all = append(all, x.Title)
	}
	return all
}

// named checks the names of systems and loads.
func (c *checker) named() {
	if len(c.s.Systems) == 0 || len(c.s.Loads) == 0 || len(c.s.Selections) == 0 {
		c.fail("a study has systems, loads and cells", "sixnines study export NAME DIR writes one to copy")
		return
	}
	seen := map[string]bool{}
	one := func(kind, name, title string, where ...any) {
		if !nameForm.MatchString(name) {
			c.fail(fmt.Sprintf("%q is no name", name), "1 to 64 letters, digits, dots, hyphens and underscores", where...)
		}
		if seen[kind+name] {
			c.fail(fmt.Sprintf("two %s are called %q", kind, name), "give one another name", where...)
		}
		seen[kind+name] = true
		c.need(title, "the title of "+name, where...)
	}
	for _, x := range c.s.Systems {
		one("systems", x.Name, x.Title, "systems", x.from)
	}
	for _, x := range c.s.Loads {
		one("loads", x.Name, x.Title, "loads", x.from)
	}
}

// lengths checks the lengths, and finds the cells.
func (c *checker) lengths() {
	for _, name := range []string{Quick, Default, Full} {
		l, _ := c.s.Length(name) // exists
		if l.Rounds < 1 || l.Rounds > mostRounds {
			c.fail(fmt.Sprintf("%s has %d rounds", name, l.Rounds), fmt.Sprintf("1 to %d; of fewer than 6 nothing is shown by rounds", mostRounds), "lengths", name, "rounds")
		}
		c.looked(l.Looks, l.Rounds, "lengths", name, "looks")
		cells, _ := c.s.Cells(name)
		var names []string
		for _, x := range cells {
			names = append(names, x.Name)
			if !slices.Contains(c.cells, x.Name) {
				c.cells = append(c.cells, x.Name)
			}
		}
		if len(names) == 0 {
			c.fail("the length "+name+" has no cell", "see cells and lengths."+name+".cells", "lengths", name)
		}
		for i, x := range l.Loads {
			c.patterns(x.Cells, names, cellMatches, "cell", "lengths", name, "loads", i, "cells")
			if x.Rounds < 0 || x.Rounds > mostRounds {
				c.fail(fmt.Sprintf("%d rounds", x.Rounds), "0 for those of the length, at most 1000", "lengths", name, "loads", i, "rounds")
			}
			if x.Rounds == 0 && len(x.Looks) > 0 {
				c.fail("looks without rounds", "write the rounds, which are the last look: {rounds: 60, looks: [12, 20, 40]}", "lengths", name, "loads", i, "looks")
			} else {
				c.looked(x.Looks, x.Rounds, "lengths", name, "loads", i, "looks")
			}
		}
	}
}

// patterns refuses an empty list of patterns, and a pattern that matches no name.
func (c *checker) patterns(patterns, names []string, match func(string, []string) bool, what string, where ...any) {
	if len(patterns) == 0 {
		c.fail("no "+what+" is named", `write a list of patterns, such as ["*"]`, where...)
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); errors.Is(err, path.ErrBadPattern) {
			c.fail(fmt.Sprintf("%q is no pattern", p), "* stands for any letters, ? for one, [ab] for one of these", where...)
			continue
		}
		if !slices.ContainsFunc(names, func(n string) bool { return match(n, []string{p}) }) {
			c.fail(fmt.Sprintf("no %s matches %q", what, p), hintOf(p, names), where...)
		}
	}
}

// cell refuses the name of a cell that is in no length.
func (c *checker) cell(name string, where ...any) {
	c.oneOf(name, c.cells, "cell", where...)
}

func (c *checker) figure(name string, where ...any) {
	if _, ok := UnitOf(name); !ok {
		c.fail(fmt.Sprintf("there is no figure %q", name), figureHint(name), where...)
	}
}

func (c *checker) metric(m result.Metric, where ...any) {
	if m != "" && !m.IsLatency() {
		var all []string
		for _, x := range result.Metrics() {
			if x.IsLatency() {
				all = append(all, string(x))
			}
		}
		c.fail(fmt.Sprintf("%q is no latency", m), hintOf(string(m), all), where...)
	}
}

// figures checks the original's figures.
func (c *checker) figures() {
	for i, x := range c.s.Figures {
		c.need(x.Source, "the source of the figures", "figures", i)
		for k, name := range x.Columns {
			c.figure(name, "figures", i, "columns", k)
		}
		for cell, values := range x.Rows {
			c.cell(cell, "figures", i, "rows", cell)
			if len(values) != len(x.Columns) {
				c.fail(fmt.Sprintf("%d values for %d columns", len(values), len(x.Columns)), "write .nan for what was not printed", "figures", i, "rows", cell)
			}
			for _, x := range values {
				c.printed(x, "figures", i, "rows", cell)
			}
		}
		single := x.Cell != "" || x.Words != ""
		switch {
		case single == (len(x.Rows) > 0):
			c.fail("figures are either rows, or a single one with cell and words", "see docs/studies.md", "figures", i)
		case single:
			c.cell(x.Cell, "figures", i, "cell")
			c.need(x.Words, "what was said of it", "figures", i)
			if x.Value != "" || x.Figure != "" {
				c.figure(x.Figure, "figures", i, "figure")
			}
			if x.Value != "" {
				c.printed(x.Value, "figures", i, "value")
			}
		}
	}
}

// printed checks a number printed in the original.
func (c *checker) printed(p Printed, where ...any) {
	if !printedForm.MatchString(string(p)) {
		c.fail(fmt.Sprintf("%q is no number", p), "write its digits as they were printed, such as 0.3750", where...)
	}
}

// sections checks the sections of the page.
func (c *checker) sections() {
	for i, x := range c.s.Sections {
		c.need(x.Title, "the title of the section", "sections", i)
		if slices.ContainsFunc(c.s.Sections[:i], func(y Section) bool { return y.Title == x.Title }) {
			c.fail(fmt.Sprintf("two sections are called %q", x.Title), "give one another title", "sections", i, "title")
		}
		for k, chart := range x.Charts {
			c.chart(chart, "sections", i, "charts", k)
		}
		for k, t := range x.Tables {
			at := []any{"sections", i, "tables", k}
			c.need(t.Title, "the title of the table", at...)
			c.oneOf(t.Rows, []string{RowsSystems, RowsLoads, RowsCells}, "kind of rows", append(at, "rows")...)
			c.patterns(t.Cells, c.cells, cellMatches, "cell", append(at, "cells")...)
			c.metric(t.Metric, append(at, "metric")...)
			if len(t.Columns) == 0 {
				c.fail("the table has no columns", "such as [p50, p99, p99.9]", at...)
			}
			for _, name := range t.Columns {
				c.figure(name, append(at, "columns")...)
			}
		}
		for k, name := range x.Conclusions {
			c.oneOf(name, c.s.conclusionNames(), "conclusion", "sections", i, "conclusions", k)
		}
	}
	for i, x := range c.s.Conclusions {
		if !slices.ContainsFunc(c.s.Sections, func(s Section) bool { return slices.Contains(s.Conclusions, x.Name) }) {
			c.fail("no section has the conclusion "+x.Name, "name it in one of them", "conclusions", i)
		}
	}
}

func (c *checker) chart(x Chart, at ...any) {
	c.need(x.Title, "the title of the chart", at...)
	c.patterns(x.Cells, c.cells, cellMatches, "cell", append(at, "cells")...)
	c.metric(x.Metric, append(at, "metric")...)
	if !c.oneOf(x.Kind, []string{ChartPercentiles, ChartTime, ChartOver, ChartBars}, "kind of chart", append(at, "kind")...) {
		return
	}
	wants := func(given, wanted bool, key string) {
		if given != wanted {
			word := "takes no "
			if wanted {
				word = "needs "
			}
			c.fail("a chart of the kind "+x.Kind+" "+word+key, "see docs/studies.md", at...)
		}
	}
	wants(len(x.Figures) > 0, x.Kind == ChartOver || x.Kind == ChartBars, "figures")
	wants(x.Over != "", x.Kind == ChartOver, "over")
	wants(len(x.Show) > 0, x.Kind == ChartTime, "show")
	if x.Kind != ChartPercentiles {
		wants(x.Corrected, false, "corrected")
	}
	for _, name := range x.Figures {
		c.figure(name, append(at, "figures")...)
	}
	for _, name := range x.Show {
		c.oneOf(name, []string{ShowRate, ShowLatency, ShowMemory, ShowBacklog, ShowDisk}, "panel", append(at, "show")...)
	}
	if x.Over != "" && !slices.ContainsFunc(c.s.Loads, func(l Load) bool { _, ok := l.At[x.Over]; return ok }) &&
		!slices.ContainsFunc(c.s.Systems, func(s System) bool { _, ok := s.At[x.Over]; return ok }) {
		c.fail(fmt.Sprintf("no load and no system has a place on the axis %q", x.Over), "give at: {"+x.Over+": NUMBER} to loads or systems, or for: {"+x.Over+": […]}", append(at, "over")...)
	}
}

// bound reads the bound of a figure with the given unit.
func bound(text string, u Unit) (float64, error) {
	if u == Nanoseconds {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		return float64(d), err
	}
	return strconv.ParseFloat(text, 64)
}

// checkScenarios checks the scenario of each cell of each length.
func (s *Study) checkScenarios() error {
	var all scenario.Errors
	seen := map[string]bool{}
	for _, length := range []string{Quick, Default, Full} {
		cells, err := s.Cells(length)
		if err != nil {
			return err
		}
		for i := range cells {
			err := cells[i].check()
			var many scenario.Errors
			switch {
			case err == nil:
			case !errors.As(err, &many):
				return err
			}
			for _, e := range many {
				if seen[e.Error()] {
					continue // already reported: a layer that several cells share
				}
				seen[e.Error()] = true
				e.File, e.Cause = s.file, fmt.Sprintf("cell %s (%s): %s", cells[i].Name, length, e.Cause)
				all = append(all, e)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// check checks the cell's scenario. Variables are not expanded, because their values are known
// only when it runs.
func (c *Cell) check() error {
	sc, err := c.Scenario(nil)
	if err != nil {
		return err
	}
	sc.Normalise()
	return c.Locate(sc.Validate())
}
