package cli

import (
	"fmt"
	"slices"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
)

// again plans further rounds in place of those with INVALID runs, which count for
// nothing: of the cells that have one and of those that they are compared with, so that
// what is compared is made in the same round. Verdicts alone decide that: were a run
// replaced for its figures, they would come out as they were wished for. A cell gets as
// many rounds more as --replace allows, and none where all of its runs are INVALID, but
// where it had one round.
func (s *studyRuns) again() []trials.Trial {
	need := make([]int, len(s.plan.cells))
	more := make([]int, len(s.plan.cells)) // rounds of each cell that were added before
	last := 0
	for _, t := range s.Trials {
		last = max(last, t.Round)
		if t.Round > s.Rounds {
			more[t.Cell]++
		}
	}
	for _, set := range s.plan.study.Compared(each(s.plan.cells, func(c studyCell) study.Cell { return c.Cell })) {
		cells := each(set, func(name string) int {
			return slices.IndexFunc(s.plan.cells, func(c studyCell) bool { return c.Name == name })
		})
		n := s.lacking(cells)
		for _, i := range cells {
			most := s.replace
			if most < 0 {
				most = (s.plan.cells[i].Rounds + 1) / 2
			}
			need[i] = max(need[i], min(n, most-more[i]))
		}
	}
	var groups []int
	var names []string
	for _, c := range s.plan.cells {
		if !slices.Contains(names, c.group) {
			names = append(names, c.group)
		}
		groups = append(groups, slices.Index(names, c.group))
	}
	var added []trials.Trial
	for _, at := range trials.Grouped(groups, need, s.Seed+uint64(len(s.Trials))) {
		at.Round += last
		number := fmt.Sprintf("%0*d", len(fmt.Sprint(len(s.plan.places))), len(s.Trials)+len(added)+1)
		added = append(added, trials.Trial{Cell: at.Cell, Round: at.Round, Seed: nextSeed(s.plan.cells[at.Cell].scenario.Seed, at.Round-1), File: s.plan.fileOf(number, at)})
	}
	if len(added) > 0 {
		s.note("runs are INVALID: %s more, of the cells that have one and of those that they are compared with", spell.Plural(len(added), "trial"))
	}
	return added
}

// lacking is how many rounds more a set of cells needs until it has as many as were
// planned in which no run is INVALID.
func (s *studyRuns) lacking(cells []int) int {
	planned := s.plan.cells[cells[0]].Rounds
	type state struct{ made, spoilt int }
	rounds := map[int]*state{}
	for _, i := range cells {
		c := &s.plan.cells[i]
		if !s.wanted(trials.Trial{Cell: i}) {
			return 0
		}
		planned = min(planned, c.Rounds)
	}
	for i, t := range s.Trials {
		if !slices.Contains(cells, t.Cell) {
			continue
		}
		if t.State != trials.Made {
			if t.Round <= planned {
				return 0 // it failed, or was cut: --resume makes it again
			}
			continue
		}
		r := rounds[t.Round]
		if r == nil {
			r = &state{}
			rounds[t.Round] = r
		}
		r.made++
		if run := s.made[i].Run; run != nil && compare.Invalid(run, "") != "" {
			r.spoilt++
		}
	}
	if len(cells) > 1 && planned == 1 {
		return 0 // one round compares nothing
	}
	usable := 0
	for _, r := range rounds {
		if r.made == len(cells) && r.spoilt == 0 {
			usable++
		}
	}
	if usable == 0 && planned > 1 {
		return 0
	}
	return max(0, planned-usable)
}
