package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/compare"
	"sixnines/internal/history"
	"sixnines/internal/report"
	"sixnines/result"
)

// historyOptions are the flags of history.
type historyOptions struct {
	by          string
	metric      string
	percentiles []string
	minEffect   percentFlag
	since       string
	gate        bool
	passing     passing
	json, full  bool
	html        string // file; empty: none
}

func (a *app) historyCommand() *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use:   "history DIR… [flags]",
		Short: "Follow results over commits, versions or days",
		Long: `Follow the figures of results over time: by commit (run --revision COMMIT), by version
of the broker, by day (UTC) or run by run. DIR is a result file, or a directory with
results in and below it.

Results are of one load if their scenarios agree in all but the seed and the address;
each load has its own history. The figure of a group, such as a commit, is the median of
its runs. A figure that is refused, a lower bound or of an OVERLOADED run ranks behind
every number. Runs that are INVALID, SUSPECT as a whole or were ended early are counted
and left out, as are those of an ab whose sides ran at once or in turn. A file that was
changed after it was written, as its seal shows, is INVALID.

A change is where the ranks of the groups before and after differ most, if they differ by
more than chance: if a load's figures do not change, it has a change in any of them with
a probability of at most 5 %. Its size has a 95 % interval. For two percentiles fewer than
ten groups cannot show a change, and the new level needs about four: the second bad commit
is never a change yet. For a faster answer compare with a baseline: sixnines ab.

--gate exits with 3 if a figure has become worse by --min-effect or more and has not come
back since, if there are too few groups to show a change, or if one of the latest three
groups has no figure. Once a change is accepted, --since COMMIT begins the history there.

Exit codes: 0 good; 1 failure; 2 wrong usage; 3 a change for the worse with --gate, or
not decided.`,
		Example: `  sixnines run scenario.yaml --revision $(git rev-parse --short HEAD) --out results
  sixnines history results --by commit --html history.html
  sixnines history results --by version --percentile 50,99.9
  sixnines history results --by commit --gate --min-effect 10% --since 3f2c1a`,
		Args: counted(1, -1, "result files or directories"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.history(args, o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.minEffect = percentFlag{share: compare.DefaultMinEffect, most: 10, flag: "--min-effect", example: "5%"}
	f.StringVar(&o.by, "by", string(history.ByDay), "group results `BY` "+strings.Join(bys(), ", "))
	f.StringVar(&o.metric, "metric", "", "follow `METRIC`, such as delivery.service; default: the first response time, or the throughput with rate: max")
	f.StringSliceVar(&o.percentiles, "percentile", []string{"50", "99"}, "follow these `PERCENTILES`; more of them make each change harder to show")
	f.StringVar(&o.since, "since", "", "begin with this `GROUP`, such as a commit: a change before it is accepted")
	f.BoolVar(&o.gate, "gate", false, "exit with 3 if a figure has become worse by more than --min-effect, or that cannot be decided")
	f.Var(&o.minEffect, "min-effect", "the smallest change for which a gate fails, such as 5%")
	o.passing.flag(f)
	f.BoolVar(&o.full, "full", false, "list all groups, not only the last 20")
	f.StringVar(&o.html, "html", "", "also write a page to `FILE`, which must not exist yet")
	jsonFlag(f, &o.json, "one JSON object")
	completeFlag(cmd, "by", oneOf(bys()...))
	completeFlag(cmd, "metric", oneOf(metricNames()...))
	completeFlag(cmd, "percentile", oneOf(result.Percentiles()...))
	return cmd
}

func bys() []string { return each(history.Bys(), func(b history.By) string { return string(b) }) }

// options checks the flags.
func (o *historyOptions) options(a *app) (history.Options, error) {
	out := history.Options{By: history.By(o.by), Metric: result.Metric(o.metric), MinEffect: o.minEffect.share, Since: o.since}
	switch {
	case !slices.Contains(bys(), o.by):
		return out, chooseOne("--by", o.by, bys())
	case o.metric != "" && !slices.Contains(metricNames(), o.metric):
		return out, chooseOne("--metric", o.metric, metricNames())
	case o.passing.allowUndecided && !o.gate:
		return out, wrongUsage("add --gate, or leave it out", "--allow-undecided needs --gate")
	}
	asked := each(o.percentiles, func(p string) result.Percentile { return result.Percentile(strings.TrimPrefix(p, "p")) })
	for _, p := range asked {
		if !slices.Contains(result.Percentiles(), p) {
			return out, chooseOne("--percentile", string(p), result.Percentiles())
		}
	}
	for _, p := range result.Percentiles() {
		if slices.Contains(asked, p) {
			out.Percentiles = append(out.Percentiles, p)
		}
	}
	if len(out.Percentiles) == 0 {
		return out, wrongUsage("name some, such as --percentile 50,99", "--percentile names none")
	}
	if o.html != "" {
		return out, a.pageProbe(o.html)
	}
	return out, nil
}

// history is a command line of history.
func (a *app) history(names []string, o historyOptions) error {
	options, err := o.options(a)
	if err != nil {
		return err
	}
	files, err := a.resultsIn(names)
	if err != nil {
		return err
	}
	var runs []*result.Run
	for _, file := range files {
		run, err := a.loadRun(file)
		if err != nil {
			return err
		}
		for _, p := range run.Parts() { // headers and summaries are enough, of hundreds of runs
			runs = append(runs, &result.Run{Path: file, Header: p.Header, Summary: p.Summary})
		}
	}
	all, err := history.Of(runs, options)
	if errors.Is(err, history.ErrInput) {
		return wrongUsage("run with --revision COMMIT to have results by commit, or choose --by "+strings.Join(bys(), ", "), "%w", err)
	} else if err != nil {
		return err
	}
	if o.json {
		err = report.HistoryJSON(a.Stdout, all)
	} else {
		opt := a.reportOptions(a.Stdout)
		opt.Full = o.full
		err = report.HistoryTerminal(a.Stdout, all, opt)
	}
	if err != nil {
		return failed("see sixnines history --help", fmt.Errorf("print the history: %w", err))
	}
	if o.html != "" {
		if err := a.writeNew(o.html, false, func(w io.Writer) error { return report.HistoryHTML(w, all, a.Tool.Name+" "+a.Tool.Version) }); err != nil {
			return failed("name another file with --html FILE", fmt.Errorf("write the page: %w", err))
		}
	}
	if !o.gate {
		return nil
	}
	return a.historyGate(all, o.passing)
}

// historyGate decides on the exit code by the changes.
func (a *app) historyGate(all []*history.History, p passing) error {
	worse, few, open := false, false, false
	for _, h := range all {
		for _, f := range h.Figures {
			few = few || f.Few()
			worse = worse || slices.ContainsFunc(f.Changes, func(c history.Change) bool { return c.Worse })
			open = open || f.Undecided()
		}
	}
	switch {
	case worse:
		return status(exitThreshold)
	case open && !few && !p.allowUndecided:
		return &fault{code: exitThreshold, cause: errors.New("the gate cannot be decided: one of the latest groups has no figure"),
			hint: "measure it again, or let it pass with --allow-undecided"}
	case open && !p.allowUndecided:
		return &fault{code: exitThreshold, cause: errors.New("the gate cannot be decided: a figure has too few groups to show a change"),
			hint: "collect more results, judge fewer percentiles with --percentile 99, or let it pass with --allow-undecided"}
	}
	return nil
}
