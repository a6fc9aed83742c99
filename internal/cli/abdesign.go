package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/trials"
	"sixnines/result"
)

// abControls is how many pairs with A on both sides there are beside the others: the least that have an interval.
const abControls = compare.MinPairs

// designs are the values of --design.
func designs() []string {
	return []string{string(result.DesignBeside), string(result.DesignTurn), string(result.DesignApart)}
}

// notBeside says why two loads cannot be measured at the same time; the reason is empty if they can.
func (t *abRuns) notBeside(a *app) (why string, reason result.DesignReason) {
	for i := range t.arms {
		if why, reason = compare.NotAtOnce(t.arms[i].scenario); reason != "" {
			return why, reason
		}
	}
	return a.oneAtATime()
}

// oneAtATime says why this command makes one run at a time, whatever the loads are; the reason is empty if it can make two.
func (a *app) oneAtATime() (why string, reason result.DesignReason) {
	switch {
	case runtime.GOOS != "linux":
		reason = result.DesignSystem
	case a.live != nil || a.page != nil:
		reason = result.DesignExport
	case a.fleet != nil:
		reason = result.DesignFleet
	}
	return compare.Apart(&result.Design{Reason: reason}), reason
}

// checkDesign fixes the design if no pilot is needed to choose it: t.fixed.
func (t *abRuns) checkDesign(a *app) error {
	if t.beside {
		if t.kind != "" && t.kind != string(result.DesignBeside) {
			return wrongUsage("leave one of them out", "--beside and --design %s exclude each other", t.kind)
		}
		t.kind = string(result.DesignBeside)
	}
	if err := t.checkSlices(); err != nil {
		return err
	}
	why, reason := t.notBeside(a)
	t.pilots = reason == ""
	switch t.kind {
	case "":
		if reason != "" {
			t.fixed, t.why = &result.Design{Kind: result.DesignApart, Reason: reason}, why
		}
		return nil
	case string(result.DesignApart):
		t.fixed = &result.Design{Kind: result.DesignApart, Reason: result.DesignAsked}
		return nil
	case string(result.DesignBeside):
		if why != "" {
			return wrongUsage("leave it out: the runs are then made one after the other", "--design beside: %s", why)
		}
		t.fixed = &result.Design{Kind: result.DesignBeside, Reason: result.DesignAsked}
		return nil
	case string(result.DesignTurn):
		if why = cmp.Or(why, t.notInTurn()); why != "" {
			return wrongUsage("leave it out: the runs are then made as the loads allow", "--design turn: %s", why)
		}
		t.fixed = &result.Design{Kind: result.DesignTurn, Reason: result.DesignAsked}
		return nil
	}
	return chooseOne("--design", t.kind, designs())
}

// arrange chooses the design, by a pilot if that is needed, unless the series has one.
func (t *abRuns) arrange(ctx context.Context) error {
	t.began = time.Now()
	if t.Design != nil {
		t.earlier = t.spentBefore()
		return nil
	}
	d := t.fixed
	took := t.guess(d)
	if d == nil || t.budget > 0 && t.pilots {
		var err error
		if d, took, err = t.pilot(ctx, d); err != nil || d == nil {
			return err
		}
	}
	if d.AtOnce() {
		d.Controls = abControls
	}
	if d.Kind == result.DesignTurn {
		d.Slice = cmp.Or(t.slice, defaultSlice)
	}
	d.Budget, d.Looks = t.budget, []int{t.pairs}
	if t.budget > 0 {
		pairs := int((t.budget-time.Since(t.began))/took) - d.Controls
		if pairs < compare.MinPairs {
			least := time.Since(t.began) + time.Duration(compare.MinPairs+d.Controls)*took
			return tooShort(t.budget, least, took, d.Controls)
		}
		d.Looks = compare.Looks(min(pairs, maxPairs))
	}
	t.takes = took
	return t.Choose(d)
}

