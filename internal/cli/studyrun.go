package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

func (a *app) studyRunCommand() *cobra.Command {
	var o studyOptions
	cmd := &cobra.Command{
		Use:   "run STUDY [flags]",
		Short: "Run a study and decide which conclusions hold",
		Long: `Run the cells of a study, which repeats a published benchmark, in rounds. Each round
takes the brokers, and for each broker its cells, in random order, those that are
compared near to each other; every second round reverses the order of the one before.
STUDY is the name of a built-in study, or the file of your own.

Where a study says so, the two cells that a claim compares run at the same time, each with
a broker of its own, from one schedule, as the runs of sixnines ab do. A pilot of each
such pair decides: cells that disturb each other are made one after the other, and so are
those of fewer than six rounds. --design chooses without a pilot.

The expected time is printed first: with filling and draining, starts of brokers, and at
most what unusable rounds add. --quick gives each cell one round, which decides no
comparison. The default gives six or more, with windows as short as the figures allow.
Where the study names looks, a cell whose conclusions are decided gets no more rounds.
--full makes what a report worth citing needs, and takes hours.

An INVALID run is not counted, and a run that is suspect at a figure that a conclusion
needs decides nothing, unless that is a rate, and pauses, steal or throttling took at
most 2 % of the window. If there is such a run, its cell and the cells that it is
compared with get another round after the others, at most --replace rounds; a cell
without any usable run only if --replace is given. Only verdicts decide this, never the
figures. If a busy machine needs more, --resume of the finished study allows as many
rounds again.

If a broker is not installed, the study reports how to install it, runs the rest, and
leaves its cells empty. A cell that fails is left empty too. --only runs some of the
cells; --resume with another --only runs the others.

Results go into one new directory, with the study's page, its tables as Markdown and
CSV, study.yaml, and manifest.json, which records what was measured when and by which
broker. Ctrl-C ends the study after the current run, or at once if that run's window has
not begun. --resume DIR with the same command continues it, also after a crash.

Exit codes: 0 all conclusions agree; 1 failure, including single cells; 2 wrong usage;
3 a conclusion disagrees or is not decidable here (--allow-undecided: disagrees only).`,
		Example: `  sixnines study run message-queue-latency --quick
  sixnines study run message-queue-latency --only 'nats,redis/1KiB-*'
  sixnines study run message-queue-latency --url nats=nats://elsewhere:4222 --only nats
  sixnines study run versions --broker kafka=3.9.1,4.3.1
  sixnines study run mine/study.yaml --dry-run
  sixnines study run message-queue-latency --resume results/message-queue-latency-20261122T140200Z-1f2e3d4c`,
		Args:              counted(1, 1, "one STUDY"),
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.arg = args[0]
			s := &studyRuns{studyOptions: o}
			if o.dryRun {
				return a.exporting(cmd.Context(), o.outputOptions, func() error { return a.listCells(cmd.Context(), s) })
			}
			return a.experiment(cmd.Context(), o.outputOptions, s)
		},
	}
	what := sectionOf("Study", func(f *pflag.FlagSet) {
		f.BoolVar(&o.quick, "quick", false, "run one short round of each cell")
		f.BoolVar(&o.full, "full", false, "run as long as a report worth citing needs")
		f.StringSliceVar(&o.only, "only", nil, "run only these `CELLS`: a system, or a pattern such as nats/* or */1KiB-3000; repeatable")
		f.StringVar(&o.broker, "broker", "", "for the study versions: the broker and versions to compare, `PRODUCT=VERSION,VERSION…`, such as kafka=3.9.1,4.3.1; a driver may replace the product")
		f.StringArrayVar(&o.urls, "url", nil, "use your own broker as a system of the study: `SYSTEM=URL`; repeatable")
		f.StringVar(&o.design, "design", "", "make the pairs of cells that the study has by this `DESIGN`: beside (at the same time) or apart; default: as a pilot of each pair chooses")
		f.BoolVar(&o.dryRun, "dry-run", false, "list the cells and how long they take; run nothing")
		f.IntVar(&o.replace, "replace", -1, "add at most `N` rounds to a cell to replace unusable ones; default: half of its rounds, with --quick none; 0: none")
		resumeFlag(f, &o.resume, "study", sameCommand)
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		o.passing.flag(f)
		jsonFlag(f, &o.json, "one JSON object, with --dry-run an array of the cells,")
		o.outputFlags(f, seriesOut)
	})
	a.take(cmd, what, o.fleet.section(), output)
	completeFlag(cmd, "design", oneOf(studyDesigns()...))
	completeFlag(cmd, "only", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			if s, err := a.studyOf(args[0]); err == nil {
				return systemNames(s), cobra.ShellCompDirectiveNoFileComp
			}
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// studyDesigns are the values of --design of a study.
func studyDesigns() []string {
	return []string{string(result.DesignBeside), string(result.DesignApart)}
}

// check refuses a study that cannot be run, and plans its cells.
func (s *studyRuns) check(ctx context.Context, a *app) error {
	switch {
	case s.replace > mostRepeats:
		return wrongUsage(fmt.Sprintf("--replace takes up to %d", mostRepeats), "%s to replace INVALID ones are too many", spell.Plural(s.replace, "round"))
	case s.design != "" && !slices.Contains(studyDesigns(), s.design):
		return chooseOne("--design", s.design, studyDesigns())
	case s.quick && s.full:
		return wrongUsage("leave one of them out", "--quick and --full together")
	case s.quick:
		s.length = study.Quick
	case s.full:
		s.length = study.Full
	default:
		s.length = study.Default
	}
	st, err := a.studyOf(s.arg)
	if err != nil {
		return err
	}
	if st, s.broker, err = a.argued(st, s.broker); err != nil {
		return err
	}
	if s.planned, err = a.planStudy(st, s.studyOptions); err != nil {
		return err
	}
	if s.foregone, err = s.planned.foregone(); err != nil {
		return err
	}
	s.missing = a.missingProducts(ctx, s.planned)
	if err := a.fleetStudy(s.planned); err != nil {
		return err
	}
	return s.pairsHere(a)
}

// plan refuses a study if none of its systems is here, or not the one that was asked for.
func (s *studyRuns) plan() (d design, err error) {
	if !slices.ContainsFunc(s.planned.cells, func(c studyCell) bool { return c.chosen && s.missing[c.System.Name].Why == "" }) {
		none := s.missing[s.planned.firstChosen()]
		return d, failed(none.How, errors.New("none of the systems is available: "+none.Why))
	}
	for _, c := range s.planned.cells {
		d.rounds, d.cells = max(d.rounds, c.Rounds), append(d.cells, c.cell)
		if x := s.missing[c.System.Name]; s.broker != "" && c.chosen && x.Why != "" {
			return d, failed(x.How, errors.New(x.Why)) // nothing to compare with
		}
	}
	d.name, d.kind, d.seed = resultName(&scenario.Scenario{Name: s.planned.study.Name}, time.Now()), result.TrialStudy, randomSeed()
	d.places, d.pairs, d.file = s.planned.places, s.planned.paired, s.planned.fileOf
	return d, nil
}

// begin writes the study down beside its results.
func (s *studyRuns) begin(of *series) error {
	s.planned.paired = of.Pairs
	s.series, s.made, s.row, s.before = of, map[int]study.TrialOutcome{}, map[string]int{}, len(of.Trials)
	st, file := s.planned.study, filepath.Join(s.dir, study.FileName)
	if err := s.sameConclusions(file, s.dir, st); err != nil {
		return err
	}
	if err := s.writeNew(file, true, func(w io.Writer) error { _, err := w.Write(st.Text()); return err }); err != nil {
		return failed(fileHint(err), fmt.Errorf("write the study: %w", err))
	}
	if err := errors.Join(s.load(s.keep), s.loadBenches()); err != nil {
		return err
	}
	if !s.Other() {
		if err := s.Halves(s.isPair); err != nil {
			return err
		}
	}
	return s.look()
}

func (s *studyRuns) make(ctx context.Context) error {
	s.announce()
	if !s.Other() {
		if done, err := s.arrange(ctx); !done || err != nil {
			return err
		}
	}
	return s.makeAll(ctx, trials.Options{Failures: len(s.Trials) + 1, Wanted: s.wanted, Make: s.one, After: s.after, More: s.again,
		Pair: s.isPair, Both: s.both})
}

// sameConclusions refuses to go on with a study whose conclusions, or tests of them, are
// others than those with which it was begun: what decides is fixed before there are
// results. Its texts, tables and charts may change.
func (env *Env) sameConclusions(file, dir string, st *study.Study) error {
	text, err := os.ReadFile(env.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is new
	}
	if err != nil {
		return failed("check the file and its permissions", fmt.Errorf("read the study: %w", err))
	}
	begun, err := study.Parse(file, text)
	if err != nil {
		return wrongUsage("remove study.yaml there; it is then written again", "the study in %s is damaged: %w", dir, err)
	}
	different := ""
	switch {
	case !reflect.DeepEqual(begun.Conclusions, st.Conclusions):
		different = "conclusions or different tests of them"
	case !reflect.DeepEqual(looksOf(begun), looksOf(st)):
		different = "looks, after which a cell that is decided gets no more rounds"
	default:
		return nil
	}
	return wrongUsage("continue with sixnines study run "+file+", or leave --resume out to start over", "%s was begun with different %s", dir, different)
}

// firstChosen is the system of the first cell that is chosen.
func (p *studyPlan) firstChosen() string {
	for _, c := range p.cells {
		if c.chosen {
			return c.System.Name
		}
	}
	return ""
}

// missingProducts says of the systems whose broker, or whose means for actions, are not here
// why and how they could be.
func (env *Env) missingProducts(ctx context.Context, p *studyPlan) map[string]study.Skipped {
	found := map[string]error{}
	missing := map[string]study.Skipped{}
	h, _ := env.home() // without one, what is built in or on PATH runs all the same
	for _, c := range p.cells {
		if missing[c.System.Name].Why != "" {
			continue
		}
		if c.chosen && c.lacks != nil {
			skipped := study.Skipped{System: c.System.Name, Why: oneLine(c.lacks.Error())}
			var f *fault
			if errors.As(c.lacks, &f) {
				skipped.How = f.hint
			}
			missing[c.System.Name] = skipped
			continue
		}
		if x := notBuilt(ctx, c); x != nil {
			missing[c.System.Name] = *x
			continue
		}
		if c.product == nil {
			continue
		}
		err, known := found[c.product.Name]
		if !known {
			_, err = c.product.Find(ctx, h)
			found[c.product.Name] = err
		}
		if err == nil {
			continue
		}
		skipped := study.Skipped{System: c.System.Name, Why: oneLine(err.Error()), How: "sixnines broker install " + c.product.Name}
		if errors.Is(err, brokers.ErrNotInstalled) {
			skipped.Why = c.product.Name + " is not installed"
		}
		missing[c.System.Name] = skipped
	}
	return missing
}

// notBuilt says why the driver of a system without a broker is not in this build, nil
// if it is.
func notBuilt(ctx context.Context, c studyCell) *study.Skipped {
	if !c.entry.Capabilities.Brokerless {
		return nil
	}
	session, err := c.entry.Driver.Open(ctx, driver.Target{URL: c.entry.DefaultURL, Options: c.scenario.Target.Options})
	if err == nil {
		session.Close(ctx) // nothing is connected yet
		return nil
	}
	var absent *driver.AbsentError
	if !errors.As(err, &absent) {
		return nil // the run will say what it is
	}
	return &study.Skipped{System: c.System.Name, Why: absent.Why(), How: absent.Build}
}

// plannedCell is a cell of a list, in JSON.
type plannedCell struct {
	Cell    string `json:"cell"`
	Title   string `json:"title"`
	Rounds  int    `json:"rounds"`
	Looks   []int  `json:"looks,omitempty"` // after how many rounds it may need no more
	TakesNs int64  `json:"takes_ns"`        // a round, without connecting and starting
	Chosen  bool   `json:"chosen"`
	Beside  string `json:"beside,omitempty"`  // the cell with which it is made at the same time, if a pilot does not forbid it
	Skipped string `json:"skipped,omitempty"` // why it cannot be made here
}

// listCells lists the cells of a study that is not run.
func (a *app) listCells(ctx context.Context, s *studyRuns) error {
	if err := s.check(ctx, a); err != nil {
		return err
	}
	p, missing := s.planned, s.missing
	rows := []plannedCell{}
	width := 0
	for i, c := range p.cells {
		row := plannedCell{Cell: c.Name, Title: c.System.Title + ", " + c.Load.Title, Rounds: c.Rounds, Looks: c.Looks, TakesNs: int64(c.takes()), Chosen: c.chosen}
		if p.atOnceWith(i) >= 0 {
			row.Beside = c.Beside
		}
		if x := missing[c.System.Name]; x.Why != "" {
			row.Skipped = x.Why + ": " + x.How
		}
		rows = append(rows, row)
		if c.chosen {
			width = max(width, len(c.Name))
		}
	}
	if s.json {
		return a.writeJSON(rows)
	}
	var b strings.Builder
	for _, r := range rows {
		if !r.Chosen {
			continue
		}
		note := ""
		if r.Beside != "" {
			note = ", at the same time as " + r.Beside
		}
		if r.Skipped != "" {
			note += "  (" + r.Skipped + ")"
		}
		rounds := spell.Plural(r.Rounds, "round")
		if len(r.Looks) > 0 {
			rounds = fmt.Sprintf("%d to %s", r.Looks[0], rounds)
		}
		fmt.Fprintf(&b, "%-*s  %s of %s%s\n", width, r.Cell, rounds, seconds(time.Duration(r.TakesNs)), note)
	}
	var wanted []trials.Place
	for _, at := range p.places {
		c := &p.cells[at.Cell]
		if c.chosen && missing[c.System.Name].Why == "" {
			wanted = append(wanted, at)
		}
	}
	for _, text := range s.foregone {
		fmt.Fprintln(&b, text)
	}
	fmt.Fprintln(&b, p.estimate(wanted, s.replace))
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}
