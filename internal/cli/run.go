package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

	run, err := a.measure(stops, show, measurement{scenario: s, entry: e, file: file})
	show.close()
	if run == nil {
		return err
	}
	// The report of a run that went wrong is written all the same; the error is
	// what the command ends with.
	presented := a.present(run, o, name, file)
	if err != nil {
		return err
	}
	return presented
}

// present writes the report beside the result, prints the summary and decides
// on the exit code.
func (a *app) present(run *result.Run, o runOptions, name, file string) error {
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
