package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// maxPairs is the largest number of pairs of an ab: instead of more pairs, runs should be
// longer.
const maxPairs = 1000

// abOptions are the flags of ab that are no part of a scenario.
type abOptions struct {
	compareOptions
	outputOptions
	pairs   int
	replace int // pairs at most; negative: the number of pairs
	budget  time.Duration
	kind    string        // of the design, a result.DesignKind; empty: as a pilot chooses
	slice   time.Duration // how long a side has its turn; 0: as the design says
	beside  bool          // another spelling of the design that makes both runs of a pair at the same time
	dryRun  bool
	junit   string // file; empty: none
}

func (a *app) abCommand() *cobra.Command {
	var (
		flags        overrides
		onlyA, onlyB overrides
		o            abOptions
	)
	cmd := &cobra.Command{
		Use:   "ab A [B] [flags]",
		Short: "Run two scenarios alternately in random order and compare them",
		Long: `Run A and B in pairs and compare them as sixnines compare does. Each run has its own
broker and connections; the order within each pair is random. A and B are what
sixnines run takes: a driver's name or a scenario file. Without B, both sides are A:
--b changes one of them, and without --b this is an A/A test, which shows what the
comparison reports when nothing differs.

Flags of the scenario apply to both sides, --a and --b to one side. --a and --b take
a flag's name (rate=2k/s), option.NAME, setting.NAME or any field of a scenario.

Ctrl-C ends the comparison after the current run, or at once if that run's window has
not begun; a second Ctrl-C ends the window early; a third stops at once. The results
are in one directory, which sixnines compare can read later and --resume continues. Where a
run that was stopped or killed is made again, --gate says undecided: whoever stopped it may
have seen how it went.

Where that is possible both runs of a pair are made at the same time, each with a broker
and connections of its own, from one schedule, B's or A's half a gap later. What disturbs
the machine then disturbs both, and falls out of their ratio: the same number of pairs shows
a far smaller difference. A pilot decides: if the sides use more than half of the processors
together, or slow each other, they are loaded in turn, in slices of half a second
(--slices). Runs are made apart where that is not possible: loads without a schedule,
clusters, loads with actions. --design chooses without a pilot. At the same time the
comparison is of both sides under their common load. Six more pairs have A on both sides:
where these differ, nothing is decided.

--for 3m makes pairs until each percentile is slower, faster or within --min-effect, or time
is up. The intervals of all evaluations hold at once.

A pair with an INVALID run is set aside, reported, and repeated after the others, at
most --replace times. Only verdicts decide this, never the measured figures.

With several workloads, each one that both sides have is compared separately;
background workloads are shown but not judged. --b workloads.NAME.rate=2k/s changes
one of them.

--slo and the scenario's objectives are decided for each side: a side must meet them
in each of its runs.

Exit codes: 0 compared; 1 failure; 2 wrong usage; 3 a regression with --gate, a missed
objective, or a gate or objective that could not be decided.`,
		Example: `  sixnines ab nats                                       an A/A
  sixnines ab kafka --b option.linger=5ms --duration 30s
  sixnines ab redis --for 3m --b size=1kB --percentile 50,90,99
  sixnines ab redis --for 10m --dry-run                  what ten minutes can show
  sixnines ab kafka --a start=kafka@3.9.1 --b start=kafka@4.3.1 --for 10m
  sixnines ab redis --b option.client=library --for 3m   what the client library costs
  sixnines ab old.yaml new.yaml --pairs 20 --markdown > comment.md
  sixnines ab nats --b setting.max_pending=1MB --gate --min-effect 10%`,
		Args:              counted(1, 2, "A, and perhaps B"),
		ValidArgsFunction: a.completeSubjects(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs := &abRuns{abOptions: o, args: args, flags: flags.list, only: [2][]scenario.Override{onlyA.list, onlyB.list}, counted: cmd.Flags().Changed("pairs")}
			if o.dryRun {
				return runs.foretell(cmd.Context(), a)
			}
			return a.experiment(cmd.Context(), o.outputOptions, runs)
		},
	}
	runs := sectionOf("Trials", func(f *pflag.FlagSet) {
		f.IntVar(&o.pairs, "pairs", compare.RecommendedPairs, fmt.Sprintf("`N` pairs of runs, at least %d", compare.MinPairs))
		f.IntVar(&o.replace, "replace", -1, "make at most `N` more pairs to replace those with an INVALID run; default: as many as --pairs; 0: none")
		someTimeFlag(f, &o.budget, "for", "instead of --pairs: make pairs for at most this `TIME`, until everything is decided")
		f.StringVar(&o.kind, "design", "", "make the runs of a pair by this `DESIGN`: beside (at the same time), turn (loaded in turn) or apart; default: as a pilot chooses")
		someTimeFlag(f, &o.slice, "slices", "load the sides in turn, for this `TIME` each; default of --design turn: "+spell.Duration(defaultSlice))
		f.BoolVar(&o.beside, "beside", false, "another spelling of --design beside")
		f.Var(armFlag(&onlyA, "--a"), "a", "a flag or field that changes for A only, such as rate=2k/s, repeatable")
		f.Var(armFlag(&onlyB, "--b"), "b", "a flag or field that changes for B only, such as option.linger=5ms, repeatable")
		f.BoolVar(&o.dryRun, "dry-run", false, "print what would be made, how long it takes and what it can show; run nothing")
		resumeFlag(f, &o.resume, "ab", sameCommand)
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		o.outputFlags(f, seriesOut)
		f.StringVar(&o.junit, "junit", "", "also write the outcome, what --gate judges and objectives to `FILE` for CI, as JUnit XML; an existing file is replaced")
	})
	a.take(cmd, slices.Concat([]section{runs, sectionOf("Comparison", o.comparisonFlags)}, scenarioFlags(&flags), []section{o.fleet.section(), output})...)
	completeFlag(cmd, "metric", oneOf(metricNames()...))
	completeFlag(cmd, "percentile", oneOf(result.Percentiles()...))
	return cmd
}

