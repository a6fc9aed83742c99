package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/internal/sweep"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// capacityOptions are the flags of capacity that are no part of a scenario.
type capacityOptions struct {
	outputOptions
	passing   passing
	most      scenario.Rate
	within    percentFlag
	maxTrials int
	dryRun    bool
	confirm   int
	wanted    scenario.Rate // --for; zero: not asked for
	of        string        // the workload whose rate is searched for; empty: there is only one
	headroom  percentFlag
	json      bool
}

func (a *app) capacityCommand() *cobra.Command {
	var flags overrides
	o := capacityOptions{most: scenario.PerSecond(scenario.MaxOpenRate),
		within:   percentFlag{share: 0.03, least: 0.001, most: 1, flag: "--within", example: "3%"},
		headroom: percentFlag{most: 0.99, flag: "--headroom", example: "50%"}}
	cmd := &cobra.Command{
		Use:   "capacity [BROKER | SCENARIO.yaml | -] --slo EXPR [flags]",
		Short: "Find the highest rate that meets an objective",
		Long: `Find the highest rate at which a load meets its objectives: those of the scenario
and of --slo. The search starts at the scenario's rate, doubles it until an objective
is missed, and bisects down to --within. At each rate, trials are repeated, and
lengthened if necessary, until the outcome is decided. The command then searches from
above, starting with an overload and keeping the broker that sixnines started. At the
end new trials confirm both ends of the answer, each with new topics and, if sixnines
starts the broker, a new broker.

The answer is an interval, [holds, fails), with 95 % confidence. At its lower end every
objective was met (by the whole 95 % interval of a percentile). At its upper end one
was missed, or the system carried less than the schedule asked for, or refused or lost
messages. If the generator is the limit, the answer says "at least". If a rate holds
when approached from below and fails when approached from above, both are shown.

--duration is the length of the shortest trial: at least 300ms, which intervals need to
account for dependence between messages. Trials are longer if a percentile needs more
messages. --warmup and the other flags are as in sixnines run. An answer takes about 30
trials.

With several workloads, --of names the one whose rate is searched for. Flags such as
--rate and --slo apply to it; --slo "NAME: EXPR" applies to another. A rate holds if the
objectives of all workloads are met: the search finds how much bulk traffic a latency
objective for small events allows.

--for computes how many systems like the measured one a load needs if each keeps
--headroom of its capacity free. It assumes that the systems share nothing.

Ctrl-C ends the search with the answer so far; --resume continues it. The results are
in one directory.

Exit codes: 0 an answer was found; 1 failure; 2 wrong usage; 3 no rate that was tried
holds, or the search ended before its answer was confirmed.`,
		Example: `  sixnines capacity nats --slo "delivery.response p99 < 10ms"
  sixnines capacity kafka --nodes 3 --size 1KiB --slo "publish.response p99.9 < 50ms" --slo "lost == 0"
  sixnines capacity scenario.yaml --slo "delivery.response p99 < 5ms" --for 2M/s --headroom 50%
  sixnines capacity both.yaml --of traffic --slo "events: delivery.response p99 < 20ms"
  sixnines capacity null --setting "server=exponential(mean=1ms)" --arrivals poisson --slo "delivery.response p99 < 30ms" --json`,
		Args:              counted(0, 1, "at most one BROKER or SCENARIO.yaml"),
		ValidArgsFunction: a.completeSubjects(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x := &capacityRun{capacityOptions: o, args: args, flags: flags.list}
			if o.dryRun {
				return a.foretell(cmd.Context(), x, o.resume, o.json, x.foretold)
			}
			return a.experiment(cmd.Context(), o.outputOptions, x)
		},
	}
	search := sectionOf("Search", func(f *pflag.FlagSet) {
		f.StringVar(&o.of, "of", "", "with several workloads: search for the rate of `WORKLOAD`")
		f.TextVar(&o.most, "most", o.most, "try no higher `RATE`")
		f.Var(&o.within, "within", "how far the upper end of the answer may lie above the lower end, such as 3%")
		f.IntVar(&o.confirm, "confirm", 5, "at least `N` fresh trials at each end of the answer")
		f.IntVar(&o.maxTrials, "max-trials", 200, "end the search after `N` trials")
		f.BoolVar(&o.dryRun, "dry-run", false, "print where the search begins and how long it takes; run nothing")
		resumeFlag(f, &o.resume, "search", sameCommand)
	})
	sizing := sectionOf("Sizing", func(f *pflag.FlagSet) {
		f.TextVar(&o.wanted, "for", o.wanted, "compute how many such systems a load of this `RATE` needs")
		f.Var(&o.headroom, "headroom", "the share of its capacity that each of them keeps free, such as 50%")
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		o.passing.flag(f)
		jsonFlag(f, &o.json, "the answer and its trials as one JSON object")
		o.outputFlags(f, seriesOut)
	})
	a.take(cmd, slices.Concat([]section{search, sizing}, scenarioFlags(&flags), []section{o.fleet.section(), output})...)
	return cmd
}

