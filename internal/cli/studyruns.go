package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
)

// studyFailures is how many runs of a system may fail in a row before its other cells
// are left out.
const studyFailures = 3

// studyRuns are the runs of a study.
type studyRuns struct {
	*series
	studyOptions
	planned  *studyPlan
	missing  map[string]study.Skipped   // by system: its broker is not here, or fails
	made     map[int]study.TrialOutcome // by trial
	found    *study.Outcome
	machine  []result.Fact  // of the last trial that was made
	row      map[string]int // by system: runs that failed, one after the other
	last     string         // the system of the last trial
	written  time.Time      // when the pages were written last
	foregone []string       // what it cannot decide
	before   int            // trials that there were when this run of the study began
}

// keep takes what a trial came to, without what is large.
func (s *studyRuns) keep(trial int, run *result.Run) {
	s.made[trial] = study.TrialOutcome{Round: s.Trials[trial].Round, File: s.Trials[trial].File, Run: study.Light(run)}
	s.machine = run.Parts()[0].Header.Machine
}

// cellOf returns the cell of a trial.
func (s *studyRuns) cellOf(t trials.Trial) *studyCell { return &s.planned.cells[t.Cell] }

// wanted reports whether a trial shall be made now: of two that are made at the same time both, or none.
func (s *studyRuns) wanted(t trials.Trial) bool {
	here := func(c *studyCell) bool { return c.chosen && s.missing[c.System.Name].Why == "" }
	other := s.planned.atOnceWith(t.Cell)
	return here(s.cellOf(t)) && (other < 0 || here(&s.planned.cells[other]))
}

// announce says what is going to happen, and how long it takes.
func (s *studyRuns) announce() {
	var left []trials.Place
	made := 0
	for _, t := range s.Trials {
		switch {
		case t.State == trials.Made:
			made++
		case t.State == trials.Refused:
		case s.wanted(t):
			left = append(left, trials.Place{Cell: t.Cell, Round: t.Round})
		}
	}
	s.note("%s, length %s", s.planned.study.Title, s.length)
	for _, c := range s.planned.cells {
		if x := s.missing[c.System.Name]; c.chosen && x.Why != "" {
			s.sayMissing(x)
		}
	}
	if made > 0 {
		s.note("%s of %d already made", spell.Plural(made, "trial"), len(s.Trials))
	}
	if s.Other() {
		s.note("they were made by version %s: the pages are rewritten, and no rounds are added; results in %s", s.Series.Tool, s.dir)
		return
	}
	for _, text := range s.foregone {
		s.note("%s", text)
	}
	s.note("%s; results in %s", s.planned.estimate(left, s.replace), s.dir)
}

// sayMissing says once that a system is left out.
func (s *studyRuns) sayMissing(x study.Skipped) {
	if s.row[x.System] < studyFailures {
		s.row[x.System] = studyFailures
		s.note("%s is left out: %s; %s", x.System, x.Why, x.How)
	}
}

// one makes one trial.
func (s *studyRuns) one(turn *trials.Turn) (trials.State, error) {
	c := s.ready(turn)
	if b, ok := c.Bench(); ok {
		return s.oneBench(turn, b, whereOf(turn))
	}
	return s.ended(turn)(s.makeCell(turn, c.Rounds))
}

// ready prepares a trial, and returns its cell.
func (s *studyRuns) ready(turn *trials.Turn) *studyCell {
	c := s.cellOf(turn.Trial)
	s.writeBetween(c.System.Name)
	if !c.managed {
		turn.Keeper.Stop("a cell between them has no broker of ours")
	}
	return c
}

// ended takes what a trial came to.
func (s *studyRuns) ended(turn *trials.Turn) func(*result.Run, trials.State, error) (trials.State, error) {
	return func(run *result.Run, state trials.State, err error) (trials.State, error) {
		system := s.cellOf(turn.Trial).System.Name
		switch {
		case state == trials.Made:
			s.row[system] = 0
			s.keep(turn.Number-1, run)
		case err == nil:
		case errors.Is(err, driver.ErrUnsupported) && !s.Worked(turn.Trial.Cell): // what a broker did once it does
			s.row[system] = 0
			state = trials.Refused // which the line on the screen has said
		default:
			if s.row[system]++; s.row[system] == studyFailures {
				s.missing[system] = study.Skipped{System: system, Why: fmt.Sprintf("%d runs failed in a row, the last one: %s", studyFailures, oneLine(err.Error()))}
				s.note("%s is left out: %d runs failed in a row", system, studyFailures)
			}
		}
		return state, err
	}
}