// armFlag changes one arm: it takes the name of a flag or a field of a scenario.
func armFlag(to *overrides, flag string) *pairs {
	return &pairs{to: to, flag: flag, key: keyOf, example: ", such as " + flag + " rate=2k/s"}
}

// check loads both sides and refuses those that cannot be compared.
func (t *abRuns) check(_ context.Context, a *app) (err error) {
	t.decides = true
	if err := a.junitProbe(t.junit); err != nil {
		return err
	}
	if t.options, err = t.compareOptions.options(a); err != nil {
		return err
	}
	if t.budget > 0 && t.counted {
		return wrongUsage("leave one of them out", "--for and --pairs exclude each other: --for makes as many pairs as the time allows")
	}
	if t.pairs < compare.MinPairs || t.pairs > maxPairs {
		why := "cannot show anything at 95 %"
		if t.pairs > maxPairs {
			why = "are too many: make the runs longer"
		}
		return wrongUsage(fmt.Sprintf("--pairs takes %d to %d; %d are recommended", compare.MinPairs, maxPairs, compare.RecommendedPairs),
			"%s %s", plural(t.pairs, "pair"), why)
	}
	if t.replace > maxPairs {
		return wrongUsage(fmt.Sprintf("--replace takes up to %d", maxPairs), "%s to replace INVALID ones are too many", plural(t.replace, "pair"))
	}
	if t.arms, t.brokers, err = a.arms(t.args, t.flagsFor(a), t.only); err == nil {
		err = comparableArms(t.arms, t.of, t.gate)
	}
	if err == nil && t.gate && !t.rankUnlike {
		err = gateableArms(t.arms, t.of)
	}
	if err == nil {
		err = t.checkDesign(a)
	}
	if err == nil {
		err = t.checkBudget()
	}
	if err == nil {
		t.changes, err = changesBetween(t.arms, [2]*scenario.Scenario{t.arms[0].scenario, t.arms[1].scenario})
	}
	return err
}

