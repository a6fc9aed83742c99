package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// leaving is an experiment whose run left something at the broker, and which shows all it asks for.
type leaving struct {
	*series
	cells []cell
	left  []result.Leftover
}

func (l *leaving) check(context.Context, *app) error { return nil }
func (l *leaving) plan() (design, error) {
	return design{name: "x", kind: result.TrialRepeat, rounds: 1, cells: l.cells}, nil
}
func (l *leaving) begin(s *series) error {
	l.series = s
	return nil
}
func (l *leaving) make(context.Context) error {
	l.looked(&result.Run{Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}, Left: l.left}})
	return nil
}
func (l *leaving) conclude(error) (bool, error) { return true, nil }
func (l *leaving) show(error) error             { return nil }

// What a run of a series leaves at the broker fails the command, as that of a run alone does.
func TestLeavingOfASeriesIsNotPassing(t *testing.T) {
	for want, left := range map[int][]result.Leftover{exitOK: nil, exitFailure: {{What: "stream", Name: "s", Why: "no right"}}} {
		errs := &bytes.Buffer{}
		a := &app{Env: Env{Drivers: all.Set(), Stderr: errs}}
		arms, _, err := a.arms([]string{"mem"}, nil, [2][]scenario.Override{})
		if err != nil {
			t.Fatal(err)
		}
		got := a.explain(nil, a.acts(t.Context(), outputOptions{out: t.TempDir()}, &leaving{cells: arms[:1], left: left}))
		if got != want || strings.Contains(errs.String(), "still at the broker") != (left != nil) {
			t.Errorf("exit code %d, want %d; %s", got, want, errs)
		}
	}
}

// Nor is the JUnit file of an ab green then.
func TestJUnitOfAnABThatLeaves(t *testing.T) {
	for _, left := range []bool{false, true} {
		dir := t.TempDir()
		x := &abRuns{series: &series{app: &app{Env: Env{Dir: dir}}, Series: &trials.Series{Manifest: trials.Manifest{Trials: []trials.Trial{{Round: 1}}}}, kept: map[int]*result.Run{}}}
		x.junit = "j.xml"
		if left {
			x.kept[0] = &result.Run{Summary: &result.Summary{Left: []result.Leftover{{What: "stream", Name: "s", Why: "no right"}}}}
			x.looked(x.kept[0])
		}
		if err := x.writeSuites(nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "j.xml"))
		if err != nil || strings.Contains(string(text), `<failure`) != left || strings.Contains(string(text), "stream s, no right") != left {
			t.Errorf("%v: %s", err, text)
		}
	}
}
