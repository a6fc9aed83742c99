package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sixnines/internal/selftest"
	"sixnines/result"
	"sixnines/scenario"
)

// selftestOptions are the flags of selftest.
type selftestOptions struct {
	short, list, json, strict bool
	only                      []string
	rate, size, pattern       string
	out                       string
}

func (a *app) selftestCommand() *cobra.Command {
	var o selftestOptions
	cmd := &cobra.Command{
		Use:   "selftest [flags]",
		Short: "Test the tool itself",
		Long: `Test the tool itself: inject a known effect – a stall, a distribution, a loss, a wrong
clock, a processor taken away – and check that the tool reports it within the stated
tolerance. The table on stdout has the outcome of each trial; a page has every figure.

Run it while nothing else runs. A trial that depends on this machine's timing is
repeated if it fails, ` + strconv.Itoa(selftest.Attempts) + ` times in all, and each attempt is reported. If something disturbed the machine
every time, the trial is "not assessed", with the disturbance.

The noise floor, which is the latency with a broker that does nothing, is measured at
--rate and --size and stored in $SIXNINES_HOME. Results of later runs on this machine
under a similar load show it. The highest rates at which the generator keeps its
schedule are measured and stored too; doctor shows them.

Exit codes: 0 no trial failed; 1 a trial failed: the tool is wrong here; 2 wrong usage;
4 with --strict, no trial failed and one was not assessed, as on a disturbed machine.`,
		Example: `  sixnines selftest
  sixnines selftest --short
  sixnines selftest --only floor --rate 20k/s --size 1KiB
  sixnines selftest --list`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.selftest(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.short, "short", false, "run a short form, which takes one minute instead of three to four")
	f.StringSliceVar(&o.only, "only", nil, "`NAME` of a trial to run, see --list")
	f.BoolVar(&o.list, "list", false, "list the trials and run none")
	f.StringVar(&o.rate, "rate", "1000/s", "`RATE` at which the noise floor is measured")
	f.StringVar(&o.size, "size", "256B", "`SIZE` of its payloads")
	f.StringVar(&o.pattern, "pattern", string(scenario.Deliver), "`PATTERN` of its messages: publish, deliver, roundtrip or request-reply")
	f.StringVar(&o.out, "out", "results", "`DIR` for the page")
	f.BoolVar(&o.strict, "strict", false, "exit with 4 if a trial could not be assessed, as on a disturbed machine")
	jsonFlag(f, &o.json, "one JSON object with every figure, with --list an array of the trials,")
	_ = cmd.RegisterFlagCompletionFunc("only", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return trialNames(), cobra.ShellCompDirectiveNoFileComp
	}) // the flag exists
	return cmd
}

// trialNames lists the trials' names.
func trialNames() []string {
	return each(selftest.All(), func(t selftest.Trial) string { return t.Name })
}

// selftest makes the trials.
func (a *app) selftest(ctx context.Context, o selftestOptions) error {
	trials, err := chooseTrials(o.only)
	if err != nil {
		return err
	}
	load, err := floorLoad(o)
	if err != nil {
		return err
	}
	if o.list {
		return a.listTrials(trials, o)
	}
	if err := a.makeDir(o.out); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sixnines-selftest-")
	if err != nil {
		return failed("set TMPDIR to a writable directory", err)
	}
	defer os.RemoveAll(dir) // nothing in it is wanted any more
	ctx, stop := a.interruptible(ctx, func(who string) error {
		fmt.Fprintf(a.Stderr, "%s: stopping; the results so far follow.\n", who)
		return errors.New(who)
	})
	defer stop()

	h, homeErr := a.home() // without one the floor is measured all the same
	b := &selftest.Bench{Short: o.short, Load: load, Drivers: a.Drivers, Tool: a.Tool, Executable: a.Executable, Environ: a.Environ, Home: h, Dir: dir}
	if homeErr == nil {
		b.Keep = keepFloor(h.Path(selftest.FloorFile))
		b.KeepLimits = keepLimits(h.Path(selftest.LimitFile))
	}
	report := selftest.Run(ctx, b, trials, a.trialObserver(len(trials)))
	return a.presentTrials(report, o)
}

// presentTrials writes the page, prints the table and decides on the exit code.
func (env *Env) presentTrials(r *selftest.Report, o selftestOptions) error {
	page := beside(o.out, "selftest-"+r.Started.UTC().Format("20060102T150405Z"), ".html")
	pageErr := env.writeNew(page, false, r.HTML)
	var err error
	if o.json {
		err = env.writeJSON(struct {
			Verdict selftest.Verdict `json:"verdict"`
			*selftest.Report
		}{r.Verdict(), r})
	} else {
		err = env.printTrials(r)
	}
	if err != nil {
		return failed("the page is "+page, fmt.Errorf("print the verdicts: %w", err))
	}
	if pageErr != nil {
		return failed(fileHint(pageErr), fmt.Errorf("write the page: %w", pageErr))
	}
	fmt.Fprintf(env.Stderr, "page    %s\n", page)
	switch {
	case r.Stopped || r.Count(selftest.Failed) > 0:
		return status(exitFailure)
	case o.strict && r.Count(selftest.NotAssessed) > 0:
		return status(exitInvalid)
	}
	return nil
}

