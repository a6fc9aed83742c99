package cli

import (
	"fmt"
	"slices"

	"sixnines/internal/compare"
	"sixnines/internal/trials"
)

// spoilt is a pair with an INVALID run.
type spoilt struct {
	round  int
	trials []int // its trials' indices
	why    string
}

// spoiltPairs returns the pairs with an INVALID run that are not set aside, and the number of
// other pairs. Only verdicts decide: replacing pairs for their figures would select the
// result.
func (t *abRuns) spoiltPairs() (all []spoilt, others int) {
	last := 0
	pairs := map[int]*spoilt{}
	for i, x := range t.Trials {
		if x.State != trials.Made || x.Aside != "" || t.kept[i] == nil {
			continue
		}
		last = max(last, x.Round)
		p := pairs[x.Round]
		if p == nil {
			p = &spoilt{round: x.Round}
			pairs[x.Round] = p
		}
		p.trials = append(p.trials, i)
		if why := compare.Invalid(t.kept[i], t.of); why != "" && p.why == "" {
			p.why = letter(x.Cell) + " " + why
		}
	}
	for round := 1; round <= last; round++ {
		switch p := pairs[round]; {
		case p == nil || len(p.trials) < 2:
		case p.why != "":
			all = append(all, *p)
		default:
			others++
		}
	}
	return all, others
}

// spare is the number of pairs that may still be replaced: of A and B, or with A on both sides, of which there are fewer.
func (t *abRuns) spare(control bool) int {
	most := t.most()
	if control && t.Design != nil {
		most = t.Design.Controls
	}
	switch {
	case t.replace >= 0 && control:
		most = min(t.replace, most)
	case t.replace >= 0:
		most = t.replace
	}
	for _, x := range t.Trials {
		if x.Replaces > 0 && x.Cell == 0 && t.isControl(x.Round) == control {
			most--
		}
	}
	return max(0, most)
}

// replaceable returns the spoilt pairs to replace, up to the limit. It returns nothing if
// every pair is spoilt, since further pairs would be spoilt, too.
func (t *abRuns) replaceable() []spoilt {
	all, others := t.spoiltPairs()
	if others == 0 || t.late() {
		return nil
	}
	left := map[bool]int{false: t.spare(false), true: t.spare(true)}
	return slices.DeleteFunc(all, func(p spoilt) bool {
		of := t.isControl(p.round)
		left[of]--
		return left[of] < 0
	})
}

// more plans further pairs: in place of spoilt ones, else those up to the next look.
func (t *abRuns) more() []trials.Trial {
	if again := t.replacing(); again != nil {
		return again
	}
	return t.further()
}

// replacing sets spoilt pairs aside and plans others, in an order drawn for them.
func (t *abRuns) replacing() []trials.Trial {
	all := t.replaceable()
	if len(all) == 0 {
		return nil
	}
	next := 0
	for _, x := range t.Trials {
		next = max(next, x.Round)
	}
	for _, p := range all {
		for _, i := range p.trials {
			t.Trials[i].Aside = p.why
		}
	}
	var out []trials.Trial
	for _, at := range trials.Balanced(len(all), t.Seed+uint64(next)) {
		of := all[at.Round-1].round
		x := t.trial(cellOf(at.Cell, t.isControl(of)), next+at.Round)
		x.Replaces = of
		out = append(out, x)
	}
	for n, p := range all {
		t.note("pair %d is set aside: %s; pair %d replaces it", p.round, oneLine(p.why), next+n+1)
	}
	return out
}

// pairFile names the result of a run of a pair.
func pairFile(round int, letter string) string {
	return fmt.Sprintf("pair-%02d-%s.jsonl", round, letter)
}
