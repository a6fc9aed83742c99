package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// abControls is how many pairs with A on both sides there are beside the others: the least that have an interval.
	abControls = compare.MinPairs
	// pilotWindow is the longest window of a pilot's runs.
	pilotWindow = 2 * time.Second
)

// designs are the values of --design.
func designs() []string {
	return []string{string(result.DesignBeside), string(result.DesignTurn), string(result.DesignApart)}
}

// notBeside says why two loads cannot be measured at the same time; the reason is empty if they can.
func (t *abRuns) notBeside(a *app) (why string, reason result.DesignReason) {
	for i := range t.arms {
		s := t.arms[i].scenario
		switch {
		case len(s.Acts()) > 0 || s.Network != nil:
			return "actions and network conditions of one side would reach the other", result.DesignActions
		case s.Target.Nodes > 1:
			return "two clusters at once are too much for one machine", result.DesignClusters
		}
		for _, p := range s.Parts() {
			w := &p.Workload
			switch {
			case w.Loop == scenario.Closed || w.Rate.IsMax():
				return "a load without a schedule takes what the other side leaves it", result.DesignUnscheduled
			case w.Pattern == scenario.Consume || w.Existing != "":
				return "both sides would take the same messages of an earlier run", result.DesignShared
			}
		}
	}
	switch {
	case runtime.GOOS != "linux":
		return "how much of the processors both sides use is known on Linux only", result.DesignSystem
	case a.live != nil || a.page != nil:
		return "metrics and live pages show one run at a time", result.DesignExport
	case a.fleet != nil:
		return "a fleet makes one run at a time", result.DesignFleet
	}
	return "", ""
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

// pilot makes a run of each side alone and of both at once, up to [compare.PilotRounds] times, and chooses the design by
// what they used and how their figures differ, unless it is fixed. It also returns how long a pair takes. There is no
// design if a signal ended it.
func (t *abRuns) pilot(ctx context.Context, fixed *result.Design) (d *result.Design, took time.Duration, err error) {
	t.stops = t.seriesStops(ctx)
	defer t.stops.stop()
	p := &pilot{abRuns: t}
	if fixed != nil {
		took, err = p.times(fixed)
		if t.stops.ending() || errors.Is(err, errEnded) {
			return nil, 0, nil
		}
		return fixed, took, err
	}
	d = &result.Design{}
	for more := true; more; {
		round, err := p.round()
		if t.stops.ending() || errors.Is(err, errEnded) {
			return nil, 0, nil
		}
		var not notBothError
		if errors.As(err, &not) {
			d.Kind, d.Reason, t.why = result.DesignApart, result.DesignNotBoth, oneLine(not.Error())
			break
		}
		if err != nil {
			return nil, 0, err
		}
		d.Pilot = append(d.Pilot, round)
		d.Kind, d.Reason, more = compare.Choose(d.Pilot)
	}
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

// notBothError says that the sides run alone and not at once.
type notBothError struct{ error }

func (e notBothError) Unwrap() error { return e.error }

// pilot is the pilot of an ab.
type pilot struct {
	*abRuns
	apart, atOnce time.Duration // how long a pair takes, by the last round
}

// times makes a pair as the design says, for how long it takes.
func (p *pilot) times(d *result.Design) (time.Duration, error) {
	if d.AtOnce() {
		_, err := p.both()
		return p.atOnce, err
	}
	_, err := p.alone()
	return p.apart, err
}

// round makes a round: A alone, B alone, both at once.
func (p *pilot) round() (round result.PilotRound, err error) {
	alone, err := p.alone()
	if err != nil || p.stops.ending() {
		return round, err
	}
	both, err := p.both()
	if err != nil {
		return round, err
	}
	return compare.Pilot(alone, both), nil
}

// alone makes a run of each side alone.
func (p *pilot) alone() (alone [2]*result.Run, err error) {
	p.apart = 0
	for side := range alone {
		show := p.display(p.series.quiet, p.arms[side].scenario, endsSeries)
		stops := p.stops.next(show.say)
		began := time.Now()
		show.say("pilot: " + p.arms[side].label + " alone")
		alone[side], err = p.run(side, nil, stops, show)
		p.apart += p.rest(side, time.Since(began))
		p.stops.done()
		show.close()
		if err != nil || p.stops.ending() {
			return alone, err
		}
	}
	return alone, nil
}

// both makes a run of each side, both at once.
func (p *pilot) both() (both [2]*result.Run, err error) {
	shows := p.sideDisplays([2]string{p.arms[0].label, p.arms[1].label})
	defer shows.close()
	stops := p.stops.next(shows.to.say)
	defer p.stops.done()
	shows.to.say("pilot: A beside B")
	meet := newMeeting()
	var errs [2]error
	var made sync.WaitGroup
	began := time.Now()
	for side := range both {
		later := time.Duration(0)
		if side == 1 {
			later = halfGap(p.arms[1].scenario)
		}
		made.Go(func() {
			defer meet.leave()
			both[side], errs[side] = p.run(side, meet.start(later), stops, shows.of(side))
		})
	}
	made.Wait()
	p.atOnce = p.rest(0, time.Since(began))
	for side, err := range errs {
		if err != nil && !errors.Is(err, errPartner) {
			return both, notBothError{ofSide(p.arms[side].label, err)}
		}
	}
	if both[0] == nil || both[1] == nil {
		return both, errEnded
	}
	return both, nil
}

// rest is how long a pair takes of which a run of the pilot took so long.
func (p *pilot) rest(side int, took time.Duration) time.Duration {
	return took + p.arms[side].scenario.Phases.Duration - p.short(side).Phases.Duration
}

// short is a side's scenario in the pilot: with a shorter window, if its load is the same throughout.
func (p *pilot) short(side int) *scenario.Scenario {
	s := *p.arms[side].scenario
	if kind := s.Workload.Arrivals.Kind; len(s.Workloads) == 0 && (kind == scenario.Constant || kind == scenario.Poisson) {
		s.Phases.Duration = min(s.Phases.Duration, pilotWindow)
	}
	s.Record.Raw = false
	return &s
}

// run makes a run, of which nothing stays.
func (p *pilot) run(side int, start func(context.Context, int64) (int64, error), stops *interrupts, show display) (*result.Run, error) {
	file := filepath.Join(p.dir, "pilot-"+p.arms[side].label+".jsonl")
	run, err := p.measure(stops, show, measurement{scenario: p.short(side), entry: p.arms[side].entry, file: file, start: start})
	if gone := os.Remove(p.path(file)); gone != nil && !errors.Is(gone, fs.ErrNotExist) && err == nil {
		err = failed("check the directory and its permissions", gone)
	}
	return run, err
}

// designText says which design it is and why.
func (t *abRuns) designText() string {
	d := t.Design
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
		if t.why != "" {
			text += "; not in turn: " + t.why
		}
		return text
	}
	if t.why == "" {
		return text
	}
	return text + ": " + t.why
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
