package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/compare"
	"sixnines/internal/report"
	"sixnines/result"
)

// compareOptions are the flags that compare and ab share.
type compareOptions struct {
	minEffect   percentFlag
	metrics     []string
	percentiles []string
	of          string // the only workload to compare; empty: all
	rankUnlike  bool
	gate        bool
	passing     passing
	decides     bool // the command decides objectives too, so --allow-undecided also applies to them
	json        bool
	markdown    bool
	full        bool
	html        string // file
	details     string // the command that shows all of it; empty: the same with --full
}

// comparisonFlags adds the flags that compare and ab share.
func (o *compareOptions) comparisonFlags(f *pflag.FlagSet) {
	o.minEffect = percentFlag{share: compare.DefaultMinEffect, most: 10, flag: "--min-effect", example: "5%"}
	f.Var(&o.minEffect, "min-effect", "the smallest change that matters, such as 5%; with 0% every change matters and a gate passes improvements only")
	f.StringSliceVar(&o.metrics, "metric", nil, "judge `METRIC`, such as delivery.service; repeatable; default: the first response time, or the throughput with rate: max")
	f.StringSliceVar(&o.percentiles, "percentile", nil, "compare these `PERCENTILES` only, such as 50,99,99.9; fewer percentiles have narrower intervals")
	f.StringVar(&o.of, "of", "", "with several workloads: compare `WORKLOAD` only; a run with a single, unnamed workload is compared by that one")
	f.BoolVar(&o.rankUnlike, "rank-unlike", false, "rank despite different guarantees or loads; the output says so")
	f.BoolVar(&o.gate, "gate", false, "exit with 3 unless B is shown to be no worse than A by more than --min-effect in every respect")
	o.passing.flag(f)
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown, for a pull request, instead of a table")
	f.BoolVar(&o.full, "full", false, "print everything, not only what fits on a screen")
	f.StringVar(&o.html, "html", "", "also write a page to `FILE`, which must not exist yet")
	jsonFlag(f, &o.json, "one JSON object for each workload")
}

// options checks the flags.
func (o compareOptions) options(a *app) (compare.Options, error) {
	out := compare.Options{MinEffect: o.minEffect.share, Workload: o.of, RankUnlike: o.rankUnlike}
	if o.json && o.markdown {
		return out, wrongUsage("leave one of them out", "--json and --markdown exclude each other")
	}
	if o.passing.allowUndecided && !o.gate && !o.decides {
		return out, wrongUsage("add --gate, or leave it out", "--allow-undecided needs --gate")
	}
	if o.html != "" {
		if err := a.pageProbe(o.html); err != nil {
			return out, err
		}
	}
	for _, m := range o.metrics {
		if !slices.Contains(metricNames(), m) {
			return out, chooseOne("--metric", m, metricNames())
		}
		if !slices.Contains(out.Metrics, result.Metric(m)) {
			out.Metrics = append(out.Metrics, result.Metric(m))
		}
	}
	asked := map[result.Percentile]bool{}
	for _, text := range o.percentiles {
		p := result.Percentile(strings.TrimPrefix(text, "p"))
		if !slices.Contains(result.Percentiles(), p) {
			return out, chooseOne("--percentile", string(p), result.Percentiles())
		}
		asked[p] = true
	}
	for _, p := range result.Percentiles() {
		if asked[p] {
			out.Percentiles = append(out.Percentiles, p)
		}
	}
	return out, nil
}

// pageProbe checks that a page can be written before runs are made for it: the file
// must not exist yet, and its directory must exist.
func (env *Env) pageProbe(file string) error {
	switch err := unmade(os.OpenFile(env.path(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)); {
	case errors.Is(err, fs.ErrExist):
		return wrongUsage("name another file", "%s already exists", file)
	case err != nil:
		return wrongUsage("create the directory first, or name another file with --html FILE", "%s cannot be written: %w", file, err)
	}
	return nil
}

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASELINE NEW | A… -- B… | DIR [flags]",
		Short: "Compare two sets of results, run by run",
		Long: `Compare a baseline A with B: two sets of results, with the run as the unit. A set is
any number of result files, directories of them, or patterns. If a set has more than
one name, write -- between the sets and all flags before it. A single DIR must be one
that sixnines ab made; its results record which side they belong to.

The output first lists what an ab changes and every other difference. It then gives for
each percentile the change, an interval that holds for all percentiles at once, and an
outcome: SLOWER, FASTER, within the change that matters, not slower, or not decided.
With several workloads, each one that both sets have is compared separately, and --json
prints an object for each; background workloads are shown but not judged. An outcome
needs 6 pairs of runs, better 10; with fewer pairs only figures are shown. INVALID and
UNSTABLE runs are left out together with their partners.

A gate judges throughput or percentiles, overloads and other failures, messages that
were lost, refused or not sent, and how many runs were left out. It fails if B is shown
to be worse. It also fails if something is undecided, unless --allow-undecided is set.
High percentiles need the most pairs: --percentile 50,99 needs fewer.

Exit codes: 0 compared; 1 failure; 2 wrong usage; 3 a regression with --gate, or
something that the gate could not decide.`,
		Example: `  sixnines compare results/baseline results/new --markdown
  sixnines compare --min-effect 3% base-*.jsonl -- new-*.jsonl
  sixnines compare results/ab-20261121T140200Z-1f2e3d4c
  sixnines compare results/baseline results/new --gate --metric publish.response`,
		Args: func(cmd *cobra.Command, args []string) error {
			return counted(1, -1, "results: BASELINE NEW, A… -- B…, or the DIR of an ab")(cmd, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd, args, o)
		},
	}
	cmd.Flags().SortFlags = false
	o.comparisonFlags(cmd.Flags())
	completeFlag(cmd, "metric", oneOf(metricNames()...))
	completeFlag(cmd, "percentile", oneOf(result.Percentiles()...))
	return cmd
}

