package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

const comparedText = `
name: compared
title: Compared
question: What is made again?
story: [for a test]
base: {target: {driver: "null"}, phases: {duration: 1s}}
systems: [{name: a, title: A}, {name: b, title: B}, {name: c, title: C}]
loads: [{name: x, title: X}]
cells: [{systems: ["*"], loads: ["*"]}]
lengths: {quick: {rounds: 1}, default: {rounds: 3}, full: {rounds: 6}}
sections: [{title: All, conclusions: [it]}]
conclusions: [{name: it, claim: so, tests: [{kind: faster, a: a/x, b: b/x, figures: [p50]}]}]
`

// A round with an INVALID run is made again for its cell and for what that is compared
// with, by verdicts alone, as often as may be.
func TestStudyAgain(t *testing.T) {
	st, err := study.Parse("compared.yaml", []byte(comparedText))
	if err != nil {
		t.Fatal(err)
	}
	always := func(string, int) bool { return true }
	for _, tt := range []struct {
		name    string
		length  string
		replace int
		invalid func(cell string, round int) bool
		want    string // trials beyond those that were planned, sorted
	}{
		{"none", study.Default, -1, func(string, int) bool { return false }, ""},
		{"of two that are compared", study.Default, -1, func(c string, r int) bool { return c == "a/x" && r == 2 }, "a/x 4 b/x 4"},
		{"of one that is not", study.Default, -1, func(c string, r int) bool { return c == "c/x" && r < 3 }, "c/x 4 c/x 5"},
		{"in two rounds", study.Default, -1, func(c string, r int) bool { return c == "a/x" && r == 2 || c == "b/x" && r == 1 }, "a/x 4 b/x 4"},
		{"of one that two are lacking", study.Default, -1, func(c string, r int) bool { return c == "a/x" && r < 3 }, "a/x 4 a/x 5 b/x 4 b/x 5"},
		{"again", study.Default, -1, func(c string, r int) bool { return c == "c/x" && r%3 == 1 }, "c/x 4 c/x 5"},
		{"no more than there are", study.Default, -1, func(c string, r int) bool { return c == "c/x" && r > 1 }, "c/x 4 c/x 5"},
		{"no more than is allowed", study.Default, 1, func(c string, r int) bool { return c == "c/x" && r < 3 }, "c/x 4"},
		{"none is allowed", study.Default, 0, func(c string, r int) bool { return c == "c/x" && r < 3 }, ""},
		{"all of them", study.Default, -1, always, ""},
		{"all of one, as often as is said", study.Default, 2, func(c string, _ int) bool { return c == "c/x" }, "c/x 4 c/x 5"},
		{"of a quick one", study.Quick, -1, func(c string, _ int) bool { return c == "c/x" }, ""},
		{"the only one of two that are compared", study.Quick, 1, func(c string, _ int) bool { return c == "a/x" }, "a/x 2"},
		{"the only one", study.Quick, 1, func(c string, _ int) bool { return c == "c/x" }, "c/x 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var errs bytes.Buffer
			a := &app{Env: Env{Stderr: &errs}}
			p := &studyPlan{study: st, length: tt.length}
			cells, err := st.Cells(tt.length)
			if err != nil {
				t.Fatal(err)
			}
			var m trials.Manifest
			for i, c := range cells {
				p.cells = append(p.cells, studyCell{Cell: c, group: c.Name, chosen: true, cell: cell{scenario: scenarioOf(t, c)}})
				m.Cells = append(m.Cells, trials.Cell{Name: c.Name})
				for round := range c.Rounds {
					m.Rounds = c.Rounds
					m.Trials = append(m.Trials, trials.Trial{Cell: i, Round: round + 1, File: fmt.Sprintf("%d-%d.jsonl", i, round)})
				}
			}
			dir := t.TempDir()
			opened, err := trials.New(dir, m)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			s := &studyRuns{series: &series{app: a, Series: opened, dir: dir}, planned: p, studyOptions: studyOptions{replace: tt.replace}, before: len(opened.Trials), made: map[int]study.TrialOutcome{}}
			var added []string
			err = s.Run(trials.Options{Wanted: s.wanted, More: s.again, Make: func(turn *trials.Turn) (trials.State, error) {
				name, status := p.cells[turn.Trial.Cell].Name, result.Valid
				if turn.Trial.Round > cells[0].Rounds {
					added = append(added, fmt.Sprint(name, " ", turn.Trial.Round))
				}
				if tt.invalid(name, turn.Trial.Round) {
					status = result.Invalid
				}
				s.made[turn.Number-1] = study.TrialOutcome{Run: &result.Run{Summary: &result.Summary{Verdict: result.Verdict{Status: status,
					Reasons: []result.Reason{{Status: status, Code: "frozen", Text: "frozen"}}}}}}
				return trials.Made, nil
			}})
			slices.Sort(added)
			if err != nil || strings.Join(added, " ") != tt.want {
				t.Errorf("%v: made again %q, want %q", err, added, tt.want)
			}
		})
	}
}

func scenarioOf(t *testing.T, c study.Cell) *scenario.Scenario {
	t.Helper()
	s, err := c.Scenario(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// absent is a driver that is listed and not in the build.
type absent struct{ driver.Driver }

func (absent) Open(context.Context, driver.Target) (driver.Session, error) {
	return nil, &driver.AbsentError{Driver: "absent", Lacks: "library; of any kind", Build: "build it otherwise"}
}

// A system whose driver is not in the build is left out before anything is run, with
// what to do.
func TestStudyNotBuilt(t *testing.T) {
	st, err := study.Parse("compared.yaml", []byte(comparedText))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := st.Cells(study.Quick)
	if err != nil {
		t.Fatal(err)
	}
	c := studyCell{Cell: cells[0], chosen: true,
		cell: cell{scenario: scenarioOf(t, cells[0]), entry: driver.Entry{Name: "absent", Driver: absent{}, Capabilities: driver.Capabilities{Brokerless: true}}}}
	missing := (&app{}).missingProducts(t.Context(), &studyPlan{study: st, cells: []studyCell{c}})
	if x := missing["a"]; x.Why != "absent: unsupported: not in this build, which has no library; of any kind" || x.How != "build it otherwise" {
		t.Errorf("%+v", missing)
	}
}

// A system for whose actions this machine has no means leaves its place empty; the others are
// made, and it does not matter where --only leaves it out.
func TestMachineLacks(t *testing.T) {
	a, b := &study.System{Name: "a"}, &study.System{Name: "b"}
	p := &studyPlan{cells: []studyCell{
		{Cell: study.Cell{System: a}, chosen: true, lacks: machineLacks{wrongUsage("be root", "power: no means")}},
		{Cell: study.Cell{System: b}, lacks: machineLacks{wrongUsage("be root", "power: no means")}},
	}}
	missing := (&Env{}).missingProducts(t.Context(), p)
	if x := missing["a"]; x.Why != "power: no means" || x.How != "be root" {
		t.Errorf("%+v", x)
	}
	if x := missing["b"]; x.Why != "" {
		t.Errorf("%+v", x)
	}
}