// command is the one that makes these cells of the study again, or all, without the
// addresses, which may hold a login.
func (s *studyRuns) command(only ...string) string {
	words := []string{"sixnines study run", s.arg}
	if s.broker != "" {
		words = append(words, "--broker "+s.broker)
	}
	if s.length != study.Default {
		words = append(words, "--"+s.length)
	}
	if s.design != "" {
		words = append(words, "--design "+s.design)
	}
	for _, x := range only {
		words = append(words, "--only '"+x+"'")
	}
	for _, x := range s.planned.study.Systems {
		if s.planned.urls[x.Name] != "" {
			words = append(words, "--url "+x.Name+"=…")
		}
	}
	return strings.Join(words, " ")
}

// goOn is the command that makes what is missing of the study in a directory.
func (s *studyRuns) goOn(dir string) string { return s.command(s.only...) + resumed(dir) }

func resumed(dir string) string { return " --resume " + dir }

// records are the trials of all cells so far.
func (s *studyRuns) records() *study.Outcome {
	o := &study.Outcome{Study: s.planned.study, Length: s.length, Command: s.command(s.only...), Tool: s.app.Tool, WrittenBy: s.app.Tool, Machine: s.machine,
		Cells: each(s.planned.cells, func(c studyCell) study.CellOutcome { return study.CellOutcome{Cell: c.Cell} })}
	if s.Other() {
		o.Tool = result.Tool{Name: s.app.Tool.Name, Version: s.Series.Tool}
	}
	for i, t := range s.Trials {
		made, is := s.made[i]
		switch {
		case is && t.State == trials.Made: // not the half of a pair that is made again
			o.Made++
			if t.Began != nil && (o.Began.IsZero() || t.Began.Before(o.Began)) {
				o.Began = *t.Began
			}
			if t.Ended != nil && t.Ended.After(o.Ended) {
				o.Ended = *t.Ended
			}
		case t.State == trials.Failed:
			o.Failed++
			made = study.TrialOutcome{Round: t.Round, File: t.File, Why: t.Error}
		case t.State == trials.Refused:
			o.Refused++
			made = study.TrialOutcome{Round: t.Round, File: t.File, Why: t.Error, Refused: true}
		case t.State == trials.Unneeded:
			o.Unneeded++
			o.Cells[t.Cell].Unneeded++
			continue
		case !s.wanted(t):
			continue
		default:
			made = study.TrialOutcome{Round: t.Round, File: t.File}
		}
		o.Planned++
		made.Attempts = t.Attempts
		o.Cells[t.Cell].Trials = append(o.Cells[t.Cell].Trials, made)
	}
	for i := range o.Cells {
		slices.SortFunc(o.Cells[i].Trials, func(x, y study.TrialOutcome) int { return x.Round - y.Round })
	}
	o.PairRounds()
	return o
}

// outcome is what the study came to so far. Its commands name the directory as given:
// pages, which are passed on, have its last part only.
func (s *studyRuns) outcome(dir string) *study.Outcome {
	goOn := s.goOn(dir)
	o := s.records()
	began := map[string]bool{} // systems that have a run
	for i := range o.Cells {
		c := &o.Cells[i]
		began[c.Cell.System.Name] = began[c.Cell.System.Name] || slices.ContainsFunc(c.Trials, func(t study.TrialOutcome) bool { return t.Made() })
	}
	for _, x := range s.planned.study.Systems {
		of := func(c studyCell) bool { return c.System.Name == x.Name }
		switch {
		case began[x.Name] || !slices.ContainsFunc(s.planned.cells, of):
		case s.missing[x.Name].Why != "":
			skipped := s.missing[x.Name]
			if skipped.How == "" {
				skipped.How, skipped.Again = goOn+" tries again", true
			}
			o.Skipped = append(o.Skipped, skipped)
		case !slices.ContainsFunc(s.planned.cells, func(c studyCell) bool { return of(c) && c.chosen }):
			o.Skipped = append(o.Skipped, study.Skipped{System: x.Name, Why: "left out by --only", How: s.command() + resumed(dir)})
		}
	}
	o.More, o.Rest = goOn, s.command()+resumed(dir)
	switch {
	case o.Made+o.Refused < o.Planned:
		o.GoOn = goOn
	case !s.Complete(): // what was chosen is made: the others are missing
		o.GoOn = o.Rest
	}
	o.Conclusions = study.Decide(o)
	return o
}

// conclude decides the conclusions, if a trial was made.
func (s *studyRuns) conclude(ended error) (something bool, err error) {
	if isUsage(ended) && s.Count(trials.Failed) == 0 {
		return false, ended
	}
	if len(s.made) > 0 {
		s.found = s.outcome(s.dir)
		return true, nil
	}
	if failures := cmp.Or(s.failures(trials.Failed), s.failures(trials.Refused)); failures != nil && ended == nil {
		ended = s.failedTrials(failures)
	}
	return false, s.nothing(ended, "a trial", study.FileName)
}