// plan plans no trial: the design may not be known yet, see [abRuns.further].
func (t *abRuns) plan() (design, error) {
	set := randomHex()
	for i := range t.arms {
		t.arms[i].Set, t.arms[i].Digest = set, t.kind
		if t.budget > 0 {
			t.arms[i].Digest = joinWords(t.kind, "for "+spell.Duration(t.budget)+" "+t.options.Asked())
			t.pairs = 0
		}
		if t.kind == string(result.DesignTurn) {
			t.arms[i].Digest = joinWords(t.arms[i].Digest, "slices "+spell.Duration(t.slice))
		}
	}
	again := t.arms[0] // on the other side of a pair
	again.label, again.Name = letter(controlCell), letter(controlCell)
	return design{name: fmt.Sprintf("ab-%s-%s", time.Now().UTC().Format("20060102T150405Z"), set[:8]),
		kind: result.TrialAB, seed: t.arms[0].scenario.Seed, rounds: t.pairs, cells: append(slices.Clone(t.arms), again)}, nil
}

func (t *abRuns) begin(s *series) error {
	t.series = s
	return s.load(t.keep)
}

func (t *abRuns) make(ctx context.Context) error {
	if t.Other() {
		return nil // all is made
	}
	if err := t.arrange(ctx); err != nil || t.Design == nil {
		return err
	}
	t.announce()
	o := trials.Options{Make: t.one, More: t.more, Wanted: t.wanted}
	if t.Design.AtOnce() {
		o.Pair, o.Both = func(a, b trials.Trial) bool { return a.Round == b.Round }, t.both
	}
	err := t.makeAll(ctx, o)
	if err == nil && t.Design.Budget > 0 && !t.stops.ending() {
		err = t.Drop() // time is up
	}
	return err
}

// arms loads both scenarios, and describes each one's broker.
func (a *app) arms(args []string, common []scenario.Override, only [2][]scenario.Override) (arms []cell, brokers []string, err error) {
	for i := range only {
		arg := args[min(i, len(args)-1)]
		if arg == "-" {
			return nil, nil, wrongUsage("name a file", "ab does not read scenarios from stdin: it would need them twice")
		}
		list := append(append([]scenario.Override(nil), common...), only[i]...)
		s, e, err := a.load([]string{arg}, list)
		if err != nil {
			return nil, nil, err
		}
		if u := s.Phases.Until; !u.IsZero() {
			return nil, nil, wrongUsage("give --duration, the same for both, and more --pairs",
				"ab cannot run until %q: all its runs have the same length, and its uncertainty is the spread between runs, which longer runs do not reduce", u)
		}
		p, err := planOfAll(s, e)
		if err != nil {
			return nil, nil, err
		}
		c := newCell(s, e)
		c.label = string(rune('A' + i))
		c.Name, c.Fresh = c.label, true
		arms, brokers = append(arms, c), append(brokers, p.Broker)
	}
	return arms, brokers, nil
}

// comparableArms refuses sides that have no workload to compare, or, with a gate, no workload
// to judge. of is the only workload to compare; empty: all that both sides have.
func comparableArms(arms []cell, of string, gate bool) error {
	var names [2][]string
	background := map[string]bool{}
	for i, arm := range arms {
		for _, w := range arm.scenario.Workloads {
			names[i] = append(names[i], w.Name)
			background[w.Name] = background[w.Name] || w.Background
		}
		if len(names[i]) > 0 && of != "" && !slices.Contains(names[i], of) {
			return chooseOne("--of", of, names[i])
		}
	}
	both := []string{of}
	if of == "" {
		both = slices.DeleteFunc(slices.Clone(names[0]), func(n string) bool { return !slices.Contains(names[1], n) })
	}
	switch {
	case len(names[0])+len(names[1]) == 0:
		return nil
	case len(both) > 0 && gate && !slices.ContainsFunc(both, func(n string) bool { return !background[n] }):
		return gatesNothing(both[0])
	case len(both) > 0:
		return nil
	}
	words := func(names []string) string {
		if len(names) == 0 {
			return "a single, unnamed workload"
		}
		return "the workloads " + strings.Join(names, ", ")
	}
	return wrongUsage("give both a workload with the same name, or choose one with --of NAME", "there is nothing to compare: A has %s, and B has %s", words(names[0]), words(names[1]))
}

