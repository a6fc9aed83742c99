package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
)

// pair lists the pairs of cells that may be made at the same time. Whether they are is fixed where it is asked for, and where they have
// too few rounds to be compared. What is chosen of a pair is chosen of both.
func (p *studyPlan) pair(design string) {
	for i := range p.cells {
		a := &p.cells[i]
		k := slices.IndexFunc(p.cells, func(c studyCell) bool { return c.Name == a.Beside })
		if k <= i { // none, or it has been its turn
			continue
		}
		x := trials.Pair{Cells: [2]int{i, k}}
		switch {
		case design != "":
			x.Design = fixedPair(result.DesignKind(design), result.DesignAsked, a.Rounds)
		case a.Rounds < study.LeastRounds:
			x.Design = fixedPair(result.DesignApart, result.DesignRounds, a.Rounds)
		}
		if b := &p.cells[k]; x.Design == nil || x.Design.AtOnce() {
			a.chosen = a.chosen || b.chosen
			b.chosen = a.chosen
		}
		p.paired = append(p.paired, x)
	}
}

// fixedPair is the design of a pair of cells that was chosen without a pilot.
func fixedPair(kind result.DesignKind, reason result.DesignReason, rounds int) *result.Design {
	return &result.Design{Kind: kind, Reason: reason, Looks: []int{rounds}}
}

// pairsHere fixes the design of pairs that this command, or this machine, cannot make at the same time.
func (s *studyRuns) pairsHere(a *app) error {
	why, reason := a.oneAtATime()
	if s.design == string(result.DesignBeside) && why != "" {
		return wrongUsage("leave it out: the runs are then made one after the other", "--design beside: %s", why)
	}
	for i := range s.planned.paired {
		x := &s.planned.paired[i]
		c := &s.planned.cells[x.Cells[0]]
		if x.Design != nil && !x.Design.AtOnce() || !c.chosen {
			continue
		}
		away := reason
		for _, k := range x.Cells {
			if s.missing[s.planned.cells[k].System.Name].Why != "" {
				away = result.DesignPartner
			}
		}
		if away != "" {
			x.Design = fixedPair(result.DesignApart, away, c.Rounds)
		}
	}
	return nil
}

// atOnceWith returns the cell that is made at the same time as another one, as far as that is known; negative: none.
func (p *studyPlan) atOnceWith(cell int) int {
	for _, x := range p.paired {
		switch {
		case x.Design != nil && !x.Design.AtOnce():
		case x.Cells[0] == cell:
			return x.Cells[1]
		case x.Cells[1] == cell:
			return x.Cells[0]
		}
	}
	return -1
}

// beside are the cells that are made at the same time, as far as that is known.
func (p *studyPlan) beside() (all [][2]int) {
	for _, x := range p.paired {
		if x.Design == nil || x.Design.AtOnce() {
			all = append(all, x.Cells)
		}
	}
	return all
}

// piloting returns how long the pilots take that choose how pairs of these cells are made, and how many they are.
func (p *studyPlan) piloting(cells map[int]bool) (all time.Duration, n int) {
	for _, x := range p.paired {
		if x.Design != nil || !cells[x.Cells[0]] {
			continue
		}
		n++
		longest := time.Duration(0)
		for _, k := range x.Cells {
			c := &p.cells[k]
			takes := c.lasts() - c.scenario.Phases.Duration + min(c.scenario.Phases.Duration, pilotWindow) + trialBeside
			if c.managed {
				takes += startTakes
			}
			all, longest = all+takes, max(longest, takes)
		}
		all += longest
	}
	return all, n
}

// isPair reports whether two trials of a round are made at the same time.
func (s *studyRuns) isPair(a, b trials.Trial) bool {
	k := s.Paired(a.Cell)
	return k >= 0 && k == s.Paired(b.Cell) && s.Pairs[k].Design != nil && s.Pairs[k].Design.AtOnce()
}

// arrange chooses how the pairs of cells are made whose design is open, each by a pilot. It is not done if a signal ended it.
func (s *studyRuns) arrange(ctx context.Context) (done bool, err error) {
	s.stops = s.seriesStops(ctx)
	defer s.stops.stop()
	for i := range s.Pairs {
		x := &s.Pairs[i]
		if x.Design != nil || !s.wanted(trials.Trial{Cell: x.Cells[0]}) {
			continue
		}
		p := &pilot{series: s.series, sides: [2]*cell{&s.cells[x.Cells[0]], &s.cells[x.Cells[1]]}}
		d, why, err := p.choose()
		switch {
		case s.stops.ending():
			return false, nil
		case err != nil: // the trials will say more
			d, why = &result.Design{Kind: result.DesignApart, Reason: result.DesignPilot}, oneLine(err.Error())
		}
		d.Looks = []int{s.planned.cells[x.Cells[0]].Rounds}
		if err := s.ChoosePair(i, d); err != nil {
			return false, err
		}
		s.note("%s and %s: %s", p.sides[0].label, p.sides[1].label, designText(d, why))
	}
	return true, nil
}

// both makes the trials of two cells at the same time. The second one begins half of its mean gap later.
func (s *studyRuns) both(turns *[2]trials.Turn) (states [2]trials.State, errs [2]error) {
	pair := s.Paired(turns[0].Trial.Cell)
	var of [2]trialSpec
	for k := range turns {
		of[k].header = s.headerOfRound(&turns[k], s.ready(&turns[k]).Rounds)
	}
	later := halfGap(s.cells[turns[1].Trial.Cell].scenario)
	runs, states, errs := s.twoAtOnce(turns, fmt.Sprintf("round %d", turns[0].Trial.Round), of, later)
	for k := range turns {
		turn := &turns[k]
		if states[k] == trials.Unbegun {
			continue
		}
		states[k], errs[k] = s.ended(turn)(s.cellMade(turn)(runs[k], states[k], errs[k]))
	}
	if !slices.Contains(states[:], trials.Refused) {
		return states, errs
	}
	// What one broker does not do it does not do in the other rounds either: these, and what waited for it, are made alone.
	if err := s.ChoosePair(pair, fixedPair(result.DesignApart, result.DesignRefused, s.cellOf(turns[0].Trial).Rounds)); err != nil {
		errs[0] = errors.Join(errs[0], err)
	}
	for k := range turns {
		if states[k] == trials.Unbegun && !s.stops.ending() {
			states[k], errs[k] = s.one(&turns[k])
		}
	}
	return states, errs
}

// besideTrial returns the index of the trial that was made at the same time as another one; negative: none was.
func (s *studyRuns) besideTrial(trial int) int {
	run := s.made[trial].Run
	if run == nil || run.Header.Trial == nil || !run.Header.Trial.Beside {
		return -1
	}
	t := s.Trials[trial]
	pair := s.Paired(t.Cell)
	return slices.IndexFunc(s.Trials, func(x trials.Trial) bool {
		return x.Round == t.Round && x.Cell != t.Cell && x.State == trials.Made && s.Paired(x.Cell) == pair
	})
}
