package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/spell"
	"sixnines/scenario"
)

// section is a group of flags under one heading of a help text.
type section struct {
	heading string
	flags   *pflag.FlagSet
}

// sectionOf makes a section of the flags that define adds, in their order.
func sectionOf(heading string, define ...func(*pflag.FlagSet)) section {
	s := section{heading, pflag.NewFlagSet(heading, pflag.ContinueOnError)}
	s.flags.SortFlags = false
	for _, d := range define {
		d(s.flags)
	}
	return s
}

// take gives a command its flags, in sections.
func (env *Env) take(cmd *cobra.Command, sections ...section) {
	cmd.Flags().SortFlags = false
	for _, s := range sections {
		cmd.Flags().AddFlagSet(s.flags)
	}
	if cmd.Flags().Lookup("pattern") != nil {
		env.completeScenarioFlags(cmd)
	}
	cmd.SetHelpFunc(env.sectionedHelp(sections))
}

// completeSubjects completes up to most names of drivers and scenario files.
func (env *Env) completeSubjects(most int) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return env.Drivers.Names(), cobra.ShellCompDirectiveDefault
	}
}

// outputOptions are the flags of commands that make results.
type outputOptions struct {
	out     string
	quiet   bool
	metrics string // address; empty: none
	otlp    string // URL; empty: none
	live    string // address; empty: none
	// revision is the state of what is measured.
	revision string
	resume   string // directory of a series to go on with; empty: a new one
	fleet    fleetOptions
}

// outputFlags adds them; out says what goes into the directory.
func (o *outputOptions) outputFlags(f *pflag.FlagSet, out string) {
	f.StringVar(&o.out, "out", "results", out)
	f.StringVar(&o.metrics, "metrics", "", "serve metrics for Prometheus at `ADDRESS` while the command runs, such as :9464 (this machine alone) or 0.0.0.0:9464 (all interfaces)")
	f.StringVar(&o.otlp, "otlp", "", "push metrics to the OpenTelemetry collector at `URL` every 10 s and at the end, such as http://collector:4318; headers: OTEL_EXPORTER_OTLP_HEADERS")
	f.StringVar(&o.live, "live", "", "show the runs on a page at `ADDRESS` while they are made, such as 127.0.0.1:0 (any free port) or 0.0.0.0:8080 (all interfaces); see docs/result.md")
	f.StringVar(&o.revision, "revision", "", "keep in the results that they are of this `COMMIT` or the like of what is measured, for sixnines history")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notes on stderr, only errors")
}

// seriesOut is --out of a command that makes a directory for its results.
const seriesOut = "parent `DIR` of the directory of results"

// resumeFlag adds --resume of a kind of series, with what is needed to go on.
func resumeFlag(f *pflag.FlagSet, to *string, series, needs string) {
	f.StringVar(to, "resume", "", "continue the "+series+" in `DIR`: existing runs are kept, the rest are made; "+needs)
}

// sameCommand says what most series need to be resumed.
const sameCommand = "repeat the rest of the command unchanged"

// pauseFlag adds --pause.
func pauseFlag(f *pflag.FlagSet, to *time.Duration) {
	timeFlag(f, to, "pause", 0, "wait for this `TIME` between runs")
}

// timeFlag adds a flag that is a time, with a default.
func timeFlag(f *pflag.FlagSet, to *time.Duration, name string, by time.Duration, about string) {
	*to = by
	f.Var(&timeValue{to: to, name: name}, name, about)
}

// someTimeFlag adds a flag that is a time above 0, without a default.
func someTimeFlag(f *pflag.FlagSet, to *time.Duration, name, about string) {
	f.Var(&timeValue{to: to, name: name, some: true}, name, about)
}

// timeValue is the value of such a flag.
type timeValue struct {
	to   *time.Duration
	name string
	some bool // above 0
}

func (t *timeValue) String() string {
	if t.to == nil || *t.to == 0 {
		return ""
	}
	return t.to.String()
}

func (t *timeValue) Type() string { return "TIME" }

func (t *timeValue) Set(text string) error {
	d, err := spell.ParseDuration(text)
	if read := new(spell.Error); errors.As(err, &read) {
		return wrongUsage(read.Hint, "--%s: %q %w", t.name, text, err)
	}
	if d > scenario.MaxDuration {
		return wrongUsage("write for example --"+t.name+" 10s", "--%s cannot be %s", t.name, spell.Written(d))
	}
	if t.some && d <= 0 {
		return wrongUsage("leave it out, or give it a longer time", "--%s takes a time above 0", t.name)
	}
	*t.to = d
	return nil
}

// jsonFlag adds --json; what says what is printed then.
func jsonFlag(f *pflag.FlagSet, to *bool, what string) {
	f.BoolVar(to, "json", false, "print "+what+" instead of a table")
}
