package cli

import (
	"maps"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
)

// look spares the rounds of cells that need no more, since all that uses them is decided. What it decides follows from the
// results alone: a study that is resumed decides it again.
func (s *studyRuns) look() error {
	if s.Other() || len(s.made) == 0 { // what it needed was decided by the program that made it, or is not known
		return nil
	}
	enough := s.records().Enough()
	cells := map[int]bool{} // that stop now
	n, err := s.Spare(func(t trials.Trial) bool {
		rounds, is := enough[s.cellOf(t).Name]
		spared := is && t.Round > rounds && s.wanted(t)
		cells[t.Cell] = cells[t.Cell] || spared
		return spared
	})
	maps.DeleteFunc(cells, func(_ int, spared bool) bool { return !spared })
	if n > 0 {
		s.note("%s of %s not needed: what they are compared for is decided", plural(n, "further trial"), spell.Plural(len(cells), "cell"))
	}
	return err
}

// after looks at the cells once the last trial was tried that is no later than the next round after which any is looked at. It may be
// of an earlier round: one that failed and is made again when the study is resumed.
func (s *studyRuns) after(t trials.Trial) error {
	next := 0
	for _, c := range s.planned.cells {
		for _, n := range c.Looks {
			if n >= t.Round && (next == 0 || n < next) {
				next = n
			}
		}
	}
	left := func(x trials.Trial) bool { return x.State == trials.Planned && x.Round <= next && s.wanted(x) }
	if next == 0 || slices.ContainsFunc(s.Trials, left) {
		return nil
	}
	return s.look()
}

// looksOf returns the looks of each cell of a study, by length and name.
func looksOf(st *study.Study) map[string][]int {
	all := map[string][]int{}
	for _, length := range []string{study.Quick, study.Default, study.Full} {
		cells, _ := st.Cells(length) // exists
		for _, c := range cells {
			all[length+" "+c.Name] = c.Looks
		}
	}
	return all
}

// certain returns the trials of those left that are made whatever they show: each cell's until its next look.
func (p *studyPlan) certain(left []trials.Place) []trials.Place {
	next := map[int]int{} // by cell
	for _, at := range left {
		c := &p.cells[at.Cell]
		if i := slices.IndexFunc(c.Looks, func(n int) bool { return n >= at.Round }); i >= 0 && next[at.Cell] == 0 {
			next[at.Cell] = c.Looks[i]
		}
	}
	return slices.DeleteFunc(slices.Clone(left), func(at trials.Place) bool { return next[at.Cell] > 0 && at.Round > next[at.Cell] })
}
