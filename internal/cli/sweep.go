package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/sweep"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// Larger sweeps, by trials or by time, need --yes.
	askTrials = 1000
	askTime   = 24 * time.Hour
	// mostTrials keeps the manifest, which is written twice a trial, at some
	// megabytes.
	mostTrials = 100_000
	// sweepFailures is how many trials in a row may fail before a sweep ends.
	sweepFailures = 3
)

// sweepOptions are the flags of sweep that are no part of a scenario.
type sweepOptions struct {
	outputOptions
	over    []string
	rounds  int
	fresh   bool
	pause   time.Duration
	yes     bool
	dryRun  bool
	usl     bool
	csv     string // file; empty: only the one in the directory
	json    bool
	passing passing
}

func (a *app) sweepCommand() *cobra.Command {
	var (
		flags overrides
		o     sweepOptions
	)
	cmd := &cobra.Command{
		Use:   "sweep [BROKER | SCENARIO.yaml | -] --over FIELD=VALUES… [flags]",
		Short: "Run a scenario over ranges of its fields",
		Long: `Run a scenario in rounds, each with one run for every combination of the axes' values in
a new random order, and show a table, a CSV, and a page with the rate–latency chart. The
driver's name or scenario file is as in sixnines run.

An axis is any field of a scenario: a flag's name (rate), option.NAME, setting.NAME,
or the dotted name that --set takes. Its values are a list (256B,1KiB), or a range:
A..B:lin:N stands for N values with equal differences, A..B:log:N with equal factors.
Separate values that contain commas by semicolons.

A broker that sixnines starts serves all trials with the same settings, one after the
other. A new one is started if settings differ, after a trial that failed or was
overloaded, and with --fresh-broker for each trial. Each trial has its own topics and
connections.

With several workloads, any field of any of them can be an axis (workloads.NAME.rate),
and each workload has its own table: for example, the latency of small events over the
rate of the bulk traffic beside them.

A sweep over the rate also finds the knee, the rate at which rate ÷ latency is highest,
with an interval over the rounds; this needs three rounds. --usl fits the Universal
Scalability Law to the throughput over a number of producers, connections or the like,
and reports its peak if the data show one.

Results go into one new directory, with sweep.html, sweep.csv, and manifest.json, which
records what was measured when and by which broker. Ctrl-C ends the sweep after the
current run, or at once if that run's window has not begun. --resume DIR with the same
command continues it, also after a crash. More than 1,000 trials, or more than a day,
need --yes.

--slo and the scenario's objectives are decided for each cell: the cell must meet them in
each of its rounds. The table, the CSV and the page show which cells do.

Exit codes: 0 made, or ended by Ctrl-C; 1 failure, including single trials; 2 wrong usage;
3 in some cell an objective was missed or is undecided, for example for want of a trial.`,
		Example: `  sixnines sweep nats --over rate=1k/s..64k/s:log:13
  sixnines sweep kafka --over rate=1k/s..64k/s:log:7 --over size=256B,1KiB --rounds 6
  sixnines sweep rabbitmq --over option.confirms=true,false --over producers=1,4,16 --csv out.csv
  sixnines sweep nats --rate max --over producers=1,2,4,8,16,32 --usl
  sixnines sweep load.yaml --over 'workload.arrivals=constant;poisson' --duration 30s
  sixnines sweep both.yaml --over workloads.traffic.rate=10/s..1k/s:log:7
  sixnines sweep nats --over rate=1k/s..64k/s:log:13 --resume results/sweep-nats-20261121T140200Z-1f2e3d4c`,
		Args:              counted(0, 1, "at most one BROKER or SCENARIO.yaml"),
		ValidArgsFunction: a.completeSubjects(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x := &sweepRuns{sweepOptions: o, args: args, flags: flags.list}
			if o.dryRun {
				return a.foretell(cmd.Context(), x, o.resume, o.json, x.foretold)
			}
			return a.experiment(cmd.Context(), o.outputOptions, x)
		},
	}
	cells := sectionOf("Sweep", func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.over, "over", nil, "an `AXIS`: rate=1k/s..64k/s:log:13, size=256B,1KiB; repeatable")
		f.IntVar(&o.rounds, "rounds", 3, "make `N` runs of each cell, 1 to 1000")
		f.BoolVar(&o.fresh, "fresh-broker", false, "start a new broker for each trial, if sixnines starts it")
		pauseFlag(f, &o.pause)
		f.BoolVar(&o.usl, "usl", false, "fit the Universal Scalability Law over the first axis of numbers that is not the rate; needs --rate max or --loop closed")
		f.BoolVar(&o.yes, "yes", false, "allow more than 1,000 trials, or more than a day")
		f.BoolVar(&o.dryRun, "dry-run", false, "list the cells and how long they take; run nothing")
		resumeFlag(f, &o.resume, "sweep", sameCommand)
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		f.StringVar(&o.csv, "csv", "", "also write the table to `FILE`; an existing file is replaced")
		o.passing.flag(f)
		jsonFlag(f, &o.json, "one JSON object")
		o.outputFlags(f, seriesOut)
	})
	a.take(cmd, slices.Concat([]section{cells}, scenarioFlags(&flags), []section{o.fleet.section(), output})...)
	return cmd
}