// check refuses invalid options.
func (o capacityOptions) check() error {
	switch {
	case o.most.IsMax() || o.most.Float() > scenario.MaxOpenRate:
		return wrongUsage(fmt.Sprintf("give a rate such as --most 1M/s, at most %d/s", scenario.MaxOpenRate), "--most cannot be %s", o.most)
	case o.confirm < 1 || o.confirm > 10:
		return wrongUsage("5 are recommended", "--confirm cannot be %d: it is 1 to 10", o.confirm)
	case o.maxTrials < 1 || o.maxTrials > 10_000:
		return wrongUsage("an answer takes about 30", "--max-trials cannot be %d: it is 1 to 10000", o.maxTrials)
	case o.wanted.IsMax():
		return wrongUsage("give a rate such as --for 2M/s", "--for needs a rate, not max")
	case o.headroom.share > 0 && o.wanted.IsZero():
		return wrongUsage("give the load, such as --for 2M/s", "--headroom needs --for")
	}
	return nil
}

// checkSearched refuses a load of a scenario that has no rate to search for.
func checkSearched(s *scenario.Scenario, load scenario.Part, most scenario.Rate) error {
	asked := 0
	for _, p := range s.Parts() {
		asked += len(p.Objectives)
		switch {
		case slices.ContainsFunc(p.Scenario.Acts(), func(a scenario.Act) bool { return a.At.Filled }):
			return wrongUsage("leave workload.consumer.from (--consumers-from) out, or give a time", "%scapacity searches for a rate that consumers keep up with, but these consumers connect after everything is sent", ofWorkload(p.Name))
		case p.From > 0 || p.Stops:
			return wrongUsage("leave from and for out", "capacity chooses the length of its trials, but the workload %s begins or ends at a set time of the window", p.Name)
		}
	}
	w := &load.Workload
	switch kind := w.Arrivals.Kind; {
	case asked == 0:
		return wrongUsage(`give one, such as --slo "delivery.response p99 < 10ms"`, "capacity needs an objective")
	case w.Pattern == scenario.Consume:
		return wrongUsage("choose another pattern: --pattern deliver", "the pattern consume sends nothing, so there is no rate to search for")
	case w.Loop == scenario.Closed:
		return wrongUsage("use an open loop: --loop open", "a closed loop has no rate to search for: it is as fast as its answers")
	case w.Rate.IsMax():
		return wrongUsage("give a rate to start at, such as --rate 1k/s", "--rate max is not a rate that the search could start at")
	case kind == scenario.Step || kind == scenario.Ramp || kind == scenario.Burst || kind == scenario.Trace:
		return wrongUsage("use --arrivals constant, poisson or sine", "%s arrivals set their own rate, so there is no rate to search for", kind)
	case !s.Phases.Until.IsZero():
		return wrongUsage("give --duration, the length of the shortest trial", "capacity cannot run until %q: it lengthens trials itself, up to four times", s.Phases.Until)
	case w.Rate.Float() > most.Float():
		return wrongUsage("start lower, or raise --most", "the search cannot start at %s: --most is %s", w.Rate, most)
	}
	return nil
}

