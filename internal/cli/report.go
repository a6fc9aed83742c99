package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/judge"
	"sixnines/internal/report"
	"sixnines/result"
)

// reportFlags are the flags of report.
type reportFlags struct {
	showing
	passing                    passing
	format, out, metric, chart string
	junit, of                  string
	slo                        []string
	json, force                bool
}

func (a *app) reportCommand() *cobra.Command {
	var o reportFlags
	var about strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&about, "\n  %-12s%s", f.Name, f.About)
	}
	cmd := &cobra.Command{
		Use:   "report FILE… | DIR… [flags]",
		Short: "Show results as a table, a page, pictures or data",
		Long: `Show result files. One run is shown as far as it fits on a screen, in full with --full,
or in parts with --show. Several runs are overlaid in pictures and shown side by side
in tables. A DIR stands for all results in it and below it, in the order in which they
were made. The file of a killed run is shown up to its last second. A file that was changed
after it was written, as its seal shows, is INVALID.

--slo checks the results against more objectives than those of the runs. With --slo or
--junit the exit code is that of run: 3 if an objective is missed or undecided
(--allow-undecided: missed only), 4 if a run is INVALID or overloaded. Background
workloads are not judged.

The format is given by --format, otherwise by the extension of --out; the default is a
table:
` + about.String(),
		Example: `  sixnines report results/nats-deliver-*.jsonl
  sixnines report a.jsonl b.jsonl --out comparison.html
  sixnines report a.jsonl --format svg --chart time > time.svg
  sixnines report a.jsonl --format hgrm --metric delivery.service
  sixnines report a.jsonl --slo "delivery.response p99 < 2ms" --junit junit.xml`,
		Args:              counted(1, -1, "at least one result FILE or DIR"),
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.report(cmd, args, o) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.format, "format", "", "`FORMAT`: "+strings.Join(formatNames(), ", "))
	o.showing.flags(cmd.Flags())
	cmd.Flags().StringVar(&o.out, "out", "", "write to `FILE` instead of stdout")
	cmd.Flags().BoolVar(&o.force, "force", false, "with --out: replace an existing file")
	cmd.Flags().StringVar(&o.metric, "metric", "", "hgrm: the `METRIC`, such as delivery.response; default: the first")
	cmd.Flags().StringVar(&o.chart, "chart", "", "svg, png: which `CHART`: "+strings.Join(chartNames(), ", ")+"; default percentiles")
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.Flags().StringVar(&o.of, "of", "", "with several workloads: show `WORKLOAD` only")
	cmd.Flags().StringArrayVar(&o.slo, "slo", nil, "check the results against `EXPR`, repeatable: \"delivery.response p99.9 < 5ms\", \"lost == 0\"")
	o.passing.flag(cmd.Flags())
	cmd.Flags().StringVar(&o.junit, "junit", "", "also write verdicts and objectives to `FILE` for CI, as JUnit XML; an existing file is replaced")
	o.showing.complete(cmd)
	completeFlag(cmd, "format", oneOf(formatNames()...))
	completeFlag(cmd, "chart", oneOf(chartNames()...))
	completeFlag(cmd, "metric", oneOf(metricNames()...))
	return cmd
}

func formatNames() []string {
	return each(report.Formats(), func(f report.Format) string { return f.Name })
}

func chartNames() []string {
	return each(report.Kinds(), func(k report.Kind) string { return string(k) })
}

func metricNames() []string {
	return each(result.Metrics(), func(m result.Metric) string { return string(m) })
}

