package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/all"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
)

const pairedText = `
name: paired
title: Paired
question: Which?
story: [for a test]
base: {target: {driver: "null"}, phases: {warmup: 1s, duration: 4s}}
systems: [{name: a, title: A}, {name: b, title: B}]
loads: [{name: x, title: X, scenario: {workload: {rate: 100/s}}}, {name: y, title: Y}]
cells: [{systems: ["*"], loads: ["*"]}]
beside: [{a: a/x, b: b/x}]
lengths: {quick: {rounds: 1}, default: {rounds: 6}, full: {rounds: 8}}
sections: [{title: All, conclusions: [it]}]
conclusions: [{name: it, claim: so, tests: [{kind: faster, a: a/x, b: b/x, figures: [p50]}]}]
`

func pairedPlan(t *testing.T, o studyOptions) *studyPlan {
	t.Helper()
	st, err := study.Parse("paired.yaml", []byte(pairedText))
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Drivers: all.Set(), Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}
	p, err := env.planStudy(st, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Cells that are made at the same time follow each other, take their time once, and have a pilot first. What is chosen of one is
// chosen of both. Where a flag, or too few rounds, says that they are made apart they are cells like others.
func TestStudyPlansPairs(t *testing.T) {
	const each, piloted = 5*time.Second + trialBeside, 3*time.Second + trialBeside
	for _, tt := range []struct {
		length, design string
		only           []string
		chosen, turns  int // of all cells and rounds
		pilots         int
		why            result.DesignReason
	}{
		{study.Default, "", nil, 4, 6 * 3, 1, ""},
		{study.Default, "", []string{"b/x"}, 2, 6 * 3, 1, ""},
		{study.Default, "beside", []string{"a/x"}, 2, 6 * 3, 0, result.DesignAsked},
		{study.Default, "apart", []string{"a/x"}, 1, 6 * 4, 0, result.DesignAsked},
		{study.Quick, "", []string{"a/x"}, 1, 4, 0, result.DesignRounds},
		{study.Quick, "beside", nil, 4, 3, 0, result.DesignAsked},
	} {
		p := pairedPlan(t, studyOptions{length: tt.length, design: tt.design, only: tt.only})
		chosen := 0
		for i := range p.cells {
			if p.cells[i].managed = false; p.cells[i].chosen {
				chosen++
			}
		}
		takes, _ := p.foreseen(p.places)
		piloting, pilots := p.piloting(map[int]bool{0: true, 1: true, 2: true, 3: true})
		if chosen != tt.chosen || takes != time.Duration(tt.turns)*each || pilots != tt.pilots || piloting != time.Duration(3*tt.pilots)*piloted {
			t.Errorf("%s, --design %q, --only %v: %d cells chosen, %v, %d pilots of %v", tt.length, tt.design, tt.only, chosen, takes, pilots, piloting)
		}
		if len(p.paired) != 1 || p.paired[0].Cells != [2]int{0, 2} || (p.paired[0].Design == nil) != (tt.why == "") || tt.why != "" && p.paired[0].Design.Reason != tt.why {
			t.Errorf("%s, --design %q: %+v", tt.length, tt.design, p.paired)
		}
		if got := strings.Contains(p.estimate(p.places, 0), " and 1 pilot of "); got != (tt.pilots > 0) {
			t.Error(p.estimate(p.places, 0))
		}
	}
	// The second broker of a pair is started again after a cell that is made alone.
	p := pairedPlan(t, studyOptions{length: study.Default, design: "beside"})
	for i, group := range []string{"a", "a", "b", "b"} {
		p.cells[i].managed, p.cells[i].group = true, group
	}
	pair := []trials.Place{{Cell: 2, Round: 1}, {Cell: 0, Round: 1}}
	for n, places := range map[int][]trials.Place{
		2: slices.Concat(pair, []trials.Place{{Cell: 0, Round: 2}, {Cell: 2, Round: 2}, {Cell: 1, Round: 2}}),
		3: slices.Concat(pair, []trials.Place{{Cell: 1, Round: 1}}, pair),
		4: {{Cell: 3, Round: 1}, {Cell: 0, Round: 1}, {Cell: 2, Round: 1}, {Cell: 3, Round: 2}},
	} {
		if _, starts := p.foreseen(places); starts != n {
			t.Errorf("%v: %d starts, want %d", places, starts, n)
		}
	}
}

// A round in which one run is INVALID, or both took too much of the machine, counts for neither: both are made again, at the same time.
func TestStudyReplacesPairs(t *testing.T) {
	p := pairedPlan(t, studyOptions{length: study.Default, design: "beside"})
	m := trials.Manifest{Rounds: 6, Pairs: p.paired}
	for i := range p.cells {
		m.Cells = append(m.Cells, trials.Cell{Name: p.cells[i].Name})
	}
	for i, at := range p.places {
		m.Trials = append(m.Trials, trials.Trial{Cell: at.Cell, Round: at.Round, File: fmt.Sprintf("%d.jsonl", i)})
	}
	dir := t.TempDir()
	opened, err := trials.New(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	var errs bytes.Buffer
	s := &studyRuns{series: &series{app: &app{Env: Env{Stderr: &errs}}, Series: opened, dir: dir}, planned: p, studyOptions: studyOptions{replace: -1}, before: len(m.Trials), made: map[int]study.TrialOutcome{}}
	var added []string
	made := func(turn *trials.Turn, beside bool) trials.State {
		name, status := p.cells[turn.Trial.Cell].Name, result.Valid
		if name == "a/x" && turn.Trial.Round == 2 || name == "b/x" && turn.Trial.Round == 5 {
			status = result.Invalid
		}
		if turn.Trial.Round > 6 {
			added = append(added, fmt.Sprint(name, " ", turn.Trial.Round, " ", beside))
		}
		used := 0.5
		if name == "b/x" && turn.Trial.Round == 3 {
			used = 1.5
		}
		s.made[turn.Number-1] = study.TrialOutcome{Run: &result.Run{
			Header:  result.Header{Trial: &result.Trial{Beside: beside}, Machine: []result.Fact{{Name: result.FactProcessors, Value: "2"}}},
			Series:  []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Vitals: map[result.Vital]float64{result.VitalProcessCPU: used}}},
			Summary: &result.Summary{Verdict: result.Verdict{Status: status}}}}
		if err := os.WriteFile(turn.Path, nil, 0o644); err != nil {
			t.Error(err)
		}
		return trials.Made
	}
	err = s.Run(trials.Options{Wanted: s.wanted, More: s.again, Pair: s.isPair,
		Make: func(turn *trials.Turn) (trials.State, error) { return made(turn, false), nil },
		Both: func(turns *[2]trials.Turn) ([2]trials.State, [2]error) {
			return [2]trials.State{made(&turns[0], true), made(&turns[1], true)}, [2]error{}
		}})
	slices.Sort(added)
	if got := strings.Join(added, ", "); err != nil || got != "a/x 7 true, a/x 8 true, a/x 9 true, b/x 7 true, b/x 8 true, b/x 9 true" {
		t.Errorf("%v: %s", err, got)
	}
}
