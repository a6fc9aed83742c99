package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/chaos"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// shrinkOptions are the flags of chaos shrink that are no part of a scenario.
type shrinkOptions struct {
	outputOptions
	tries int
	json  bool
}

func (a *app) shrinkCommand() *cobra.Command {
	var flags overrides
	var o shrinkOptions
	cmd := &cobra.Command{
		Use:   "shrink RESULT.jsonl | SCENARIO.yaml [flags]",
		Short: "Find the shortest timeline that loses acknowledged messages",
		Long: `Find a short timeline of actions that loses messages which the broker had acknowledged.
It is a part of the timeline of a result or a scenario. The command repeats the run with
fewer and fewer of the actions, each time with a new broker if sixnines starts it. A
timeline that loses nothing in --tries runs counts as harmless. At the end, leaving out
any remaining action makes the timeline harmless.

Flags override the scenario, as for sixnines run. Results contain no passwords, so give
logins again. --resume continues a search. The results are in one directory, with the
scenario that was found as shortest.yaml.

Exit codes: 0 found; 1 failure; 2 wrong usage; 3 the whole timeline lost nothing, or the
search was stopped before a run lost something.`,
		Example: `  sixnines run redis --chaos 7 --duration 60s
  sixnines chaos shrink results/redis-deliver-20261126T140200Z-1f2e3d4c.jsonl
  sixnines chaos shrink faults.yaml --tries 5 --json`,
		Args: counted(1, 1, "one RESULT.jsonl or SCENARIO.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.experiment(cmd.Context(), o.outputOptions, &shrinkRun{shrinkOptions: o, from: args[0], flags: flags.list})
		},
	}
	search := sectionOf("Search", func(f *pflag.FlagSet) {
		f.IntVar(&o.tries, "tries", 3, "a timeline that loses nothing in `N` runs counts as harmless")
		resumeFlag(f, &o.resume, "search", sameCommand)
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		jsonFlag(f, &o.json, "the timeline and its trials as one JSON object")
		o.outputFlags(f, seriesOut)
	})
	a.take(cmd, append(append([]section{search}, scenarioFlags(&flags)...), output)...)
	return cmd
}

// shrinkRun is a search for the shortest timeline.
type shrinkRun struct {
	*series
	shrinkOptions
	from  string // result or scenario
	flags []scenario.Override
	cell
	keeper trials.Keeper
	all    []scenario.Action // of the whole timeline
	tried  []shrinkTrial
	left   []int // of all: those that the shortest timeline has; nil: the whole one loses nothing
}

// shrinkTrial is a run of a part of the timeline.
type shrinkTrial struct {
	File    string `json:"file"`
	Actions []int  `json:"actions"` // their places in the whole timeline, from 1
	Lost    int64  `json:"lost_acked"`
}

// check reads the scenario, which must have actions.
func (x *shrinkRun) check(_ context.Context, a *app) error {
	if x.tries < 1 || x.tries > 100 {
		return wrongUsage("3 are usual", "--tries cannot be %d: it is 1 to 100", x.tries)
	}
	s, err := a.scenarioIn(x.from)
	if err != nil {
		return err
	}
	e, err := a.complete(s, x.flags)
	if err != nil {
		return err
	}
	if len(s.Actions) == 0 {
		return wrongUsage("name a result of sixnines run --chaos SEED", "%s has no actions to leave out", x.from)
	}
	if _, err := planOfAll(s, e); err != nil {
		return err
	}
	a.noteExposed(x.flags, e)
	x.cell, x.all = newCell(s, e), s.Actions
	x.Name, x.label, x.Fresh = "shrink", "shrink", true
	x.Digest = strconv.Itoa(x.tries)
	return nil
}

// scenarioIn returns the scenario of a file, which is a result or a scenario.
func (a *app) scenarioIn(file string) (*scenario.Scenario, error) {
	if filepath.Ext(file) != ".jsonl" {
		return a.named(file)
	}
	run, err := a.loadRun(file)
	if err != nil {
		return nil, err
	}
	if len(run.Parts()) > 1 {
		return nil, wrongUsage("name the scenario file of that run", "%s has several workloads: it holds one scenario for each, not the common one", file)
	}
	s, err := scenario.FromJSON(file, run.Header.Scenario)
	if err != nil {
		return nil, &fault{exitUsage, err, scenarioHint}
	}
	return s, nil
}