// capacityRun is a search.
type capacityRun struct {
	*series
	capacityOptions
	args  []string
	flags []scenario.Override
	cell
	load   scenario.Part // whose rate is searched for
	keeper trials.Keeper
	tried  int
	missed bool // the last trial overloaded the system, or may have
	answer sweep.Answer
}

// check refuses a load that has no rate to search for.
func (c *capacityRun) check(_ context.Context, a *app) (err error) {
	if err := c.capacityOptions.check(); err != nil {
		return err
	}
	s, e, err := a.loadOf(c.args, c.flags, c.of)
	if err != nil {
		return err
	}
	c.cell = newCell(s, e)
	c.Name, c.label = "capacity", "capacity"
	// Options that change the course of the search are part of its identity.
	c.Digest = joinWords(fmt.Sprintf("%s %g %d", c.most, c.within.share, c.confirm), c.of)
	if c.load, err = searched(c.scenario, c.of); err != nil {
		return err
	}
	if err := checkSearched(c.scenario, c.load, c.most); err != nil {
		return err
	}
	_, err = planOfAll(c.scenario, c.entry)
	return err
}

// plan has no trials: the search chooses them as it goes.
func (c *capacityRun) plan() (design, error) {
	return design{name: "capacity-" + resultName(c.scenario, time.Now()), kind: result.TrialCapacity, seed: c.scenario.Seed, cells: []cell{c.cell}}, nil
}

// begin loads nothing: a result is read when the search reaches its trial.
func (c *capacityRun) begin(s *series) error {
	c.series = s
	return nil
}

func (c *capacityRun) make(ctx context.Context) (err error) {
	c.stops = c.seriesStops(ctx)
	defer c.stops.stop()
	defer c.keeper.Stop("")
	if d := c.scenario.Phases.Duration; d < 300*time.Millisecond {
		c.note("trials of %s are too short for intervals that account for dependence between messages; --duration 10s is better", seconds(d))
	}
	c.answer, err = sweep.Search(c.measureRate, sweep.SearchOptions{From: c.load.Workload.Rate, Most: c.most, Within: c.within.share,
		MaxTrials: c.maxTrials, Confirm: c.confirm})
	return err
}

func (c *capacityRun) conclude(ended error) (something bool, err error) {
	if len(c.answer.Trials) > 0 {
		return true, nil
	}
	return false, c.nothing(ended, "a trial")
}

// show prints the answer, and decides on the exit code.
func (c *capacityRun) show(ended error) error {
	shown := c.print(c.answer, c.capacityOptions)
	c.note("results %s", c.dir)
	return cmp.Or(ended, shown)
}

// fileOf names the result of a trial by everything that determines it, so that a resumed
// search can check that it takes the same course.
func fileOf(number int, t sweep.Trial) string {
	rate := strings.ReplaceAll(t.Rate.String(), "/", "-per-")
	return fmt.Sprintf("%03d-%s-%s-x%d.jsonl", number, strings.ReplaceAll(string(t.Stage), " ", "-"), rate, t.Times)
}

// measureRate makes a trial, or reads the result of the one that was made before.
func (c *capacityRun) measureRate(t sweep.Trial) (sweep.Observation, error) {
	number := c.tried + 1
	file := fileOf(number, t)
	run, err := c.earlier(c.tried, file)
	if err != nil {
		return sweep.Observation{}, err
	}
	if run == nil {
		if run, err = c.trial(number, file, t); err != nil {
			return sweep.Observation{}, err
		}
	}
	c.tried++
	found, err := c.observe(run)
	if err != nil {
		return found, wrongUsage("name a metric that this load has", "%w", err)
	}
	c.missed = found.Outcome != judge.Met
	word := string(found.Outcome)
	if found.Limit != "" {
		word += ": " + string(found.Limit)
	}
	if again := judge.Again(found.Attempts); again != "" {
		word += "; it " + again
	}
	c.note("trial %d, %s: %s %s", number, t.Stage, spell.Rate(t.Rate.Float()), word)
	return found, nil
}