func (a *app) compare(cmd *cobra.Command, args []string, o compareOptions) error {
	options, err := o.options(a)
	if err != nil {
		return err
	}
	setA, setB, err := a.sets(args, cmd.ArgsLenAtDash())
	if err != nil {
		return err
	}
	all, err := compare.Workloads(setA, setB, options)
	if err != nil {
		return compareFault(err)
	}
	if o.gate {
		if err := gateable(all); err != nil {
			return err
		}
	}
	return a.compared(all, o, setA, setB)
}

// ofWorkload returns the prefix of a remark on one of several workloads, or of other named
// things.
func ofWorkload(workload string) string {
	if workload == "" {
		return ""
	}
	return workload + ": "
}

// compareFault explains why there is no comparison.
func compareFault(err error) error {
	if errors.Is(err, compare.ErrInput) {
		return wrongUsage("see sixnines compare --help; sixnines report FILE shows what a result holds", "%w", err)
	}
	return &fault{code: exitUsage, cause: err}
}

// compared prints the comparisons of two sets, of a workload each, and decides on the
// exit code.
func (env *Env) compared(all []*compare.Comparison, o compareOptions, setA, setB []*result.Run) error {
	for i, c := range all {
		if err := env.printComparison(c, i, o); err != nil {
			return failed("see sixnines compare --help", fmt.Errorf("print the comparison: %w", err))
		}
	}
	if o.html != "" {
		if err := env.writeNew(o.html, false, func(w io.Writer) error { return report.CompareHTML(w, all, setA, setB) }); err != nil {
			return failed("name another file with --html FILE", fmt.Errorf("write the page: %w", err))
		}
	}
	if o.gate {
		return env.gated(all, o.passing)
	}
	for _, c := range all {
		if c.Outcome == compare.Nothing {
			return failed("see which runs are left out and why, and run them again", errors.New(ofWorkload(c.Workload)+"no pair of runs can be compared"))
		}
	}
	return nil
}

// printComparison prints comparison i, from 0.
func (env *Env) printComparison(c *compare.Comparison, i int, o compareOptions) error {
	if o.json {
		return report.CompareJSON(env.Stdout, c)
	}
	if i > 0 {
		if _, err := fmt.Fprintln(env.Stdout); err != nil {
			return err
		}
	}
	if o.markdown {
		return report.CompareMarkdown(env.Stdout, c)
	}
	opt := env.reportOptions(env.Stdout)
	opt.Full, opt.Page, opt.Details = o.full, o.html, o.details
	return report.CompareTerminal(env.Stdout, c, opt)
}

// sets loads the results that the arguments name, separated into A and B. dash is the
// number of arguments before --; −1: no --.
func (env *Env) sets(args []string, dash int) (setA, setB []*result.Run, err error) {
	for _, arg := range args[max(dash, 0):] {
		if dash >= 0 && strings.HasPrefix(arg, "-") {
			return nil, nil, wrongUsage("write flags first: sixnines compare "+arg+" … A… -- B…; for a file of this name write ./"+arg, "only results may follow --, and %s is a flag", arg)
		}
	}
	switch {
	case dash == 0 || dash == len(args):
		return nil, nil, wrongUsage("write sixnines compare A… -- B…", "one side of -- is empty")
	case dash > 0:
		return env.bothSets(args[:dash], args[dash:])
	case len(args) == 2:
		return env.bothSets(args[:1], args[1:])
	}
	runs, err := env.loadSet(args)
	if err != nil {
		return nil, nil, err
	}
	ids := map[string]bool{}
	for _, r := range runs {
		t := r.Header.Trial
		if t == nil || t.Kind != result.TrialAB {
			if len(args) == 1 {
				return nil, nil, wrongUsage("name the second set, too: sixnines compare BASELINE NEW", "%s is only one set, and %s is not a run of an ab", args[0], r.Path)
			}
			return nil, nil, wrongUsage("separate the sets: sixnines compare A… -- B…", "it is unclear which of the %d names belong to A and which to B", len(args))
		}
		ids[t.Set] = true
		if t.Arm == "A" {
			setA = append(setA, r)
		} else {
			setB = append(setB, r)
		}
	}
	if len(ids) > 1 {
		return nil, nil, wrongUsage("name the directory of one ab", "these are the runs of %d abs", len(ids))
	}
	if len(setA) == 0 || len(setB) == 0 {
		return nil, nil, wrongUsage("let sixnines ab finish at least one pair", "all %d runs are on one side of the ab", len(runs))
	}
	return setA, setB, nil
}

