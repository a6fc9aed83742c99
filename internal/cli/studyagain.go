package cli

import (
	"fmt"
	"slices"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
)

// again plans further rounds to replace useless ones: those with INVALID runs, or with
// figures that a comparison cannot use because of the machine or of Sixnines itself. The
// cells that they are compared with get further rounds as well, so that what is compared
// is made at the same time. Only verdicts decide: replacing runs for their figures would
// select the result. Each run of the study adds at most --replace rounds to a cell, and
// none to a cell without a useful round, unless it had only one round or the user says how many. A test that is decided at
// a look before the last needs none: they would not count there.
func (s *studyRuns) again() []trials.Trial {
	need := make([]int, len(s.planned.cells))
	more := make([]int, len(s.planned.cells)) // rounds of each cell that this run of the study has added
	last := 0
	for i, t := range s.Trials {
		last = max(last, t.Round)
		if i >= s.before {
			more[t.Cell]++
		}
	}
	so := s.records()
	for _, set := range s.planned.study.Sets(each(s.planned.cells, func(c studyCell) study.Cell { return c.Cell })) {
		cells := each(set.Cells, func(name string) int {
			return slices.IndexFunc(s.planned.cells, func(c studyCell) bool { return c.Name == name })
		})
		n := 0
		if set.Test == nil || !so.DecidedEarly(set.Test) {
			n = s.lacking(cells, set.Test)
		}
		for _, i := range cells {
			most := s.planned.mostReplaced(&s.planned.cells[i], s.replace)
			need[i] = max(need[i], min(n, most-more[i]))
		}
	}
	for _, pair := range s.planned.beside() { // both make a round that one lacks
		n := max(need[pair[0]], need[pair[1]])
		need[pair[0]], need[pair[1]] = n, n
	}
	var groups []int
	var names []string
	for _, c := range s.planned.cells {
		if !slices.Contains(names, c.group) {
			names = append(names, c.group)
		}
		groups = append(groups, slices.Index(names, c.group))
	}
	var added []trials.Trial
	for _, at := range trials.Grouped(groups, need, s.planned.pairs(), s.planned.beside(), s.Seed+uint64(len(s.Trials))) {
		at.Round += last
		number := fmt.Sprintf("%0*d", len(fmt.Sprint(len(s.planned.places))), len(s.Trials)+len(added)+1)
		added = append(added, trials.Trial{Cell: at.Cell, Round: at.Round, Seed: nextSeed(s.planned.cells[at.Cell].scenario.Seed, at.Round-1), File: s.planned.fileOf(number, at)})
	}
	if len(added) > 0 {
		s.note("some runs are unusable: %s more are made, for their cells and for the cells that these are compared with", spell.Plural(len(added), "trial"))
	}
	return added
}

// lacking is the number of rounds that a set of cells still needs until each has the
// planned number of rounds that are useful to the test that compares them.
func (s *studyRuns) lacking(cells []int, test *study.Test) int {
	planned := s.planned.cells[cells[0]].Rounds
	useful := map[int]int{} // by cell
	for _, i := range cells {
		if !s.wanted(trials.Trial{Cell: i}) {
			return 0
		}
		planned = min(planned, s.planned.cells[i].Rounds)
		useful[i] = 0
	}
	for i, t := range s.Trials {
		_, ours := useful[t.Cell]
		switch {
		case !ours:
		case t.State == trials.Made:
			if s.useful(i, test) {
				useful[t.Cell]++
			}
		case t.Round <= planned:
			return 0 // it failed, or was cut: --resume makes it again
		}
	}
	least := planned
	for _, n := range useful {
		least = min(least, n)
	}
	if planned == 1 && len(cells) > 1 || planned > 1 && least == 0 && s.replace < 0 {
		return 0 // one round compares nothing, and where none was of use none will be
	}
	return planned - least
}

// useful reports whether a test, or nil for none, can use a trial that was made: of two that were made at the same time both, or none.
func (s *studyRuns) useful(trial int, test *study.Test) bool {
	alone := func(i int) bool {
		run := s.made[i].Run
		return run == nil || compare.Invalid(run, "") == "" && (test == nil || !s.cellOf(s.Trials[i]).Spoilt(run, test))
	}
	made, other := s.made[trial], s.besideTrial(trial)
	if other < 0 {
		return alone(trial)
	}
	made.Beside = s.made[other].Run
	return made.Spoilt() == "" && alone(trial) && alone(other)
}