// abRuns are the runs of an ab.
type abRuns struct {
	*series
	abOptions
	args    []string
	flags   []scenario.Override
	only    [2][]scenario.Override // of one side
	arms    []cell
	brokers []string // what each side measures
	changes []compare.Change
	options compare.Options
	found   []*compare.Comparison // of each workload

	counted bool           // --pairs was given
	fixed   *result.Design // nil: a pilot is needed
	pilots  bool           // a pilot can be made: it takes nothing from the runs that follow
	why     string         // the design, in words
	began   time.Time
	earlier time.Duration // that earlier commands took of the budget
	takes   time.Duration // a pair
}

// sides returns the runs of each side; those of pairs of A and B that are not set aside if counted is set, else all.
func (t *abRuns) sides(counted bool) (sides [2][]*result.Run) {
	for side := range sides {
		sides[side] = t.runs(func(x trials.Trial) bool {
			return min(x.Cell, 1) == side && (!counted || x.Aside == "" && !t.isControl(x.Round))
		})
	}
	return sides
}

// announce says what is going to happen, and how long it takes.
func (t *abRuns) announce() {
	n := t.most() + t.Design.Controls - t.planned()
	for _, x := range t.Trials {
		if x.Cell == 1 && x.State == trials.Planned {
			n++
		} else if x.Cell == controlCell && x.State != trials.Planned {
			n--
		}
	}
	var least, most time.Duration
	for _, arm := range t.arms {
		least += time.Duration(n) * arm.Takes
		most += time.Duration(n) * (arm.Takes + arm.scenario.Phases.Drain)
	}
	for i, arm := range t.arms {
		t.note("%s  %s, broker %s", arm.label, titleOf(arm.scenario), t.brokers[i])
	}
	if len(t.changes) > 0 {
		t.note("B changes %s", changesWords(t.changes))
	}
	how := "of runs in random order"
	if t.Design.AtOnce() {
		how, least, most = "of runs at the same time", least/2, most/2
	}
	if t.Design.Kind == result.DesignTurn {
		how += ", loaded in turn"
	}
	t.note("design: %s", designText(t.Design, t.why))
	controls := ""
	if t.Design.Controls > 0 {
		controls = fmt.Sprintf(", and %d with A on both sides,", t.Design.Controls)
	}
	if t.Design.Budget > 0 {
		t.note("up to %s %s%s until everything is decided or %s are over, evaluated after %s; results in %s",
			plural(t.most(), "pair"), how, controls, spell.Duration(t.Design.Budget), wordsOf(t.Design.Looks), t.dir)
	} else {
		t.note("%s %s%s take %s to %s, plus the time to start brokers; results in %s",
			plural(t.most(), "pair"), how, controls, seconds(least), seconds(most), t.dir)
	}
	if n := t.spare(false); n > 0 {
		t.note("up to %s with an INVALID run will be repeated", plural(n, "pair"))
	}
}

// placeOf says which pair a turn belongs to.
func (t *abRuns) placeOf(turn *trials.Turn) string {
	pair := turn.Trial.Round
	if n := turn.Trial.Replaces; n > 0 {
		return fmt.Sprintf("pair %d, replacing pair %d", pair, n)
	}
	all := t.most() + t.Design.Controls
	for _, x := range t.Trials {
		if x.Replaces > 0 && x.Cell == 0 {
			all++
		}
	}
	text := fmt.Sprintf("pair %d of %d", pair, all)
	if t.isControl(pair) {
		text += ", A on both sides"
	}
	return text
}

// most is how many pairs of A and B are made at most.
func (t *abRuns) most() int {
	if t.Design == nil { // an older version made all of them
		return t.pairs
	}
	return t.Design.Looks[len(t.Design.Looks)-1]
}

// headerOf is what the result of a turn says of its place in the ab.
func (t *abRuns) headerOf(turn *trials.Turn) result.Trial {
	return result.Trial{Arm: letter(turn.Trial.Cell), Pair: turn.Trial.Round, Replaces: turn.Trial.Replaces, Control: t.isControl(turn.Trial.Round),
		Design: t.Design, Index: turn.Number, Of: turn.Of}
}

