package study

import (
	"fmt"
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

// Spoilt says why a run compares nothing that was made at the same time as another one: that is INVALID in a workload that is judged, or
// both took too much of the machine. It is empty if it may compare.
func (t *TrialOutcome) Spoilt() string {
	if t.Run == nil || t.Beside == nil {
		return ""
	}
	for _, p := range t.Beside.Parts() {
		if what, why := t.invalid(p.Header.Workload); what != "" && !p.Header.Background && !invalidRun(PartOf(t.Run, p.Header.Workload)) {
			return what + " (" + why + ")"
		}
	}
	return ""
}

// invalid says what a trial is whose run does not count for a workload, and why: it is INVALID, or the run is that was made at the
// same time, or both used more of the processors than [compare.MostUsed]. The round then compares nothing. Both are empty if it counts.
func (t *TrialOutcome) invalid(workload string) (what, why string) {
	var own, other *result.Run
	if t.Run != nil {
		own = PartOf(t.Run, workload)
	}
	if t.Beside != nil {
		other = PartOf(t.Beside, workload)
	}
	switch {
	case invalidRun(own):
		return "INVALID", cause(of(own.Summary.Verdict, result.Invalid))
	case own == nil || other == nil:
		return "", ""
	case invalidRun(other):
		return "beside an INVALID run", cause(of(other.Summary.Verdict, result.Invalid))
	}
	switch used, known := compare.UsedAtOnce(own, other); {
	case !known:
		return "beside another run", "how much of the processors both used is not known"
	case used > compare.MostUsed:
		return "beside another run", "both used more than half of the processors"
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

// together notes how the cells of a comparison were made if they are a pair.
func (d *decider) together(a *CellOutcome) {
	if a.Cell.Beside != d.t.A && a.Cell.Beside != d.t.B {
		return
	}
	switch how, why := d.o.Together(a); {
	case how == result.DesignBeside:
		d.say("%s and %s ran at the same time", d.t.A, d.t.B)
	case how == result.DesignApart && why != "":
		d.say("%s and %s ran one after the other: %s", d.t.A, d.t.B, why)
	}
}