// checkBudget refuses a time in which not even windows and warm-ups have their place, whatever a pilot finds.
func (t *abRuns) checkBudget() error {
	if least := compare.MinPairs * max(t.arms[0].lasts(), t.arms[1].lasts()); t.budget == 0 || t.budget >= least {
		return nil
	}
	pair := t.guess(t.fixed)
	return tooShort(t.budget, compare.MinPairs*pair, pair, 0)
}

// tooShort is the error of a budget in which nothing can be decided.
func tooShort(budget, least, pair time.Duration, controls int) error {
	least = least.Truncate(10*time.Second) + 10*time.Second
	return wrongUsage("give it --for "+spell.Duration(least)+" or more, or a shorter --duration",
		"--for %s is too short: a pair takes about %s, and at least %d are needed", spell.Duration(budget), seconds(pair), compare.MinPairs+controls)
}

// guess is about how long a pair takes, as far as it is known before one was made; d is nil while the design is open.
func (t *abRuns) guess(d *result.Design) time.Duration {
	var each, longest time.Duration
	for i := range t.arms {
		takes := t.arms[i].lasts() + trialBeside
		if _, managed, err := managedProduct(t.arms[i].scenario, t.arms[i].entry); err == nil && managed {
			takes += startTakes
		}
		each, longest = each+takes, max(longest, takes)
	}
	if d != nil && d.Kind == result.DesignApart {
		return each
	}
	return longest
}

// pilot chooses the design by a pilot, unless it is fixed. It also returns how long a pair takes. There is no design if a
// signal ended it.
func (t *abRuns) pilot(ctx context.Context, fixed *result.Design) (d *result.Design, took time.Duration, err error) {
	t.stops = t.seriesStops(ctx)
	defer t.stops.stop()
	p := &pilot{series: t.series, sides: [2]*cell{&t.arms[0], &t.arms[1]}}
	if fixed != nil {
		took, err = p.times(fixed)
		if t.stops.ending() || errors.Is(err, errEnded) {
			return nil, 0, nil
		}
		return fixed, took, err
	}
	d, why, err := p.choose()
	if err != nil || d == nil {
		return nil, 0, err
	}
	t.why = why
	if d.Kind == result.DesignApart && d.Reason != result.DesignNotBoth {
		if t.why = t.notInTurn(); t.why == "" {
			d.Kind = result.DesignTurn
		}
	}
	if d.Kind == result.DesignApart {
		return d, p.apart, nil
	}
	return d, p.atOnce, nil
}

// designText says which design it is and why; why is the reason if it is none of the design's own.
func designText(d *result.Design, why string) string {
	text := "both runs of a pair at the same time"
	switch d.Kind {
	case result.DesignTurn:
		text += ", loaded in turn for " + spell.Duration(d.Slice) + " each"
	case result.DesignApart:
		text = "the runs of a pair one after the other"
	}
	switch d.Reason {
	case result.DesignAsked:
		return text + ", as asked"
	case result.DesignUndisturbed, result.DesignUse, result.DesignSlowed:
		last := d.Pilot[len(d.Pilot)-1]
		used := "an unknown share"
		if last.Known {
			used = fmt.Sprintf("%.0f %%", last.Used*100)
		}
		text += ": at once the sides used " + used + " of the processors"
		if last.A > 0 && last.B > 0 {
			text += fmt.Sprintf(", and p50 changed by %+.0f %% (A) and %+.0f %% (B) against each side alone", (last.A-1)*100, (last.B-1)*100)
		}
		if why != "" {
			text += "; not in turn: " + why
		}
		return text
	}
	if why == "" {
		return text
	}
	return text + ": " + why
}

// isControl reports whether a trial is of a pair with A on both sides.
func (t *abRuns) isControl(round int) bool {
	for _, x := range t.Trials {
		if x.Round == round && x.Cell == controlCell {
			return true
		}
	}
	return false
}

// controlCell is the cell of the second run of a pair with A on both sides.
const controlCell = 2