// sweepPlan is a sweep before anything is run.
type sweepPlan struct {
	grid      sweep.Grid
	cells     []cell
	workloads []scenario.Part // of the first cell; the others have the same
	title     string
}

// check plans the sweep and refuses one that cannot be.
func (s *sweepRuns) check(_ context.Context, a *app) (err error) {
	if s.planned, err = a.planSweep(s.args, s.flags, s.sweepOptions); err != nil || s.dryRun {
		return err
	}
	return a.replaceProbe(s.csv, "--csv", "sweep.csv")
}

func (s *sweepRuns) plan() (design, error) {
	first, cells, seed := s.planned.cells[0].scenario, s.planned.cells, randomSeed()
	named := &scenario.Scenario{Name: "sweep-" + cmp.Or(first.Name, first.Target.Driver)}
	return design{name: resultName(named, time.Now()), kind: result.TrialSweep, seed: seed, rounds: s.rounds, cells: cells,
		places: trials.Shuffled(len(cells), s.rounds, seed),
		file: func(number string, at trials.Place) string {
			return fmt.Sprintf("%s-cell-%d-round-%d.jsonl", number, at.Cell+1, at.Round)
		}}, nil
}

func (s *sweepRuns) begin(of *series) error {
	s.series, s.outcomes = of, map[string]map[int][]sweep.Outcome{}
	return of.load(s.keep)
}

func (s *sweepRuns) make(ctx context.Context) error {
	s.announce()
	return s.makeAll(ctx, trials.Options{Pause: s.pause, Failures: sweepFailures, Make: s.one})
}

// planSweep checks all that can be checked before something is run.
func (a *app) planSweep(args []string, flags []scenario.Override, o sweepOptions) (*sweepPlan, error) {
	switch {
	case len(o.over) == 0:
		return nil, wrongUsage("add for example --over rate=1k/s..64k/s:log:13", "nothing to sweep over")
	case o.rounds < 1 || o.rounds > mostRepeats:
		return nil, wrongUsage("an interval for the knee needs at least 3, an interval for a median at least 6", "--rounds cannot be %d: it is 1 to %d", o.rounds, mostRepeats)
	}
	var axes []sweep.Axis
	for _, text := range o.over {
		name, values, ok := strings.Cut(text, "=")
		named := text
		if ok {
			named = keyOf(strings.TrimSpace(name)) + "=" + values
		}
		axis, err := sweep.ParseAxis(named)
		if err != nil {
			return nil, &fault{exitUsage, err, "sixnines schema prints the fields of a scenario; an axis looks like rate=1k/s..64k/s:log:13 or size=256B,1KiB"}
		}
		axis.Name = strings.TrimSpace(name)
		axes = append(axes, axis)
	}
	grid, err := sweep.NewGrid(axes...)
	if err != nil {
		return nil, &fault{exitUsage, err, "see sixnines sweep --help"}
	}
	base := &scenario.Scenario{}
	if len(args) > 0 {
		if base, err = a.named(args[0]); err != nil {
			return nil, err
		}
	}
	p := &sweepPlan{grid: grid}
	if err := p.affordable(a, base, flags, o); err != nil {
		return nil, err
	}
	var all time.Duration
	for _, at := range grid.Cells() {
		c, err := a.sweepCell(base, flags, at, o.fresh)
		if err != nil {
			return nil, err
		}
		p.cells = append(p.cells, c)
		all += time.Duration(o.rounds) * (c.lasts() + o.pause)
	}
	if all > askTime && !o.yes {
		return nil, tooLong(grid.Len()*o.rounds, float64(all))
	}
	if err := p.sameWorkloads(); err != nil {
		return nil, err
	}
	if o.usl {
		if err := p.scalable(); err != nil {
			return nil, err
		}
	}
	p.title = titleOfSweep(p.cells[0].scenario, grid)
	return p, nil
}

// sameWorkloads refuses cells that have other workloads than the first: each has a
// table of its own.
func (p *sweepPlan) sameWorkloads() error {
	p.workloads = p.cells[0].scenario.Parts()
	same := func(a, b scenario.Part) bool { return a.Name == b.Name && a.Background == b.Background }
	for _, c := range p.cells {
		if !slices.EqualFunc(p.workloads, c.scenario.Parts(), same) {
			return wrongUsage("sweep over the fields of workloads, such as workloads.NAME.rate, or make several sweeps",
				"the cells %s and %s have different workloads or background workloads", p.cells[0].label, c.label)
		}
	}
	return nil
}