// one makes one run.
func (t *abRuns) one(turn *trials.Turn) (trials.State, error) {
	run, state, err := t.measured(turn, trialSpec{begin: fmt.Sprintf("%s, %s (%s)", t.placeOf(turn), letter(turn.Trial.Cell), whereOf(turn)),
		header: t.headerOf(turn)})
	if run != nil {
		t.keep(turn.Number-1, run)
	}
	if state == trials.Planned {
		return state, nil // the run was stopped before its window: nothing to keep
	}
	if err == nil && turn.Number == 2 {
		err = t.foresee()
	}
	return state, err
}

// foresee says after the first pair whether a ranking is possible, instead of after all
// pairs.
func (t *abRuns) foresee() error {
	runs := t.sides(false)
	all, err := compare.Workloads(runs[0], runs[1], t.options)
	if err != nil {
		return nil // the final comparison will say what is wrong with a pair
	}
	for _, c := range all {
		if why := c.Beside.Disturbed(); why != "" {
			t.note("%s%s: if that stays so nothing will be decided; --design apart makes the runs one after the other", ofWorkload(c.Workload), why)
		}
		switch {
		case c.Refused == "" || c.Background:
		case t.gate:
			return wrongUsage(unrankedHint, "--gate could never fail: %s%s", ofWorkload(c.Workload), c.Ungated)
		case c.Asked:
			t.note("%s%s", ofWorkload(c.Workload), cmp.Or(c.Guarantees, c.Refused+", as requested.")+" Changes will be shown without a ranking, see --rank-unlike")
		default:
			t.note("%s%s: the figures will be shown side by side without a ranking, see --rank-unlike", ofWorkload(c.Workload), c.Refused)
		}
	}
	return nil
}

// conclude compares the runs that were made.
func (t *abRuns) conclude(ended error) (something bool, err error) {
	runs := t.sides(false)
	if len(runs[0]) == 0 || len(runs[1]) == 0 {
		err = t.nothing(ended, "a pair of runs")
	} else if isUsage(ended) {
		err = ended
	} else if t.found, err = compare.Workloads(runs[0], runs[1], t.ending()); err != nil {
		err = errors.Join(ended, compareFault(err))
	}
	if err != nil {
		return false, errors.Join(err, t.writeJUnit(t.junit, t.passing, nil, wentWrong(err)))
	}
	return true, nil
}

// ending is how the comparison is made when no further pairs are: a series that was not over has no result yet.
func (t *abRuns) ending() compare.Options {
	o := t.options
	o.Ended = !t.Complete()
	return o
}

// show prints the comparison, and decides on the exit code.
func (t *abRuns) show(ended error) error {
	runs := t.sides(false)
	t.details = "sixnines compare --full " + t.dir
	err := t.compared(t.found, t.compareOptions, runs[0], runs[1])
	if missed := t.objectives(); err == nil {
		err = missed
	}
	if unwritten := t.writeSuites(ended); unwritten != nil {
		err = unwritten
	}
	t.note("results %s; to compare them again: sixnines compare %s", t.dir, t.dir)
	t.noteLeft("run")
	if left := t.replaceable(); t.Complete() && len(left) > 0 {
		t.note("%s with an INVALID run were not repeated; the same command with --resume %s continues", plural(len(left), "pair"), t.dir)
	}
	if ended != nil {
		return ended
	}
	return err
}

// objectives reports which objectives a side did not meet in all of its runs, as for
// repeats of it, and decides on the exit code.
func (t *abRuns) objectives() error {
	var missed error
	runs := t.sides(true)
	for i, arm := range t.arms {
		for _, w := range workloadsOf(arm.scenario, runs[i]) {
			found := overall(w.Objectives, w.runs, t.planned())
			if !t.series.quiet {
				t.sayObjectives(joinWords(arm.label, w.Name), found, t.passing)
			}
			if err := t.passing.decided(found); err != nil {
				missed = err
			}
		}
	}
	return missed
}