// letter is a cell's name in files and headers.
func letter(cell int) string { return []string{"A", "B", "A2"}[cell] }

// planned is the number of pairs of A and B that are planned so far, without those that others replace.
func (t *abRuns) planned() int {
	n := 0
	for _, x := range t.Trials {
		if x.Cell == 1 && x.Aside == "" {
			n++
		}
	}
	return n
}

// further plans the pairs up to the next look; none if the comparison is over.
func (t *abRuns) further() []trials.Trial {
	made, controls, next := t.planned(), 0, 0
	for _, n := range t.Design.Looks {
		if n > made {
			next = n
			break
		}
	}
	switch {
	case next == 0:
		return nil
	case made == 0:
		controls = t.Design.Controls
	case t.late() || t.settled(made):
		return nil
	}
	return t.block(next-made, controls)
}

// block plans pairs of A and B, and among them pairs with A on both sides. Which side is first is balanced in each kind.
func (t *abRuns) block(pairs, controls int) []trials.Trial {
	round := 0
	for _, x := range t.Trials {
		round = max(round, x.Round)
	}
	var out []trials.Trial
	of := [2][]trials.Place{trials.Balanced(pairs, t.Seed+uint64(round)), trials.Balanced(controls, t.Seed+uint64(round)+1<<32)}
	for i := range pairs + controls {
		kind := 0
		if (i+1)*controls/(pairs+controls) > i*controls/(pairs+controls) {
			kind = 1
		}
		round++
		for _, at := range of[kind][:2] {
			out = append(out, t.trial(cellOf(at.Cell, kind == 1), round))
		}
		of[kind] = of[kind][2:]
	}
	return out
}

// cellOf is the cell of a side of a pair.
func cellOf(side int, control bool) int {
	if side == 1 && control {
		return controlCell
	}
	return side
}

// trial is a trial of a round. Both runs of a pair have the same seed, so that they have the same arrivals, and each
// pair another seed. With one seed for all pairs, any effect of these arrivals on one side would be the same in every
// pair, and no interval would show it.
func (t *abRuns) trial(cell, round int) trials.Trial {
	return trials.Trial{Cell: cell, Round: round, Seed: nextSeed(t.arms[cell%controlCell].scenario.Seed, round-1), File: pairFile(round, letter(cell))}
}

// settled reports whether the comparison of the pairs so far decides all that it can, and says so.
func (t *abRuns) settled(pairs int) bool {
	runs := t.sides(false)
	all, err := compare.Workloads(runs[0], runs[1], t.options)
	if err != nil {
		return false // the final comparison says what is wrong
	}
	settled := true
	for _, c := range all {
		settled = settled && c.Settled()
		t.note("after %s: %s%s", plural(pairs, "pair"), ofWorkload(c.Workload), c.Text)
	}
	return settled
}

// late reports whether another pair would take longer than the budget.
func (t *abRuns) late() bool {
	return t.Design != nil && t.Design.Budget > 0 && t.earlier+time.Since(t.began)+t.takes > t.Design.Budget
}

// wanted reports whether to make a trial now: the second run of a pair follows the first, and another pair begins while
// there is time.
func (t *abRuns) wanted(x trials.Trial) bool {
	for _, y := range t.Trials {
		if y.Round == x.Round && y.Cell != x.Cell && y.State != trials.Planned {
			return true
		}
	}
	return !t.late()
}

// spentBefore is how long the trials took that an earlier command made.
func (t *abRuns) spentBefore() (all time.Duration) {
	seen := map[int64]bool{} // both runs of a pair may be of the same time
	n := 0
	for _, x := range t.Trials {
		if x.Began == nil || x.Ended == nil || seen[x.Began.UnixNano()] {
			continue
		}
		seen[x.Began.UnixNano()] = true
		all += x.Ended.Sub(*x.Began)
		n++
	}
	if n > 0 {
		t.takes = all / time.Duration(n)
		if t.Design.Kind == result.DesignApart {
			t.takes *= 2
		}
	}
	return all
}