// observe returns what a trial shows about the load, and about each other workload that is
// judged.
func (c *capacityRun) observe(run *result.Run) (sweep.Observation, error) {
	var all []sweep.Observation
	for _, w := range c.scenario.Parts() {
		part := run.Part(w.Name)
		if part == nil || w.Background && w.Name != c.load.Name {
			continue
		}
		found, err := sweep.Observe(part, w.Objectives)
		if err != nil {
			return found, fmt.Errorf("%s%w", ofWorkload(w.Name), err)
		}
		found.Found = ofWorkload(w.Name) + found.Found
		all = append(all, found)
	}
	found := sweep.Together(all)
	if t := run.Header.Trial; t != nil {
		found.Attempts = t.Attempts
	}
	return found, nil
}

// at returns the scenario with another rate for the load.
func (c *capacityRun) at(rate scenario.Rate) scenario.Scenario {
	s := *c.scenario
	if c.load.Name == "" {
		s.Workload.Rate = rate
		return s
	}
	s.Workloads = slices.Clone(s.Workloads)
	for i := range s.Workloads {
		if w := &s.Workloads[i]; w.Name == c.load.Name {
			w.Rate = rate
		}
	}
	return s
}

// trial makes one trial.
func (c *capacityRun) trial(number int, file string, t sweep.Trial) (*result.Run, error) {
	if c.stops.ending() {
		return nil, sweep.ErrStopped
	}
	switch {
	case t.Stage == sweep.Confirming:
		c.keeper.Stop("each confirming trial starts its own")
	case t.Stage == sweep.FromBelow && c.missed:
		c.keeper.Stop("the previous trial may have overloaded it")
	}
	s := c.at(t.Rate)
	s.Phases.Duration = c.window(t)
	var run *result.Run
	state, err := c.Next(number-1, trials.Trial{Round: 1, Seed: nextSeed(s.Seed, number-1), File: file}, &c.keeper,
		func(turn *trials.Turn) (state trials.State, err error) {
			run, state, err = c.measured(turn, trialSpec{scenario: &s, where: fmt.Sprintf("trial %d", number),
				header: result.Trial{Index: number},
				begin:  fmt.Sprintf("trial %d, %s: %s for %s", number, t.Stage, spell.Rate(t.Rate.Float()), seconds(s.Phases.Duration))})
			return state, err
		})
	switch {
	case state == trials.Planned || state == trials.Cut:
		return nil, sweep.ErrStopped
	case err != nil:
		return nil, err
	}
	return run, nil
}

// enough is the number of messages of a trial as a multiple of the least that a percentile
// needs: with fewer, its interval is usually wider than the difference to show.
const enough = 4

// window returns the length of a trial's window.
func (c *capacityRun) window(t sweep.Trial) time.Duration {
	d := c.scenario.Phases.Duration
	for _, w := range c.scenario.Parts() {
		rate := w.Workload.Rate.Float()
		if w.Name == c.load.Name {
			rate = t.Rate.Float()
		}
		for _, o := range w.Objectives {
			if o.IsMetric() && o.Percent < 100 && rate > 0 {
				n := float64(enough * stats.MinSamples(stats.Fraction(o.Percent), 0.95))
				d = max(d, time.Duration(n/rate*float64(time.Second)).Round(100*time.Millisecond))
			}
		}
	}
	return d * time.Duration(t.Times)
}

// machines is the number of systems that carry a load, if each keeps a share of its
// capacity free.
func machines(wanted, holds, headroom float64) int {
	// 2 systems of 1M/s carry 2M/s, although the floating-point quotient may be slightly above 2.
	return int(math.Ceil(wanted/(holds*(1-headroom)) - 1e-9))
}
