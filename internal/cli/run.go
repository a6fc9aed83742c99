package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/report"
	"sixnines/result"
	"sixnines/scenario"
)

// runOptions are the flags of run that are no part of the scenario.
type runOptions struct {
	outputOptions
	showing
	passing  passing
	junit    string // file; empty: none
	json     bool
	dryRun   bool
	repeat   int
	pause    time.Duration
	sameSeed bool
	chaos    uint64 // seed of the timeline to draw; 0: none
}

func (a *app) runCommand() *cobra.Command {
	var (
		flags overrides
		o     runOptions
	)
	cmd := &cobra.Command{
		Use:   "run [BROKER | SCENARIO.yaml | -]… [flags]",
		Short: "Run a measurement, once or repeatedly",
		Long: `Run one measurement and write its result and a report beside it.

BROKER is a driver's name, see sixnines drivers list; default nats. Without --url its
broker is started for the run in separate processes and stopped afterwards. nats is
built in; for others see sixnines broker install. A scenario file can say everything
that flags say, and more; flags override it. Values of both may name environment
variables, ${NAME} or ${NAME:-default}, and an option may say where its value is:
--option password=env:NAME, --option password=@FILE. Values of the address, options and
settings that come from these never appear in any output.

Ctrl-C ends the measured window early; the run still waits for messages in flight and
writes the result. A second Ctrl-C stops at once, as does the first one before the
window has begun.

With --repeat, or several scenarios, runs are made one after the other, each with new
connections and, if the broker is started for the run, a new broker. Every round runs
each scenario once, in a new random order. The results go into one new directory; the
report shows the spread between runs beside the intervals within them. Ctrl-C ends the
set after the current run, or at once if that run's window has not begun; a second
Ctrl-C ends the window early; a third stops at once. --resume DIR continues a set that
was ended or killed; manifest.json in it records which runs were made, when, and by
which broker. With --json a set is one object: directory, planned, stopped, scenarios
(name, workload, set, objectives, costs, verdict) and runs (scenario, workload, repeat,
seed, summary). The verdict is that of the set: see "sixnines schema set".

--until lengthens the window beyond --duration until the 95 % interval of a percentile
is as narrow as given, at most to --at-most. The interval is one that holds no matter
when the run ends.

--slo adds an objective that the run must meet: a limit for a percentile or the maximum
of a latency, for a counter, or for the rate. A percentile is met if its whole 95 %
interval is within the limit, missed if its whole interval is beyond it, and otherwise
undecided, which does not pass without --allow-undecided. The interval is the one by
stretches of the run; an interval that assumes independent messages decides nothing. If
a response time is suspect, the objective is missed if the service time alone exceeds
the limit, and met if the response time meets it despite the lag. An interrupted run
meets nothing. With repeats, each run must meet the objective.

Exit codes: 0 good; 1 failure; 2 wrong usage; 3 an objective was missed or is
undecided; 4 a run is INVALID or overloaded.`,
		Example: `  sixnines run
  sixnines run nats --url nats://host:4222 --rate 20k/s --size 1KiB --duration 60s
  sixnines run kafka --nodes 3 --setting min.insync.replicas=2
  sixnines run --pattern request-reply --rate 500/s --arrivals poisson
  sixnines run scenario.yaml --set record.interval=500ms --json > summary.json
  sixnines run --rate max --dry-run > scenario.yaml
  sixnines run --duration 30s --slo "delivery.response p99.9 < 5ms" --slo "lost == 0" --junit junit.xml
  sixnines run --until "delivery.response p99 ±5%" --at-most 10m
  sixnines run a.yaml b.yaml --repeat 6 --pause 10s
  sixnines run a.yaml b.yaml --repeat 6 --resume results/set-20261121T140200Z-1f2e3d4c`,
		Args: counted(0, -1, "any number of BROKERs and SCENARIO.yamls"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return each(a.Drivers.Entries(), func(e driver.Entry) string { return e.Name + "\t" + e.Summary }), cobra.ShellCompDirectiveDefault // files, too
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.chaos == 0 && cmd.Flags().Changed("chaos") {
				return wrongUsage("give a seed from 1, or leave it out", "--chaos cannot be 0")
			}
			return a.exporting(cmd.Context(), o.outputOptions, func() error { return a.run(cmd.Context(), args, flags.list, o) })
		},
	}
	repeats := sectionOf("Repeats", func(f *pflag.FlagSet) {
		f.IntVar(&o.repeat, "repeat", 1, "make `N` runs of each scenario, and show the spread between them")
		pauseFlag(f, &o.pause)
		f.BoolVar(&o.sameSeed, "same-seed", false, "use the same seed for all repeats; default: each has the next seed, since equal arrivals hide the effect of arrivals")
		resumeFlag(f, &o.resume, "set", "repeat the scenarios and flags")
	})
	faults := sectionOf("Faults", func(f *pflag.FlagSet) {
		f.Uint64Var(&o.chaos, "chaos", 0, "draw a random timeline of actions by a `SEED` from 1: nodes are stalled or killed, clients disconnected; --dry-run shows it, and sixnines chaos shrink shortens it")
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		o.showing.flags(f)
		f.StringVar(&o.junit, "junit", "", "also write verdict and objectives to `FILE` for CI, as JUnit XML; an existing file is replaced")
		o.passing.flag(f)
		jsonFlag(f, &o.json, "the summary as one JSON object for each workload, of a set one object for all,")
		o.outputFlags(f, "`DIR` for the result and its report; -: write only the records, to stdout, as they are made")
		f.BoolVar(&o.dryRun, "dry-run", false, "print the scenario and what it would do; run nothing")
	})
	a.take(cmd, append(scenarioFlags(&flags), o.fleet.section(), faults, repeats, output)...)
	o.showing.complete(cmd)
	return cmd
}

