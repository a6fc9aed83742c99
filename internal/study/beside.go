package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Beside are two cells whose runs of a round are made at the same time, where the machine allows it.
type Beside struct {
	A   string `yaml:"a"` // names of cells
	B   string `yaml:"b"`
	For Ranges `yaml:"for,omitempty"` // as System.For

	from int
}

// expandBeside replaces pairs that have ranges by one for each combination.
func (s *Study) expandBeside() {
	var all []Beside
	for i, x := range s.Beside {
		if len(x.For) == 0 {
			x.from = i
			all = append(all, x)
			continue
		}
		x.For.each(func(values map[string]string) {
			fill := filler(values)
			all = append(all, Beside{A: fill.Replace(x.A), B: fill.Replace(x.B), from: i})
		})
	}
	s.Beside = all
}

// beside returns the cell whose runs are made at the same time as those of a cell; empty: none.
func (s *Study) beside(name string) string {
	for _, x := range s.Beside {
		switch name {
		case x.A:
			return x.B
		case x.B:
			return x.A
		}
	}
	return ""
}

// beside checks which cells are made at the same time, and that each claim about one of them compares it with the other: a
// system beside another one is not that system alone.
func (c *checker) beside() {
	seen := map[string]bool{}
	for _, x := range c.s.Beside {
		at := []any{"beside", x.from}
		c.cell(x.A, append(at, "a")...)
		c.cell(x.B, append(at, "b")...)
		for _, name := range []string{x.A, x.B} {
			if seen[name] {
				c.fail(name+" is in two pairs", "a cell runs beside one other at most", at...)
			}
			seen[name] = true
		}
		if !slices.ContainsFunc(c.s.Conclusions, func(o Conclusion) bool {
			return slices.ContainsFunc(o.Tests, func(t Test) bool {
				return t.A != "" && t.A != t.B && c.s.beside(t.A) == t.B && seen[t.A] && (t.A == x.A || t.A == x.B)
			})
		}) {
			c.fail(fmt.Sprintf("no test compares %s with %s", x.A, x.B), "cells run at the same time to be compared: leave them out of beside, or write the test", at...)
		}
	}
	for i := range c.s.Conclusions {
		for k := range c.s.Conclusions[i].Tests {
			c.besideTest(&c.s.Conclusions[i].Tests[k], "conclusions", i, "tests", k)
		}
	}
}

// besideTest refuses a test of a cell that runs beside another one with which it is not compared.
func (c *checker) besideTest(t *Test, at ...any) {
	const hint = "give the claim a load of its own, or leave the cells out of beside"
	for _, name := range c.cells {
		other := c.s.beside(name)
		used := t.A == name || t.B == name || cellMatches(name, t.Cells)
		switch {
		case other == "" || !used:
		case t.A != name && t.B != name || t.A != other && t.B != other:
			c.fail(fmt.Sprintf("%s runs beside %s, and this is about it alone, or beside something else", name, other), hint, at...)
		case slices.ContainsFunc(t.Figures, func(f string) bool { return strings.Contains(f, generatorUse) }):
			c.fail(fmt.Sprintf("%s of %s: one process makes its runs and those of %s", generatorUse, name, other), hint, append(at, "figures")...)
		}
	}
}

// checkBeside refuses pairs whose cells cannot be made at the same time, or are not alike in length.
func (s *Study) checkBeside() error {
	c := &checker{s: s}
	for _, x := range s.Beside {
		for _, length := range []string{Quick, Default, Full} {
			cells, err := s.Cells(length)
			if err != nil {
				return err
			}
			if why := unlike(pick(cells, x.A), pick(cells, x.B)); why != "" {
				c.fail(fmt.Sprintf("%s and %s cannot run at the same time (%s): %s", x.A, x.B, length, why),
					"leave them out of beside: their rounds are then made one after the other", "beside", x.from)
				break
			}
		}
	}
	if len(c.errs) > 0 {
		return c.errs
	}
	return nil
}

// pick returns the cell of a name, nil if there is none.
func pick(cells []Cell, name string) *Cell {
	if i := slices.IndexFunc(cells, func(c Cell) bool { return c.Name == name }); i >= 0 {
		return &cells[i]
	}
	return nil
}