func (env *Env) bothSets(namesA, namesB []string) (setA, setB []*result.Run, err error) {
	if setA, err = env.loadSet(namesA); err != nil {
		return nil, nil, err
	}
	if setB, err = env.loadSet(namesB); err != nil {
		return nil, nil, err
	}
	for i, set := range [][]*result.Run{setA, setB} {
		arms := map[string]bool{}
		for _, r := range set {
			if t := r.Header.Trial; t != nil && t.Kind == result.TrialAB {
				arms[t.Arm] = true
			}
		}
		if len(arms) > 1 {
			return nil, nil, wrongUsage("name only the directory of the ab, or the runs of one arm, such as DIR/*-A.jsonl",
				"set %s holds both arms of an ab", string(rune('A'+i)))
		}
	}
	return setA, setB, nil
}

// loadSet loads files, the results in directories, and what patterns match.
func (env *Env) loadSet(names []string) ([]*result.Run, error) {
	var files []string
	for _, name := range names {
		found, err := env.resultsAt(name)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return env.loadFiles(files)
}

// resultsAt returns the result files that a name stands for.
func (env *Env) resultsAt(name string) ([]string, error) {
	info, err := os.Stat(env.path(name))
	switch {
	case err == nil && info.IsDir():
		return env.oneSeries(name)
	case err == nil || !strings.ContainsAny(name, "*?["):
		return []string{name}, nil // if it does not exist, loading it explains that
	}
	matches, err := filepath.Glob(env.path(name))
	if err != nil {
		return nil, wrongUsage("give the name of a file, or correct the pattern", "%q is not a pattern: %w", name, err)
	}
	var files []string
	for _, m := range matches {
		if !isResult(m) {
			continue
		}
		if env.Dir != "" && !filepath.IsAbs(name) {
			if rel, err := filepath.Rel(env.Dir, m); err == nil {
				m = rel
			}
		}
		files = append(files, m)
	}
	if len(files) == 0 {
		return nil, wrongUsage("sixnines run writes results, by default into results/", "no result matches %q", name)
	}
	return files, nil
}

// oneSeries returns the results in a directory; if it holds none, those of the only series
// below it, where run --repeat --out DIR and ab write them. Several series are an error.
func (env *Env) oneSeries(dir string) ([]string, error) {
	files, err := env.resultsIn([]string{dir})
	if err != nil {
		return nil, err
	}
	below := func(file string) bool { return filepath.Dir(file) != filepath.Clean(dir) }
	if own := slices.DeleteFunc(slices.Clone(files), below); len(own) > 0 {
		return own, nil
	}
	var series []string
	for _, f := range files {
		if d := filepath.Dir(f); !slices.Contains(series, d) {
			series = append(series, d)
		}
	}
	if len(series) > 1 {
		return nil, wrongUsage("name one of them, or all of them as one set with "+filepath.Join(dir, "*"), "%s holds the results of %d series: %s", dir, len(series), few(series))
	}
	return files, nil
}

// few joins the first of many names.
func few(names []string) string {
	const most = 5
	if left := len(names) - most; left > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), left)
	}
	return strings.Join(names, ", ")
}

// resultsIn returns the result files that names stand for: for a directory all files in it
// and below it, since each series has its own directory.
func (env *Env) resultsIn(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if info, err := os.Stat(env.path(name)); err != nil || !info.IsDir() {
			found, err := env.resultsAt(name)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
			continue
		}
		before := len(files)
		err := fs.WalkDir(os.DirFS(env.path(name)), ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != "." && result.IsAgentsDir(path) { // each is of a part of a run, whose merged result is beside them
				return fs.SkipDir
			}
			if err != nil || !isResult(path) {
				return err
			}
			file := filepath.Join(name, filepath.FromSlash(path))
			// Links may lead to results; opening a pipe would wait for a writer.
			if info, err := os.Stat(env.path(file)); err == nil && !info.Mode().IsRegular() {
				return nil
			}
			files = append(files, file)
			return nil
		})
		if err != nil {
			return nil, failed("check the directory and its permissions", fmt.Errorf("look for results: %w", err))
		}
		if len(files) == before {
			return nil, noResults(name)
		}
	}
	return files, nil
}

// noResults is the error of a directory without any.
func noResults(dir string) error {
	return wrongUsage("sixnines run --out DIR writes results", "%s contains no results: no file name ends in .jsonl", dir)
}

func isResult(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.gz")
}