// show prints the conclusions, writes the pages, and decides on the exit code.
func (s *studyRuns) show(ended error) error {
	o := s.found
	if err := s.print(o); err != nil {
		return failed("the results are in "+s.dir, fmt.Errorf("print the study: %w", err))
	}
	if err := s.write(s.outcome(filepath.Base(s.dir))); err != nil {
		return err
	}
	s.note("results %s", s.dir)
	s.note("report  %s", filepath.Join(s.dir, studyPage))
	if o.GoOn != "" {
		s.note("%d of %s were made; %s continues", o.Made, spell.Plural(o.Planned, "trial"), o.GoOn)
	}
	if ended = cmp.Or(ended, s.failures(trials.Failed)); ended != nil {
		return s.failedTrials(ended)
	}
	var t tally
	t.conclusions(o.Conclusions)
	return s.passing.end(t)
}

// failedTrials says how the trials that failed are made again.
func (s *studyRuns) failedTrials(err error) error {
	return failed(s.goOn(s.dir)+" repeats them; manifest.json there has the errors", err)
}

// studyObject is the JSON form of what a study came to.
type studyObject struct {
	Directory   string            `json:"directory"`
	Study       string            `json:"study"`
	Length      string            `json:"length"`
	Planned     int               `json:"planned"`
	Made        int               `json:"made"`
	Failed      int               `json:"failed,omitempty"`
	Refused     int               `json:"refused,omitempty"`  // of what the broker does not do
	Unneeded    int               `json:"unneeded,omitempty"` // further trials, whose cells' tests are all decided
	Skipped     []study.Skipped   `json:"skipped"`
	GoOn        string            `json:"go_on,omitempty"`
	Cells       []studyCellObject `json:"cells"`
	Conclusions []study.Decision  `json:"conclusions"`
}

// studyCellObject is a cell with its figures over the rounds.
type studyCellObject struct {
	Cell    string                     `json:"cell"`
	Beside  string                     `json:"beside,omitempty"` // the cell that ran at the same time
	Made    int                        `json:"made"`
	Files   []string                   `json:"files"`
	Figures map[string]studyOverObject `json:"figures"` // that there are
}

// studyOverObject is [study.Over].
type studyOverObject struct {
	Value   float64    `json:"value"`
	Unit    study.Unit `json:"unit"`
	Low     *float64   `json:"low,omitempty"`
	High    *float64   `json:"high,omitempty"`
	AtLeast bool       `json:"at_least,omitempty"`
	Rounds  int        `json:"rounds"`
	Blocked string     `json:"blocked,omitempty"`
}

// object is the outcome in JSON.
func (s *studyRuns) object(o *study.Outcome) studyObject {
	object := studyObject{Directory: s.dir, Study: o.Study.Name, Length: o.Length, Planned: o.Planned, Made: o.Made, Failed: o.Failed, Refused: o.Refused, Unneeded: o.Unneeded, GoOn: o.GoOn,
		Skipped: append([]study.Skipped{}, o.Skipped...), Cells: []studyCellObject{}, Conclusions: o.Conclusions}
	for i := range o.Cells {
		c := &o.Cells[i]
		row := studyCellObject{Cell: c.Cell.Name, Files: []string{}, Figures: map[string]studyOverObject{}}
		if how, _ := o.Together(c); how == result.DesignBeside {
			row.Beside = c.Cell.Beside
		}
		for _, t := range c.Trials {
			if t.Made() {
				row.Made++
				row.Files = append(row.Files, t.File)
			}
		}
		for _, name := range []string{"p50", "p90", "p99", "p99.9", "p99.99", "p99.9999", "rate.sent", "rate.received", "bench.op",
			"outside.p50", "outside.p99", "unavailable", "recovered", "lost", "lost.oldest", "acknowledged", "duplicated"} {
			over := study.ReadRounds(c, name, "", "")
			if over.Rounds == 0 {
				continue
			}
			x := studyOverObject{Value: over.Value, Unit: over.Unit, AtLeast: over.AtLeast, Rounds: over.Rounds, Blocked: over.Blocked}
			if over.Bounded {
				x.Low = &over.Low
				if !math.IsInf(over.High, 0) { // which JSON has no number for
					x.High = &over.High
				}
			}
			row.Figures[name] = x
		}
		object.Cells = append(object.Cells, row)
	}
	return object
}

// print prints on stdout what the study came to.
func (s *studyRuns) print(o *study.Outcome) error {
	if s.json {
		return s.writeJSON(s.object(o))
	}
	return report.StudyTerminal(s.Stdout, o, s.reportOptions(s.Stdout))
}