// scalable refuses to fit throughput where it was asked for and not found, or over
// nothing that can be counted.
func (p *sweepPlan) scalable() error {
	found := false
	for i, w := range p.workloads {
		if concurrencyOf(p.grid.Axes, w.Name) == "" {
			continue
		}
		found = true
		for _, c := range p.cells {
			if w := c.scenario.Parts()[i].Workload; w.Loop != scenario.Closed && !w.Rate.IsMax() {
				return wrongUsage("use --rate max or --loop closed", "--usl needs the highest throughput, but %s asks for %s", c.Name, w.Rate)
			}
		}
	}
	if !found {
		return wrongUsage("add one, such as --over producers=1,2,4,8,16,32", "--usl needs an axis of numbers that is not the rate")
	}
	return nil
}

// concurrencyOf is the key of the axis that --usl is about; of several workloads the
// one that is of the workload. Empty: no axis is.
func concurrencyOf(axes []sweep.Axis, workload string) string {
	t := sweep.Table{Workload: workload}
	of := strings.TrimSuffix(t.RateKey(), "rate")
	for _, a := range axes {
		if _, ok := a.Numbers(); ok && a.Key != t.RateKey() && (workload == "" || strings.HasPrefix(a.Key, of)) {
			return a.Key
		}
	}
	return ""
}

// affordable refuses too many trials before their scenarios are made.
func (p *sweepPlan) affordable(a *app, base *scenario.Scenario, flags []scenario.Override, o sweepOptions) error {
	cells := p.grid.Len()
	if cells <= mostTrials/o.rounds && (cells*o.rounds <= askTrials || o.yes) {
		return nil
	}
	first, err := a.sweepCell(base, flags, p.grid.Cell(0), o.fresh)
	if err != nil {
		return err
	}
	if cells > mostTrials/o.rounds {
		return wrongUsage("give fewer values to an axis, or make several sweeps", "%s in %s are more than the %s trials that a sweep may have: they would take about %s",
			plural(cells, "cell"), plural(o.rounds, "round"), grouped(mostTrials), longTime(float64(cells)*float64(o.rounds)*float64(first.lasts()+o.pause)))
	}
	return tooLong(cells*o.rounds, float64(cells*o.rounds)*float64(first.lasts()+o.pause))
}

// tooLong refuses n trials, which take that many nanoseconds, without --yes.
func tooLong(n int, takes float64) error {
	return wrongUsage("add --yes to run them anyway; fewer values, fewer --rounds or a shorter --duration take less time",
		"%s take about %s, plus the time to start brokers", plural(n, "trial"), longTime(takes))
}

// longTime writes a time in nanoseconds, in days and years where it is long.
func longTime(ns float64) string {
	switch days := ns / float64(24*time.Hour); {
	case days >= 1000:
		return strconv.FormatFloat(days/365, 'f', 0, 64) + " years"
	case days >= 2:
		return strconv.FormatFloat(days, 'f', 1, 64) + " days"
	}
	return seconds(time.Duration(ns))
}

// sweepCell makes the scenario of a cell.
func (a *app) sweepCell(base *scenario.Scenario, flags []scenario.Override, at sweep.Cell, fresh bool) (cell, error) {
	s := *base
	overrides := append(append([]scenario.Override(nil), flags...), at.Overrides()...)
	e, err := a.complete(&s, overrides)
	if err == nil {
		err = a.withoutSecrets(at, e)
	}
	if err != nil {
		return cell{}, err
	}
	a.noteExposed(flags, e)
	c := newCell(&s, e)
	c.Name, c.label, c.Fresh, c.Values = at.String(), at.Text(), fresh, map[string]string{}
	for _, x := range at {
		c.Values[x.Key] = x.Value
	}
	_, err = planOfAll(&s, e)
	return c, err
}

// withoutSecrets refuses a cell whose values show a password: the manifest, the table and
// the page print them.
func (env *Env) withoutSecrets(at sweep.Cell, e driver.Entry) error {
	for i, o := range at.Overrides() {
		s := sweep.Blank(o.Key)
		if err := s.ApplyIn(env.lookup, o); err != nil {
			return err
		}
		whole, err := s.MarshalJSON()
		shown, wrong := s.Redacted(e.Secret).MarshalJSON()
		if err := errors.Join(err, wrong); err != nil {
			return fmt.Errorf("write the axis %s down: %w", at[i].Name, err)
		}
		if !bytes.Equal(whole, shown) {
			return wrongUsage("put it into an environment variable and write ${NAME} instead", "the axis %s contains a password or a login, and its values are written to the sweep's files", at[i].Name)
		}
	}
	return nil
}

// titleOfSweep says what is swept over what.
func titleOfSweep(s *scenario.Scenario, g sweep.Grid) string {
	name := titleOf(s)
	for i, axis := range g.Axes {
		if i == 0 {
			name += " over " + axis.Name
		} else {
			name += " × " + axis.Name
		}
	}
	return name
}
