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

	"sixnines/internal/report"
	"sixnines/result"
)

// reportFlags are the flags of report.
type reportFlags struct {
	format, out, metric, chart string
	junit                      string
	slo                        []string
	json, force                bool
}

func (a *app) reportCommand() *cobra.Command {
	var o reportFlags
	var about strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&about, "\n  %-10s%s", f.Name, f.About)
	}
	cmd := &cobra.Command{
		Use:   "report FILE… [flags]",
		Short: "Show results as a table, a page, pictures or data",
		Long: `Show result files. Several are overlaid in pictures and stand side by side in
tables. A file that a killed run left is shown up to its last second.

--slo holds results against objectives, beside those that they were made with; with
it, or --junit, the exit code is that of run: 3 if an objective is missed or
undecided, 4 if a run is INVALID or UNSTABLE.

The format is that of --format, else that of the extension of --out, else a table:
` + about.String(),
		Example: `  sixnines report results/nats-deliver-*.jsonl
  sixnines report a.jsonl b.jsonl --out comparison.html
  sixnines report a.jsonl --format svg --chart time > time.svg
  sixnines report a.jsonl --format hgrm --metric delivery.service
  sixnines report a.jsonl --slo "delivery.response p99 < 2ms" --junit junit.xml`,
		Args:              counted(1, -1, "at least one result FILE"),
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.report(cmd, args, o) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.format, "format", "", "`FORMAT`: "+strings.Join(formatNames(), ", "))
	cmd.Flags().StringVar(&o.out, "out", "", "write to `FILE` instead of stdout")
	cmd.Flags().BoolVar(&o.force, "force", false, "with --out: replace a file that is there")
	cmd.Flags().StringVar(&o.metric, "metric", "", "hgrm: the `METRIC`, such as delivery.response; default: the first there is")
	cmd.Flags().StringVar(&o.chart, "chart", "", "svg, png: which `CHART`: "+strings.Join(chartNames(), ", ")+"; default percentiles")
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.Flags().StringArrayVar(&o.slo, "slo", nil, "hold the results against `EXPR`, repeatable: \"delivery.response p99.9 < 5ms\", \"lost == 0\"")
	cmd.Flags().StringVar(&o.junit, "junit", "", "also write verdicts and objectives to `FILE` for CI, as JUnit XML; one that is there is replaced")
	completeFlag(cmd, "format", oneOf(formatNames()...))
	completeFlag(cmd, "chart", oneOf(chartNames()...))
	completeFlag(cmd, "metric", oneOf(metricNames()...))
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func chartNames() []string {
	var names []string
	for _, k := range report.Kinds() {
		names = append(names, string(k))
	}
	return names
}

func metricNames() []string {
	var names []string
	for _, m := range result.Metrics() {
		names = append(names, string(m))
	}
	return names
}

func (a *app) report(cmd *cobra.Command, files []string, o reportFlags) error {
	f, err := o.choose()
	if err != nil {
		return err
	}
	options := a.reportOptions(a.Stdout)
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
		return wrongUsage("choose --format svg or --format png, or leave --chart out", "--chart chooses a picture, and %s is none", f.Name)
	}
	if o.metric != "" && f.Name != "hgrm" {
		return wrongUsage("choose --format hgrm, or leave --metric out", "--metric chooses one distribution, and %s shows all", f.Name)
	}
	options.Kind, options.Metric = report.Kind(o.chart), result.Metric(o.metric)
	if _, isTerminal := a.terminal(a.Stdout); f.Binary && o.out == "" && isTerminal {
		return wrongUsage("write it to a file with --out FILE"+f.Extension, "%s is not for a terminal", f.Name)
	}
	single := func(n int) error {
		if f.Single && n > 1 {
			return wrongUsage("make one for each result", "the format %s holds one result, not %d", f.Name, n)
		}
		return nil
	}
	if err := single(len(files)); err != nil {
		return err
	}
	objectives, err := parseObjectives(o.slo)
	if err != nil {
		return err
	}
	runs, err := a.loadRuns(files)
	if err != nil {
		return err
	}
	runs, names := parts(runs, files)
	runs = withObjectives(runs, objectives)
	if err := single(len(runs)); err != nil {
		return err
	}
	if err := a.junitProbe(o.junit); err != nil {
		return err
	}
	if err := a.writeReport(cmd, f, runs, options, o); err != nil {
		return err
	}
	if err := a.writeJUnit(o.junit, runs); err != nil {
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
			a.sayObjectives(of, run.Summary.Objectives)
		}
	}
	return judgedAll(runs)
}