func (a *app) report(cmd *cobra.Command, files []string, o reportFlags) error {
	f, err := o.choose()
	if err != nil {
		return err
	}
	table := ""
	if f.Name != "terminal" {
		table = "the format " + f.Name
	}
	if err := o.showing.check(table); err != nil {
		return err
	}
	options := o.showing.options(a.reportOptions(a.Stdout))
	if o.out != "" {
		options.Color = false
	}
	for _, set := range []struct {
		flag, value string
		allowed     []string
	}{{"chart", o.chart, chartNames()}, {"metric", o.metric, metricNames()}} {
		if set.value != "" && !slices.Contains(set.allowed, set.value) {
			return chooseOne("--"+set.flag, set.value, set.allowed)
		}
	}
	if o.chart != "" && f.Name != "svg" && f.Name != "png" {
		return wrongUsage("choose --format svg or --format png, or leave --chart out", "--chart chooses a picture, and %s is not a picture", f.Name)
	}
	if o.metric != "" && f.Name != "hgrm" {
		return wrongUsage("choose --format hgrm, or leave --metric out", "--metric chooses one distribution, but %s shows all", f.Name)
	}
	options.Kind, options.Metric = report.Kind(o.chart), result.Metric(o.metric)
	if _, isTerminal := a.terminal(a.Stdout); f.Binary && o.out == "" && isTerminal {
		return wrongUsage("write it to a file with --out FILE"+f.Extension, "%s cannot be shown on a terminal", f.Name)
	}
	several := func(n int) error {
		if !f.Single || n < 2 {
			return nil
		}
		return wrongUsage("write one file for each result", "a file of format %s holds one result, not %d", f.Name, n)
	}
	if err := several(len(files)); err != nil {
		return err
	}
	objectives, err := parseObjectives(o.slo)
	if err != nil {
		return err
	}
	runs, files, err := a.loadRuns(files)
	if err != nil {
		return err
	}
	if err := several(len(runs)); err != nil {
		return err
	}
	runs, names, err := parts(runs, files, o.of)
	if err != nil {
		return err
	}
	if f.Single && len(runs) > 1 {
		return wrongUsage("choose one with --of: "+strings.Join(workloadNames(runs), ", "), "a file of format %s holds one workload, and %s has several", f.Name, files[0])
	}
	if len(objectives) > 0 && !slices.ContainsFunc(runs, func(r *result.Run) bool { return !r.Header.Background }) {
		return wrongUsage("choose another workload with --of", "--slo: %s is a background workload, which is not judged", runs[0].Header.Workload)
	}
	runs = withObjectives(runs, objectives)
	if err := a.junitProbe(o.junit); err != nil {
		return err
	}
	if err := a.writeReport(cmd, f, runs, options, o); err != nil {
		return err
	}
	if err := a.writeJUnit(o.junit, o.passing, runs); err != nil {
		return err
	}
	if len(objectives) == 0 && o.junit == "" {
		return nil
	}
	for i, run := range runs {
		of := ""
		if len(runs) > 1 {
			of = names[i]
		}
		if run.Summary != nil {
			a.sayObjectives(of, run.Summary.Objectives, o.passing)
		}
	}
	return o.passing.judgedAll(runs)
}

// writeReport writes the report to where the flags say.
func (env *Env) writeReport(cmd *cobra.Command, f report.Format, runs []*result.Run, options report.Options, o reportFlags) error {
	write := func(w io.Writer) error { return f.Write(w, runs, options) }
	if o.out == "" {
		if err := write(env.Stdout); err != nil {
			return failed("see "+cmd.CommandPath()+" --help", fmt.Errorf("report: %w", err))
		}
		return nil
	}
	switch err := env.writeNew(o.out, o.force, write); {
	case errors.Is(err, fs.ErrExist):
		return failed("name another file, or replace it with --force", fmt.Errorf("%s already exists", o.out))
	case err != nil:
		return failed(fileHint(err), fmt.Errorf("report: %w", err))
	}
	return nil
}

// choose returns the format that the flags ask for.
func (o reportFlags) choose() (report.Format, error) {
	name := o.format
	switch {
	case o.json && name != "" && name != "json":
		return report.Format{}, wrongUsage("leave one of them out", "--json and --format %s exclude each other", name)
	case o.json:
		name = "json"
	case name == "md":
		name = "markdown"
	case name == "" && o.out != "":
		for _, f := range report.Formats() {
			if strings.HasSuffix(strings.ToLower(o.out), f.Extension) {
				return f, nil
			}
		}
		return report.Format{}, wrongUsage("choose one with --format: "+strings.Join(formatNames(), ", "), "the name %s does not determine the format", o.out)
	case name == "":
		name = "terminal"
	}
	f, err := report.FormatOf(name)
	if err != nil {
		return f, chooseOne("--format", name, formatNames())
	}
	return f, nil
}