// run is a command line of run, from the scenarios to the report.
func (a *app) run(ctx context.Context, args []string, flags []scenario.Override, o runOptions) error {
	if err := o.check(len(args)); err != nil {
		return err
	}
	format := ""
	switch {
	case o.json:
		format = "--json"
	case o.dryRun:
		format = "--dry-run"
	case o.out == toStdout:
		format = "--out -"
	}
	if err := o.showing.check(format); err != nil {
		return err
	}
	scenarios, err := a.loadScenarios(args, flags)
	if err != nil {
		return err
	}
	if o.chaos != 0 {
		for _, c := range scenarios {
			if err := drawActions(c.scenario, c.entry, o.chaos); err != nil {
				return err
			}
		}
	}
	if o.dryRun {
		return a.dryRun(scenarios[0].scenario, scenarios[0].entry, o.json)
	}
	if err := o.checkStreamed(scenarios); err != nil {
		return err
	}
	if len(scenarios) == 1 { // a refusal makes no directory
		if _, err := planOfAll(scenarios[0].scenario, scenarios[0].entry); err != nil {
			return err
		}
		if err := a.fleetRefusal(scenarios); err != nil {
			return err
		}
	}
	if o.resume == "" && o.out != toStdout {
		if err := a.makeDir(o.out); err != nil {
			return err
		}
	}
	if err := a.junitProbe(o.junit); err != nil {
		return err
	}
	if len(scenarios) > 1 || o.repeat > 1 {
		return a.acts(ctx, o.outputOptions, &set{scenarios: scenarios, runOptions: o})
	}
	return a.runOnce(ctx, scenarios[0].scenario, scenarios[0].entry, o)
}

// check refuses flags that do not go together.
func (o runOptions) check(scenarios int) error {
	several := scenarios > 1 || o.repeat > 1
	switch {
	case o.repeat < 1 || o.repeat > mostRepeats:
		return wrongUsage("10 are recommended; fewer than 6 cannot be compared", "--repeat cannot be %d: it is 1 to %d", o.repeat, mostRepeats)
	case o.pause > 0 && !several:
		return wrongUsage("add --repeat N, or leave --pause out", "--pause waits between runs, and this is a single run")
	case o.sameSeed && o.repeat == 1:
		return wrongUsage("add --repeat N, or leave --same-seed out", "--same-seed is for repeats, and this is a single run")
	case o.resume != "" && !several:
		return wrongUsage("give the same --repeat N and scenarios as when the set began", "--resume continues a set, and this is a single run")
	case o.dryRun && scenarios > 1:
		return wrongUsage("name one of them", "--dry-run shows one scenario, not %d", scenarios)
	}
	return nil
}