// writeReport writes the report to where the flags say.
func (a *app) writeReport(cmd *cobra.Command, f report.Format, runs []*result.Run, options report.Options, o reportFlags) error {
	write := func(w io.Writer) error { return f.Write(w, runs, options) }
	if o.out == "" {
		if err := write(a.Stdout); err != nil {
			return failed("see "+cmd.CommandPath()+" --help", fmt.Errorf("report: %w", err))
		}
		return nil
	}
	switch err := a.writeNew(o.out, o.force, write); {
	case errors.Is(err, fs.ErrExist):
		return failed("name another file, or replace it with --force", fmt.Errorf("%s is there already", o.out))
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
		return report.Format{}, wrongUsage("say it with --format: "+strings.Join(formatNames(), ", "), "the name %s does not tell the format", o.out)
	case name == "":
		name = "terminal"
	}
	f, err := report.FormatOf(name)
	if err != nil {
		return f, chooseOne("--format", name, formatNames())
	}
	return f, nil
}

// chooseOne refuses a value that is not in a fixed set.
func chooseOne(flag, value string, allowed []string) error {
	hint := flag + " takes " + strings.Join(allowed, ", ")
	if near := nearest(value, allowed); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return wrongUsage(hint, "%s cannot be %q", flag, value)
}

// parts returns the runs with each of several workloads in place of what holds
// them, and how each is called.
func parts(runs []*result.Run, files []string) (all []*result.Run, names []string) {
	for i, run := range runs {
		for _, part := range run.Parts() {
			name := files[i]
			if w := part.Header.Workload; w != "" {
				name += " " + w
			}
			all, names = append(all, part), append(names, name)
		}
	}
	return all, names
}

// loadRuns reads result files.
func (a *app) loadRuns(files []string) ([]*result.Run, error) {
	runs := make([]*result.Run, len(files))
	for i, file := range files {
		run, err := a.loadRun(file)
		if err != nil {
			return nil, err
		}
		runs[i] = run
	}
	return runs, nil
}

// loadRun reads a result file, and says about one that ends too early how far
// it goes.
func (a *app) loadRun(file string) (*result.Run, error) {
	if info, err := os.Stat(a.path(file)); err == nil && info.IsDir() {
		return nil, wrongUsage("name its files, such as "+file+"/*.jsonl", "%s is a directory", file)
	}
	run, err := result.Load(a.path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("sixnines run writes results, by default into results/", "there is no file %s", file)
	case errors.Is(err, result.ErrFormat):
		return nil, wrongUsage("name a .jsonl file that sixnines run wrote, by this version or an older one", "%w", err)
	case err != nil:
		return nil, failed("check the file and its permissions", err)
	}
	if part := run.Parts()[0]; part.Summary == nil {
		fmt.Fprintf(a.Stderr, "%s: cut short: the run did not end by itself; its records reach second %s of %s\n",
			file, lastSecond(part), seconds(part.Header.Window))
	}
	return run, nil
}

// oneRun reads a result file that holds one workload.
func (a *app) oneRun(file string) (*result.Run, error) {
	run, err := a.loadRun(file)
	if err == nil && len(run.Workloads) > 0 {
		return nil, wrongUsage("see its figures with sixnines report", "%s holds several workloads, which this command cannot tell apart", file)
	}
	return run, err
}

// lastSecond is how far into the window the records of a run reach.
func lastSecond(run *result.Run) string {
	var end int64
	for _, p := range run.Series {
		end = max(end, p.End)
	}
	return fmt.Sprint(end / 1e9)
}