// unlike says why two cells cannot be made at the same time; empty: they can, or a length has neither.
func unlike(a, b *Cell) string {
	switch {
	case a == nil && b == nil:
		return ""
	case a == nil || b == nil:
		return "the length has only one of them"
	case a.Rounds != b.Rounds:
		return fmt.Sprintf("one has %s, the other %d", spell.Plural(a.Rounds, "round"), b.Rounds)
	case a.Load.Bench != "" || b.Load.Bench != "":
		return "a micro-benchmark takes all of its processors"
	}
	var sides [2][]scenario.Part
	for i, c := range []*Cell{a, b} {
		sc, err := c.Scenario(nil)
		if err != nil {
			return err.Error()
		}
		sc.Normalise()
		if why, _ := compare.NotAtOnce(sc); why != "" {
			return why
		}
		sides[i] = sc.Parts()
	}
	if len(sides[0]) != len(sides[1]) {
		return "they have different workloads"
	}
	for i, x := range sides[0] {
		y := sides[1][i]
		switch {
		case x.Phases.Warmup != y.Phases.Warmup || x.Phases.Duration != y.Phases.Duration || x.From != y.From || x.Workload.Messages != y.Workload.Messages:
			return "their windows differ"
		case x.Workload.Rate != y.Workload.Rate:
			return fmt.Sprintf("their rates differ: %s and %s", x.Workload.Rate, y.Workload.Rate)
		}
	}
	return ""
}

// PairRounds notes in the trials of cells that are made at the same time each other's runs.
func (o *Outcome) PairRounds() {
	for i := range o.Cells {
		c := &o.Cells[i]
		other := o.Cell(c.Cell.Beside)
		for k := range c.Trials {
			t := &c.Trials[k]
			if t.Beside = nil; other == nil || !atOnce(t.Run) {
				continue
			}
			for j := range other.Trials {
				if x := &other.Trials[j]; x.Round == t.Round && atOnce(x.Run) {
					t.Beside = x.Run
				}
			}
		}
	}
}

// atOnce reports whether a run was made at the same time as another one.
func atOnce(run *result.Run) bool {
	return run != nil && run.Header.Trial != nil && run.Header.Trial.Beside
}

// Spoilt reports whether the run that was made at the same time is INVALID in a workload that is judged, so that this one compares
// nothing.
func (t *TrialOutcome) Spoilt() bool {
	return t.Beside != nil && slices.ContainsFunc(t.Beside.Parts(), func(p *result.Run) bool { return !p.Header.Background && invalidRun(p) })
}

// invalid says what a trial is whose run does not count for a workload, and why: it is INVALID, or the run is that was made at the
// same time, so that the round compares nothing. Both are empty if it counts.
func (t *TrialOutcome) invalid(workload string) (what, why string) {
	for _, x := range []struct {
		run  *result.Run
		what string
	}{{t.Run, "INVALID"}, {t.Beside, "beside an INVALID run"}} {
		if x.run == nil {
			continue
		}
		if run := PartOf(x.run, workload); run != nil && invalidRun(run) {
			return x.what, cause(of(run.Summary.Verdict, result.Invalid))
		}
	}
	return "", ""
}

// Together says how the rounds of a cell were made with those of the cell that it is compared with, and if apart why: empty if it was
// asked for. The kind is empty if there is no such cell, or no run.
func (o *Outcome) Together(c *CellOutcome) (how result.DesignKind, why string) {
	if c.Cell.Beside == "" {
		return "", ""
	}
	for i := range c.Trials {
		run := c.Trials[i].Run
		switch {
		case run == nil:
		case atOnce(run):
			return result.DesignBeside, ""
		default:
			if how = result.DesignApart; run.Header.Trial != nil {
				why = compare.Apart(run.Header.Trial.Design)
			}
		}
	}
	return how, why
}

// crowded notes how A and B were made, if they are a pair, and reports whether they used more of the processors at once than decides
// anything.
func (d *decider) crowded(a, b *CellOutcome) bool {
	if a.Cell.Beside != b.Cell.Name {
		return false
	}
	how, why := d.o.Together(a)
	text := fmt.Sprintf("%s and %s ran ", d.t.A, d.t.B)
	switch how {
	case result.DesignBeside:
		text += "at the same time"
	case result.DesignApart:
		if text += "one after the other"; why != "" {
			text += ": " + why
		}
	default:
		return false
	}
	most, known := 0.0, true
	for i := range a.Trials {
		if t := &a.Trials[i]; t.Run != nil && t.Beside != nil {
			used, is := compare.UsedAtOnce(PartOf(t.Run, d.t.Workload), PartOf(t.Beside, d.t.Workload))
			most, known = max(most, used), known && is
		}
	}
	switch {
	case !known:
		d.say("%s, and it is not known how much of the processors they used", text)
	case most > compare.MostUsed:
		d.say("%s and used %s of the processors, so each may have slowed the other", text, spell.Percent(math.Round(most*100)/100))
	default:
		d.say("%s", text)
		return false
	}
	d.need("rounds that are made apart: " + d.o.Study.Run(d.o.Length) + " --design apart")
	return true
}