// parts returns the runs with each of several workloads in place of what holds
// them, and how each is called; of is the only workload that is wanted, empty: all.
func parts(runs []*result.Run, files []string, of string) (all []*result.Run, names []string, err error) {
	for i, run := range runs {
		if of != "" && run.Part(of) == nil {
			return nil, nil, noWorkload(run, files[i], of)
		}
		for _, part := range run.Parts() {
			if w := part.Header.Workload; of == "" || w == of {
				all, names = append(all, part), append(names, joinWords(files[i], w))
			}
		}
	}
	return all, names, nil
}

// noWorkload is the error of a result that has no workload of a name.
func noWorkload(run *result.Run, file, name string) error {
	if len(run.Workloads) == 0 {
		return wrongUsage("leave --of out", "%s has a single, unnamed workload", file)
	}
	return chooseOne("--of", name, workloadNames(run.Workloads))
}

// workloadNames are the names of the workloads of runs.
func workloadNames(runs []*result.Run) []string {
	return each(runs, func(r *result.Run) string { return r.Header.Workload })
}

// loadRuns reads result files, and those in directories and below them, of each
// directory in the order in which they were made. It returns the files' names, too.
func (env *Env) loadRuns(names []string) (runs []*result.Run, files []string, err error) {
	for _, name := range names {
		found, err := env.resultsIn([]string{name})
		if err != nil {
			return nil, nil, err
		}
		these, err := env.loadFiles(found)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > 1 {
			slices.SortStableFunc(these, func(a, b *result.Run) int {
				return a.Parts()[0].Header.Started.Compare(b.Parts()[0].Header.Started)
			})
		}
		for _, run := range these {
			runs, files = append(runs, run), append(files, run.Path)
		}
	}
	return runs, files, nil
}

// loadFiles reads result files.
func (env *Env) loadFiles(files []string) ([]*result.Run, error) {
	runs := make([]*result.Run, len(files))
	for i, file := range files {
		var err error
		if runs[i], err = env.loadRun(file); err != nil {
			return nil, err
		}
		runs[i].SetPath(file) // as the user would name it
	}
	return runs, nil
}

// loadRun reads a result file, and says about one that ends too early how far
// it goes. One that was changed after it was written is INVALID, which is said, too.
func (env *Env) loadRun(file string) (*result.Run, error) {
	run, err := env.readRun(file)
	if err != nil {
		return nil, err
	}
	if how := judge.RefuseAltered(run); how != "" {
		fmt.Fprintf(env.Stderr, "%s: INVALID: the file was changed after it was written, so it decides nothing (%s)\n", file, how)
	}
	return run, nil
}

// readRun is loadRun without a look at the seal.
func (env *Env) readRun(file string) (*result.Run, error) {
	if info, err := os.Stat(env.path(file)); err == nil && info.IsDir() {
		return nil, wrongUsage("name its files, such as "+file+"/*.jsonl", "%s is a directory", file)
	}
	run, err := result.Load(env.path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("sixnines run writes results, by default into results/", "%s does not exist", file)
	case errors.Is(err, result.ErrDamaged):
		return nil, wrongUsage("take it from a copy, or make the run again; sixnines verify checks those beside it", "%w", err)
	case errors.Is(err, result.ErrFormat):
		return nil, wrongUsage("name a .jsonl file that sixnines run wrote, by this version or an older one", "%w", err)
	case err != nil:
		return nil, failed("check the file and its permissions", err)
	}
	if part := run.Parts()[0]; !run.Complete() {
		fmt.Fprintf(env.Stderr, "%s: cut short: the run was killed; its records end at second %s of %s\n",
			file, lastSecond(part), seconds(part.Header.Window))
	}
	return run, nil
}

// oneRun reads a result file of one workload, or one of several.
func (env *Env) oneRun(file, of string) (*result.Run, error) {
	run, err := env.loadRun(file)
	if err != nil {
		return nil, err
	}
	if of == "" && len(run.Workloads) > 0 {
		return nil, wrongUsage("choose one with --of: "+strings.Join(workloadNames(run.Workloads), ", "), "%s contains several workloads", file)
	}
	part := run.Part(of)
	if part == nil {
		return nil, noWorkload(run, file, of)
	}
	return part, nil
}

// lastSecond is how far into the window the records of a run reach.
func lastSecond(run *result.Run) string {
	var end int64
	for _, p := range run.Series {
		end = max(end, p.End)
	}
	return fmt.Sprint(end / 1e9)
}