// runOnce is one measurement from the scenario to the report.
func (a *app) runOnce(ctx context.Context, s *scenario.Scenario, e driver.Entry, o runOptions) (err error) {
	name := resultName(s, time.Now())
	file := beside(o.out, name, ".jsonl")
	var records *stream // nil: they go to a directory
	if o.out == toStdout {
		if records, err = a.newStream(name); err != nil {
			return err
		}
		file = records.file
	}

	show := a.display(o.quiet, s, endsWindow, endsEarly)
	defer show.close()
	stops := a.interrupts(ctx, show.say)
	defer stops.stop()
	unwatch := func() {}
	if records != nil {
		unwatch = records.watch(func(err error) { stops.finish("the records cannot be copied to stdout: " + err.Error()) })
	}

	run, err := a.measure(stops, show, measurement{scenario: s, entry: e, file: file, streamed: o.out == toStdout})
	unwatch()
	show.close()
	if records != nil {
		if lost := records.close(); lost != nil {
			err = errors.Join(lost, err) // it is why the run was stopped, and a verdict is worthless without the records
		}
	}
	if run == nil {
		return errors.Join(err, a.writeJUnit(o.junit, o.passing, nil, wentWrong(err)))
	}
	// The report of a failed run is also written; the command still ends with the
	// error.
	presented := a.present(run, o, name, file, err)
	if err != nil {
		return err
	}
	return presented
}

// present writes the report beside the result and the JUnit file, prints the
// summary and decides on the exit code. broke is the error that ended the run, or nil.
func (env *Env) present(run *result.Run, o runOptions, name, file string, broke error) error {
	var more []report.JUnitSuite
	if broke != nil {
		more = append(more, wentWrong(broke))
	}
	junitErr := env.writeJUnit(o.junit, o.passing, run.Parts(), more...)
	if o.out == toStdout {
		if !o.quiet {
			env.sayVerdicts(run, o.passing, true)
		}
		if junitErr != nil {
			return junitErr
		}
		return o.passing.judged(run)
	}
	page := beside(o.out, name, ".html")
	pageErr := env.writeNew(page, false, func(w io.Writer) error {
		return report.HTML(w, run.Parts(), report.Options{})
	})
	named := ""
	if pageErr == nil {
		named = page
	}
	if err := env.printRun(run, o, named); err != nil {
		return failed("the result is in "+file, fmt.Errorf("print the summary: %w", err))
	}
	if !o.quiet {
		env.sayFiles(run, o, file, named)
	}
	switch {
	case pageErr != nil:
		return failed("the result is in "+file+"; write the page with sixnines report --format html --out FILE",
			fmt.Errorf("write the report: %w", pageErr))
	case junitErr != nil:
		return junitErr
	}
	return o.passing.judged(run)
}

// sayFiles reports the verdict, missed objectives and the files written, without what the
// table on the screen already says.
func (env *Env) sayFiles(run *result.Run, o runOptions, file, page string) {
	_, seen := env.terminal(env.Stdout)
	screen := seen && !o.json && !o.full
	if !screen {
		env.sayVerdicts(run, o.passing, !seen)
		fmt.Fprintf(env.Stderr, "result  %s\n", file)
	}
	if run.Header.Raw != "" {
		fmt.Fprintf(env.Stderr, "raw     %s\n", filepath.Join(o.out, run.Header.Raw))
	}
	if page != "" && !screen {
		fmt.Fprintf(env.Stderr, "report  %s\n", page)
	}
}

// sayVerdicts reports what was not met and, unless it is on the screen, the verdict.
func (env *Env) sayVerdicts(run *result.Run, p passing, unseen bool) {
	for _, part := range run.Parts() {
		if part.Summary == nil {
			continue
		}
		of := part.Header.Workload
		if unseen {
			fmt.Fprintf(env.Stderr, "verdict %s\n", strings.TrimSpace(part.Summary.Verdict.String()+" "+of))
		}
		env.sayObjectives(of, part.Summary.Objectives, p)
	}
}

// printRun prints a run's summary on stdout; page is the report beside it.
func (env *Env) printRun(run *result.Run, o runOptions, page string) error {
	if o.json {
		for _, part := range run.Parts() {
			if err := report.JSON(env.Stdout, part); err != nil {
				return err
			}
		}
		return nil
	}
	options := o.showing.options(env.reportOptions(env.Stdout))
	options.Page = page
	return report.Terminal(env.Stdout, run.Parts(), options)
}

// reportOptions fits a report to the stream it is written to.
func (env *Env) reportOptions(w io.Writer) report.Options {
	columns, _ := env.terminal(w)
	return report.Options{Width: columns, Color: env.colour(w), ASCII: env.ascii()}
}

// sectionedHelp returns a help function that shows the flags in sections.
func (env *Env) sectionedHelp(sections []section) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		columns := env.columns(0)
		fmt.Fprintf(env.Stdout, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
		for _, s := range sections {
			fmt.Fprintf(env.Stdout, "\n%s:\n%s", s.heading, s.flags.FlagUsagesWrapped(columns))
		}
	}
}
