package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
)

const lookedText = `
name: looked
title: Looked
question: What stops?
story: [for a test]
base: {target: {driver: "null"}, phases: {duration: 1s}}
systems: [{name: a, title: A}, {name: b, title: B}, {name: c, title: C}, {name: d, title: D}]
loads: [{name: x, title: X}]
cells: [{systems: ["*"], loads: ["*"]}]
lengths: {quick: {rounds: 1}, default: {rounds: 12, looks: [8, 11]}, full: {rounds: 6}}
sections: [{title: All, conclusions: [clear, near]}]
conclusions:
  - {name: clear, claim: so, tests: [{kind: faster, a: a/x, b: b/x, figures: [p50]}]}
  - {name: near, claim: so, tests: [{kind: faster, a: b/x, b: c/x, figures: [p50]}]}
`

// lookedPlan plans that study.
func lookedPlan(t *testing.T) *studyPlan {
	t.Helper()
	st, err := study.Parse("looked.yaml", []byte(lookedText))
	if err != nil {
		t.Fatal(err)
	}
	p := &studyPlan{study: st, length: study.Default}
	cells, err := st.Cells(study.Default)
	if err != nil {
		t.Fatal(err)
	}
	var groups, rounds []int
	for i, c := range cells {
		p.cells = append(p.cells, studyCell{Cell: c, group: c.Name, chosen: true, cell: cell{scenario: scenarioOf(t, c)}})
		groups, rounds = append(groups, i), append(rounds, c.Rounds)
	}
	p.places = trials.Grouped(groups, rounds, p.pairs(), nil, 41)
	return p
}

// lookedRun is the result of a round of a cell of that study, INVALID if it is one of those.
func lookedRun(cell string, round int, invalid ...string) *result.Run {
	ns := map[string]float64{"a/x": 1e6, "b/x": 2e6, "c/x": 2e6, "d/x": 1e6}[cell] * (1 + 0.1*math.Sin(float64(round)*float64(cell[0])))
	v := result.Verdict{Status: result.Valid}
	if slices.Contains(invalid, fmt.Sprint(cell, " ", round)) {
		v = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Code: result.ReasonFrozen, Text: "frozen"}}}
	}
	return &result.Run{Header: result.Header{Pattern: "deliver"}, Metrics: map[result.Metric]*result.Merged{}, Summary: &result.Summary{Verdict: v,
		Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: {Count: 1000, Samples: 1000,
			Figures: map[result.Percentile]result.Figure{"50": {Value: int64(ns), Interval: &result.Bounds{Low: int64(ns), High: int64(ns)}}}}}}}
}

