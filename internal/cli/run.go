package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/engine"
	"sixnines/internal/report"
	"sixnines/result"
	"sixnines/scenario"
)

// runOptions are the flags of run that are no part of the scenario.
type runOptions struct {
	out    string
	json   bool
	quiet  bool
	dryRun bool
}

func (a *app) runCommand() *cobra.Command {
	var (
		flags overrides
		o     runOptions
	)
	cmd := &cobra.Command{
		Use:   "run [BROKER | SCENARIO.yaml | -] [flags]",
		Short: "Run one measurement",
		Long: `Run one measurement and write its result and a report beside it.

BROKER is a driver's name, see sixnines drivers list; nats without one. Without
--url its broker is started for the run, in processes of its own, and stopped
afterwards: nats is built in, for others see sixnines broker install. A scenario
file says the same as the flags and more; flags win over it.

Ctrl-C ends the measured window early; what is on its way is still awaited and
the result written. A second Ctrl-C stops at once, and so does the first before
the window has begun.

Exit codes: 0 good, 1 failure, 2 wrong usage, 4 the run is INVALID or UNSTABLE.`,
		Example: `  sixnines run
  sixnines run nats --url nats://host:4222 --rate 20k/s --size 1KiB --duration 60s
  sixnines run kafka --nodes 3 --setting min.insync.replicas=2
  sixnines run --pattern request-reply --rate 500/s --arrivals poisson
  sixnines run scenario.yaml --set record.interval=500ms --json > summary.json
  sixnines run --rate max --dry-run > scenario.yaml`,
		Args: counted(0, 1, "at most one BROKER or SCENARIO.yaml"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, e := range a.Drivers.Entries() {
				names = append(names, e.Name+"\t"+e.Summary)
			}
			return names, cobra.ShellCompDirectiveDefault // files, too
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), args, flags.list, o)
		},
	}
	sections := scenarioFlags(&flags)
	output := pflag.NewFlagSet("Output", pflag.ContinueOnError)
	output.SortFlags = false
	output.StringVar(&o.out, "out", "results", "`DIR` for the result and its report")
	output.BoolVar(&o.json, "json", false, "print the summary as one JSON object instead of a table")
	output.BoolVar(&o.quiet, "quiet", false, "no progress and no notes on stderr, only errors")
	output.BoolVar(&o.dryRun, "dry-run", false, "print the scenario and what it comes to, and run nothing")
	sections = append(sections, section{"Output", output})
	cmd.Flags().SortFlags = false
	for _, s := range sections {
		cmd.Flags().AddFlagSet(s.flags)
	}
	a.completeScenarioFlags(cmd)
	cmd.SetHelpFunc(a.sectionedHelp(sections))
	return cmd
}

// run is one measurement from the scenario to the report.
func (a *app) run(ctx context.Context, args []string, flags []scenario.Override, o runOptions) (err error) {
	s, e, err := a.load(args, flags)
	if err != nil {
		return err
	}
	if o.dryRun {
		return a.dryRun(s, e, o.json)
	}
	if err := a.makeDir(o.out); err != nil {
		return err
	}
	name := resultName(s, time.Now())
	file := beside(o.out, name, ".jsonl")

	show := a.display(o.quiet)
	defer show.close()
	stops := a.interrupts(ctx, show.say)
	defer stops.stop()

	config := engine.Config{Scenario: s, Entry: e, File: a.path(file), Tool: a.Tool,
		Observer: func(p engine.Progress) { stops.observe(p); show.observe(p) }, Abort: stops.abort}
	product, managed, err := managedProduct(s, e)
	if err != nil {
		return err
	}
	died := func() error { return nil }
	if managed {
		patience := time.AfterFunc(time.Second, func() { show.say("starting " + product.Name + " …") })
		broker, err := a.startBroker(stops.early, product, s, e)
		patience.Stop()
		if stops.vain.Load() && err != nil {
			return a.inVain(file)
		}
		if err != nil {
			return err
		}
		// Whatever happens to us, the broker ends: by this, or by the kernel.
		defer broker.stop()
		show.say("started " + broker.String())
		broker.watch(show.say)
		died = broker.cluster.Err
		broker.configure(&config)
	}
	run, err := execute(stops, config)
	death := died()
	show.close()
	if stops.vain.Load() {
		return a.inVain(file)
	}
	if run == nil {
		return runFault(err, s, e, managed)
	}
	presented := a.present(run, o, name, file)
	switch {
	case err != nil:
		return runFault(err, s, e, managed)
	case death != nil:
		return failed("the result in "+file+" holds what it saw; run it again, and see the system's log if that repeats itself", death)
	}
	return presented
}