// plan has no trials: the search chooses them as it goes.
func (x *shrinkRun) plan() (design, error) {
	return design{name: "shrink-" + resultName(x.scenario, time.Now()), kind: result.TrialShrink, seed: x.scenario.Seed, cells: []cell{x.cell}}, nil
}

// begin loads nothing: a result is read when the search reaches its trial.
func (x *shrinkRun) begin(s *series) error {
	x.series = s
	return nil
}

// errSearchEnded ends the search with what is known, and is no error of the command.
var errSearchEnded = errors.New("stopped")

func (x *shrinkRun) make(ctx context.Context) (err error) {
	x.stops = x.seriesStops(ctx)
	defer x.stops.stop()
	defer x.keeper.Stop("")
	places := make([]int, len(x.all))
	for i := range places {
		places[i] = i
	}
	x.left, err = chaos.Shrink(places, x.loses)
	return err
}

// loses makes runs of a part of the timeline until one loses acknowledged messages.
func (x *shrinkRun) loses(part []int) (bool, error) {
	for try := range x.tries {
		lost, err := x.lost(part, try)
		if err != nil || lost > 0 {
			return lost > 0, err
		}
	}
	return false, nil
}

// lost makes a run of a part of the timeline, or reads the result of the one that was made before, and
// returns how many acknowledged messages it lost.
func (x *shrinkRun) lost(part []int, try int) (int64, error) {
	numbers := make([]int, len(part)) // from 1
	for i, k := range part {
		numbers[i] = k + 1
	}
	trial := len(x.tried)
	file := fmt.Sprintf("%03d-%s-try%d.jsonl", trial+1, cmp.Or(strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", "."), "[]"), "none"), try+1)
	run, err := x.earlier(trial, file)
	if err != nil {
		return 0, err
	}
	if run == nil {
		if run, err = x.run(part, trial, file); err != nil {
			return 0, err
		}
	}
	lost, err := lostOf(run)
	if err != nil {
		return 0, failed("the result in "+filepath.Join(x.dir, file)+" says more", fmt.Errorf("trial %d decides nothing: %w", trial+1, err))
	}
	x.tried = append(x.tried, shrinkTrial{File: file, Actions: numbers, Lost: lost})
	x.note("trial %d, %s: %s lost", trial+1, plural(len(part), "action"), plural(int(lost), "acknowledged message"))
	return lost, nil
}

// lostOf returns how many acknowledged messages a run lost, as far as that is known. A run in which nothing
// was acknowledged, or that does not know what the broker keeps, cannot show that it lost none.
func lostOf(run *result.Run) (lost int64, err error) {
	var acked, doubt int64
	for _, p := range run.Parts() {
		least, most := p.LostAcked()
		acked, lost, doubt = acked+p.Counters.Acked, lost+least, doubt+most-least
		if b := p.ReadBack; b != nil && most > least && b.Why != "" {
			err = fmt.Errorf("the broker's messages could not be read back: %s", b.Why)
		}
	}
	switch {
	case lost > 0:
		return lost, nil
	case acked == 0:
		return 0, errors.New("no message was acknowledged, so none could be lost")
	case err == nil && doubt > 0:
		err = fmt.Errorf("it is not known whether %s are lost", plural(int(doubt), "acknowledged message"))
	}
	return 0, err
}

// run makes a run of a part of the timeline.
func (x *shrinkRun) run(part []int, trial int, file string) (run *result.Run, err error) {
	if x.stops.ending() {
		return nil, errSearchEnded
	}
	x.keeper.Stop("each trial starts its own")
	s := *x.scenario
	s.Actions = x.of(part)
	if can := x.entry.With(s.Target.Options); !s.CanLose() && !can.ReadsBack {
		s.Phases.ReadBack = 0 // which a timeline that can lose messages has, and no broker of this kind keeps any
	}
	state, err := x.Next(trial, trials.Trial{Round: 1, Seed: s.Seed, File: file}, &x.keeper,
		func(turn *trials.Turn) (state trials.State, err error) {
			run, state, err = x.measured(turn, trialSpec{scenario: &s, where: fmt.Sprintf("trial %d", trial+1),
				header: result.Trial{Index: trial + 1}, begin: fmt.Sprintf("trial %d: %s of %d", trial+1, plural(len(part), "action"), len(x.all))})
			return state, err
		})
	if state == trials.Planned || state == trials.Cut {
		return nil, errSearchEnded
	}
	return run, err
}

// of returns a part of the timeline.
func (x *shrinkRun) of(part []int) []scenario.Action {
	all := make([]scenario.Action, len(part))
	for i, k := range part {
		all[i] = x.all[k]
	}
	return all
}

func (x *shrinkRun) conclude(ended error) (something bool, err error) {
	if len(x.tried) > 0 {
		return true, nil
	}
	if errors.Is(ended, errSearchEnded) {
		ended = nil
	}
	return false, x.nothing(ended, "a trial")
}

// shrinkFormat and shrinkVersion identify the JSON form of what was found.
const (
	shrinkFormat  = "sixnines-shrink"
	shrinkVersion = 1
)

// shrinkObject is what was found, as JSON.
type shrinkObject struct {
	Directory string   `json:"directory"`
	Actions   []string `json:"actions"`  // of the shortest timeline that loses messages; null: none was found
	Of        int      `json:"of"`       // actions of the whole timeline
	Shortest  bool     `json:"shortest"` // none of them can be left out: the search was not stopped
	// Stopped says that the search was stopped: it may have found a shorter timeline or, without
	// actions, one at all.
	Stopped bool `json:"stopped"`
	// Trials are the runs in their order.
	Trials  []shrinkTrial `json:"trials"`
	Format  string        `json:"format"`
	Version int           `json:"version"`
}

// show prints the timeline, and decides on the exit code.
func (x *shrinkRun) show(ended error) error {
	stopped := errors.Is(ended, errSearchEnded)
	if stopped {
		ended = nil
	}
	found := x.left != nil
	s := *x.scenario
	s.Actions = x.of(x.left)
	shown := s.Redacted(x.entry.Secret)
	if found {
		text, err := shown.Encode()
		if err != nil {
			return fmt.Errorf("write the scenario down: %w", err)
		}
		write := func(w io.Writer) error { _, err := w.Write(text); return err }
		if err := x.writeNew(filepath.Join(x.dir, "shortest.yaml"), true, write); err != nil {
			return err
		}
	}
	object := shrinkObject{Directory: x.dir, Of: len(x.all), Shortest: found && !stopped && ended == nil, Stopped: stopped, Trials: x.tried, Format: shrinkFormat, Version: shrinkVersion}
	if found {
		object.Actions = []string{}
	}
	for _, a := range s.Actions {
		object.Actions = append(object.Actions, a.String())
	}
	if x.json {
		if err := x.writeJSON(object); err != nil {
			return err
		}
	} else if found && len(s.Actions) == 0 {
		fmt.Fprintln(x.Stdout, "acknowledged messages are lost even without any action")
	} else if found {
		fmt.Fprintf(x.Stdout, "%d of %s lose acknowledged messages:\n", len(s.Actions), plural(len(x.all), "action"))
		for _, text := range object.Actions {
			fmt.Fprintf(x.Stdout, "  - %s\n", text)
		}
	} else if !stopped {
		fmt.Fprintf(x.Stdout, "%s: nothing acknowledged was lost in %s\n", plural(len(x.all), "action"), plural(len(x.tried), "run"))
	}
	switch {
	case stopped && found:
		x.note("stopped: an even shorter timeline may lose messages; the same command with --resume %s continues", x.dir)
	case stopped:
		x.note("stopped: it is not decided whether the whole timeline loses messages; the same command with --resume %s continues", x.dir)
	}
	x.note("results %s", x.dir)
	if ended == nil && !found {
		return status(exitThreshold)
	}
	return ended
}