// lookedMade makes the trials of the study in a directory that are left, up to most, and returns their names in order. How
// says which have no valid result: "a/x 3" is INVALID, and "a/x 3 fails" fails.
func lookedMade(t *testing.T, p *studyPlan, dir string, most int, how ...string) (names []string, s *studyRuns) {
	t.Helper()
	var m trials.Manifest
	for _, c := range p.cells {
		m.Cells, m.Rounds = append(m.Cells, trials.Cell{Name: c.Name}), max(m.Rounds, c.Rounds)
	}
	for i, at := range p.places {
		m.Trials = append(m.Trials, trials.Trial{Cell: at.Cell, Round: at.Round, File: fmt.Sprintf("%02d.jsonl", i)})
	}
	opened, err := trials.Resume(dir, m)
	if errors.Is(err, trials.ErrNoSeries) {
		opened, err = trials.New(dir, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s = &studyRuns{series: &series{app: &app{Env: Env{Stderr: &bytes.Buffer{}}}, Series: opened, dir: dir}, planned: p, studyOptions: studyOptions{length: study.Default, replace: -1},
		before: len(opened.Trials), made: map[int]study.TrialOutcome{}}
	keep := func(i int) string {
		tr := s.Trials[i]
		name := p.cells[tr.Cell].Name
		s.made[i] = study.TrialOutcome{Round: tr.Round, File: tr.File, Run: lookedRun(name, tr.Round, how...)}
		return fmt.Sprint(name, " ", tr.Round)
	}
	for i, tr := range s.Trials {
		if tr.State == trials.Made {
			keep(i)
		}
	}
	if err := s.look(); err != nil {
		t.Fatal(err)
	}
	ending := make(chan struct{})
	if most == 0 {
		close(ending)
	}
	err = s.Run(trials.Options{Failures: len(s.Trials), Wanted: s.wanted, After: s.after, More: s.again, Ending: ending, Make: func(turn *trials.Turn) (trials.State, error) {
		names = append(names, keep(turn.Number-1))
		if len(names) == most {
			close(ending)
		}
		if slices.Contains(how, names[len(names)-1]+" fails") {
			delete(s.made, turn.Number-1)
			return trials.Failed, errors.New("it fails")
		}
		return trials.Made, os.WriteFile(turn.Path, nil, 0o600)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return names, s
}

// Cells whose tests are decided are made in no more rounds, the others in all, whenever the study was resumed.
func TestStudyLooks(t *testing.T) {
	p := lookedPlan(t)
	whole, s := lookedMade(t, p, t.TempDir(), -1)
	rounds := map[string]int{}
	for _, name := range whole {
		cell, _, _ := strings.Cut(name, " ")
		rounds[cell]++
	}
	if got := fmt.Sprint(rounds); got != "map[a/x:8 b/x:12 c/x:12 d/x:8]" {
		t.Error(got)
	}
	o := s.outcome(s.dir)
	if o.Unneeded != 4 || o.Planned != len(whole) || o.Made != len(whole) || o.GoOn != "" {
		t.Errorf("%d unneeded, %d of %d made, go on: %q", o.Unneeded, o.Made, o.Planned, o.GoOn)
	}
	for i, want := range []string{"decided after 8 of at most 12 rounds", "not decided after 12 of at most 12 rounds"} {
		if text := o.Conclusions[i].Tests[0].Text; !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	for at := range whole {
		if at < 28 && at%6 != 0 {
			continue // well before the first look
		}
		dir := t.TempDir()
		first, _ := lookedMade(t, p, dir, at)
		if rest, _ := lookedMade(t, p, dir, -1); !slices.Equal(append(first, rest...), whole) {
			t.Errorf("resumed after %d trials: %q", at, append(first, rest...))
		}
	}
}

// An INVALID round of a look is one of which nothing is known; one in its place is made after all that are planned, for cells
// that reach the last look.
func TestStudyLooksInvalid(t *testing.T) {
	names, s := lookedMade(t, lookedPlan(t), t.TempDir(), -1, "a/x 3", "c/x 5")
	count := func(cell string) (n, last int) {
		for _, name := range names {
			round := 0
			if _, err := fmt.Sscanf(name, cell+" %d", &round); err == nil {
				n, last = n+1, max(last, round)
			}
		}
		return n, last
	}
	for cell, want := range map[string][2]int{"a/x": {11, 11}, "b/x": {13, 13}, "c/x": {13, 13}, "d/x": {8, 8}} {
		if n, last := count(cell); n != want[0] || last != want[1] {
			t.Errorf("%s: %d rounds up to %d, want %v", cell, n, last, want)
		}
	}
	if f := s.outcome(s.dir).Conclusions[0].Tests[0]; f.Verdict != study.Agrees || f.Look.Rounds != 11 {
		t.Errorf("%+v", f)
	}
}

// A round that failed is made again when the study is resumed, and completes a look at once.
func TestStudyLooksFailed(t *testing.T) {
	p, dir := lookedPlan(t), t.TempDir()
	const ninth = 34 // trials in which every cell has eight rounds, and some nine
	first, _ := lookedMade(t, p, dir, ninth, "a/x 3 fails")
	rest, s := lookedMade(t, p, dir, -1)
	if rest[0] != "a/x 3" || slices.ContainsFunc(rest[1:], func(name string) bool { return strings.HasPrefix(name, "a/x") }) {
		t.Errorf("%q, and then %q", first, rest)
	}
	if f := s.outcome(s.dir).Conclusions[0].Tests[0]; f.Verdict != study.Agrees || f.Look.Rounds != 8 {
		t.Errorf("%+v", f)
	}
}

// The estimate says what is made at least and at most.
func TestStudyLooksEstimate(t *testing.T) {
	p := lookedPlan(t)
	for _, tt := range []struct {
		round, least, most int
	}{{1, 32, 44}, {9, 9, 12}, {11, 3, 6}} {
		left := slices.DeleteFunc(slices.Clone(p.places), func(at trials.Place) bool { return at.Round < tt.round })
		if least := len(p.certain(left)); least != tt.least || len(left) != tt.most {
			t.Errorf("from round %d: %d to %d trials", tt.round, least, len(left))
		}
	}
}