// inVain ends a run that was stopped before its window began. Its files, if it
// came to have any, hold nothing.
func (a *app) inVain(file string) error {
	for _, f := range []string{file, strings.TrimSuffix(file, ".jsonl") + ".raw"} {
		if err := os.Remove(a.path(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("remove it: it holds nothing", err)
		}
	}
	return failed("run it again; the window begins after the warm-up, see --warmup",
		errors.New("stopped before the measured window began: there is no result"))
}

// errGaveUp ends a run that does not react to being aborted.
var errGaveUp = errors.New("given up before it had stopped; what was measured until then is in the result file")

// execute runs the engine until it returns or nobody wants to wait for it.
func execute(stops *interrupts, config engine.Config) (*result.Run, error) {
	type outcome struct {
		run *result.Run
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		run, err := engine.Run(stops.early, config)
		done <- outcome{run, err}
	}()
	select {
	case o := <-done:
		return o.run, o.err
	case <-stops.giveUp:
		return nil, fmt.Errorf("%w: %w", engine.ErrAborted, errGaveUp)
	}
}

// present writes the report beside the result, prints the summary and decides
// on the exit code.
func (a *app) present(run *result.Run, o runOptions, name, file string) error {
	run.Path = file
	page := beside(o.out, name, ".html")
	pageErr := a.writeNew(page, false, func(w io.Writer) error {
		return report.HTML(w, []*result.Run{run}, report.Options{})
	})
	if err := a.printRun(run, o.json); err != nil {
		return failed("the result is in "+file, fmt.Errorf("print the summary: %w", err))
	}
	if !o.quiet {
		if _, seen := a.terminal(a.Stdout); !seen && run.Summary != nil {
			fmt.Fprintf(a.Stderr, "verdict %s\n", run.Summary.Verdict.Status)
		}
		fmt.Fprintf(a.Stderr, "result  %s\n", file)
		if run.Header.Raw != "" {
			fmt.Fprintf(a.Stderr, "raw     %s\n", filepath.Join(o.out, run.Header.Raw))
		}
		if pageErr == nil {
			fmt.Fprintf(a.Stderr, "report  %s\n", page)
		}
	}
	if pageErr != nil {
		return failed("the result is in "+file+"; write the page with sixnines report --format html --out FILE",
			fmt.Errorf("write the report: %w", pageErr))
	}
	return judged(run)
}

// judged turns a verdict into the command's end.
func judged(run *result.Run) error {
	if run.Summary == nil {
		return nil
	}
	switch run.Summary.Verdict.Status {
	case result.Invalid, result.Unstable:
		return status(exitInvalid)
	}
	return nil
}

// printRun prints a run's summary on stdout.
func (a *app) printRun(run *result.Run, asJSON bool) error {
	if asJSON {
		return report.JSON(a.Stdout, run)
	}
	return report.Terminal(a.Stdout, []*result.Run{run}, a.reportOptions(a.Stdout))
}

// reportOptions fits a report to the stream it is written to.
func (a *app) reportOptions(w io.Writer) report.Options {
	columns, _ := a.terminal(w)
	return report.Options{Width: columns, Color: a.colour(w), ASCII: a.ascii()}
}

// sectionedHelp returns a help function that shows the flags in sections.
func (a *app) sectionedHelp(sections []section) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		columns, ok := a.terminal(a.Stdout)
		if !ok {
			columns = 100
		}
		fmt.Fprintf(a.Stdout, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
		for _, s := range sections {
			fmt.Fprintf(a.Stdout, "\n%s:\n%s", s.heading, s.flags.FlagUsagesWrapped(columns))
		}
	}
}