// chooseTrials returns the trials of these names, in the order of the list; all
// if none is named.
func chooseTrials(only []string) ([]selftest.Trial, error) {
	all := selftest.All()
	if len(only) == 0 {
		return all, nil
	}
	names := trialNames()
	var wanted []string
	for _, name := range only {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(names, name) {
			return nil, wrongUsage(orMeant(name, names, "choose one of "+strings.Join(names, ", ")), "there is no trial %q", name)
		}
		wanted = append(wanted, name)
	}
	return slices.DeleteFunc(all, func(t selftest.Trial) bool { return !slices.Contains(wanted, t.Name) }), nil
}

// floorLoad reads the load of the noise floor, and holds it against what a
// scenario may ask for.
func floorLoad(o selftestOptions) (selftest.Load, error) {
	s := &scenario.Scenario{}
	var flags []scenario.Override
	for _, f := range [][2]string{{"rate", o.rate}, {"size", o.size}, {"pattern", o.pattern}} {
		flags = append(flags, scenario.Override{Key: "workload." + f[0], Value: f[1], Flag: "--" + f[0]})
	}
	err := s.Apply(flags...)
	if err == nil {
		s.Normalise()
		err = s.Validate()
	}
	if err != nil {
		return selftest.Load{}, &fault{exitUsage, err, "sixnines selftest --help says what each flag takes"}
	}
	if s.Workload.Rate.IsMax() {
		return selftest.Load{}, wrongUsage("give a rate such as 1000/s", "a noise floor needs a rate: --rate %s", o.rate)
	}
	size, alike := s.Workload.Size.Fixed()
	if !alike {
		return selftest.Load{}, wrongUsage("give one size such as 1KiB", "a noise floor needs a single size: --size %s", o.size)
	}
	return selftest.Load{Rate: s.Workload.Rate, Size: size, Pattern: s.Workload.Pattern}, nil
}

// keepFloor returns what keeps noise floors in a file.
func keepFloor(path string) func(result.Floor, []string) (string, error) {
	store, machine := selftest.FloorStore{Path: path}, selftest.ThisMachine()
	return func(f result.Floor, disturbed []string) (string, error) {
		why := strings.Join(disturbed, ", ")
		kept, damaged, err := store.Keep(machine, f, why)
		note := keptNote(path, kept, why, "one")
		if damaged > 0 {
			note += "; " + plural(damaged, "damaged line") + " left out"
		}
		return note, err
	}
}

// keptNote says whether what was measured is kept in a file; what names it.
func keptNote(path string, kept bool, disturbed, what string) string {
	switch {
	case !kept:
		return "no: " + disturbed + ", and " + what + " measured without disturbance is already stored"
	case disturbed != "":
		return "yes, in " + path + ", marked: " + disturbed
	}
	return "yes, in " + path
}

// keepLimits returns what keeps the generator's limits in a file.
func keepLimits(path string) func([]selftest.Limit, []string) (string, error) {
	return func(l []selftest.Limit, disturbed []string) (string, error) {
		why := strings.Join(disturbed, ", ")
		kept, err := selftest.LimitStore{Path: path}.Keep(selftest.KeptLimits{Machine: selftest.ThisMachine(), At: time.Now(), Disturbed: why, Limits: l})
		return keptNote(path, kept, why, "what was"), err
	}
}

// trialObserver tells of the trials' progress on stderr, a line each.
func (env *Env) trialObserver(of int) selftest.Observer {
	say := func(format string, args ...any) {
		fmt.Fprintln(env.Stderr, env.plainText(fmt.Sprintf(format, args...)))
	}
	n := 0
	return selftest.Observer{
		Begins: func(t selftest.Trial) {
			n++
			say("[%d/%d] %s: %s", n, of, t.Name, t.Question)
		},
		Says: func(_ selftest.Trial, text string) { say("      %s", oneLine(text)) },
		Ends: func(r selftest.Result) { say("      %s after %s", r.Verdict, selftest.Rounded(r.Took)) },
	}
}

// plainText replaces what the user's locale may not have.
func (env *Env) plainText(s string) string {
	if !env.ascii() {
		return s
	}
	return strings.NewReplacer("µ", "u", "–", "-", "−", "-", "…", "...", "→", "->", "⁵", "^5", "²", "2", "F̂", "F").Replace(s)
}
