package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// scenariosOf makes scenarios with these names.
func scenariosOf(names ...string) []cell {
	var all []cell
	for _, name := range names {
		s := &scenario.Scenario{Name: name, Objectives: []scenario.Objective{{Subject: "lost", Op: "=="}}}
		s.Normalise()
		all = append(all, newCell(s, driver.Entry{}))
	}
	return all
}

// setOf plans a set, of which nothing is made yet.
func setOf(t *testing.T, scenarios []cell, o runOptions) *set {
	t.Helper()
	s := &set{scenarios: scenarios, runOptions: o}
	d, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.manifest()
	if err != nil {
		t.Fatal(err)
	}
	s.series = &series{app: &app{}, Series: &trials.Series{Manifest: m}, cells: d.cells, kept: map[int]*result.Run{}}
	return s
}

// Every round holds every scenario once, in an order that is not always the
// same, and each repeat has a seed and a file of its own.
func TestSetPlan(t *testing.T) {
	orders := map[string]bool{}
	for range 60 {
		m := setOf(t, scenariosOf("a", "b", "c", "a"), runOptions{repeat: 5}).Manifest
		if len(m.Trials) != 20 {
			t.Fatalf("%d runs", len(m.Trials))
		}
		files, sets := map[string]bool{}, map[string]bool{}
		for round := range 5 {
			order := ""
			for _, r := range m.Trials[4*round : 4*round+4] {
				order += m.Cells[r.Cell].Name + " "
				if r.Round != round+1 || r.Seed != uint64(round+1) {
					t.Errorf("round %d: %+v", round, r)
				}
				files[r.File], sets[m.Cells[r.Cell].Set] = true, true
			}
			for _, label := range []string{"a ", "b ", "c ", "a-2 "} {
				if !strings.Contains(order, label) {
					t.Errorf("round %d has only %s", round, order)
				}
			}
			orders[order] = true
		}
		if len(files) != 20 || len(sets) != 4 {
			t.Errorf("%d files, %d sets", len(files), len(sets))
		}
	}
	if len(orders) != 24 { // the chance to miss one is below 24·(23/24)^300, 0.007 %
		t.Errorf("%d orders of four scenarios; there are 24", len(orders))
	}
	for _, r := range setOf(t, scenariosOf("a"), runOptions{repeat: 12, sameSeed: true}).Trials {
		if r.Seed != 1 || r.File != fmt.Sprintf("%02d-a.jsonl", r.Round) {
			t.Errorf("%+v", r)
		}
	}
	if a, b := nextSeed(math.MaxUint64, 0), nextSeed(math.MaxUint64, 1); a != math.MaxUint64 || b != 1 {
		t.Errorf("the seeds go on with %d, %d", a, b)
	}
}

// outcome is a run with one objective decided, or cut short.
func outcome(word string) *result.Run {
	if word == "cut" {
		return &result.Run{}
	}
	status := result.Valid
	if word == "invalid" {
		status, word = result.Invalid, "meaningless"
	}
	return &result.Run{Summary: &result.Summary{Verdict: result.Verdict{Status: status},
		Objectives: []result.Objective{{Text: "lost == 0", Outcome: word, Found: "found " + word}}}}
}

// An objective is met if it was met in every run that was planned, and the exit
// code is that of the worst.
func TestSetIsAsGoodAsItsWorst(t *testing.T) {
	for _, c := range []struct {
		planned int
		runs    string
		outcome string
		found   string
		code    int
	}{
		{3, "met met met", "met", "in each of 3 runs", exitOK},
		{1, "met", "met", "found met", exitOK},
		{3, "met missed met", "missed", "in 1 of 3 runs (run 2: found missed)", exitThreshold},
		{3, "undecided missed missed", "missed", "in 2 of 3 runs (run 2: found missed)", exitThreshold},
		{3, "met undecided met", "undecided", "in 1 of 3 runs (run 2: found undecided)", exitThreshold},
		{3, "met met", "undecided", "met in 2 runs, but 3 were planned", exitThreshold},
		{3, "missed", "missed", "in 1 of 1 run", exitThreshold},
		{2, "met cut", "meaningless", "in 1 of 2 runs (run 2: the run was cut short", exitThreshold},
		{3, "met invalid missed", "missed", "in 1 of 3 runs", exitInvalid},
		{2, "met invalid", "meaningless", "in 1 of 2 runs (run 2: found meaningless)", exitInvalid},
	} {
		s := setOf(t, scenariosOf("a"), runOptions{repeat: c.planned})
		for i, word := range strings.Fields(c.runs) {
			s.keep(i, outcome(word))
		}
		all := s.overall()[0].objectives
		if len(all) != 1 || all[0].Outcome != c.outcome || !strings.HasPrefix(all[0].Found, c.found) {
			t.Errorf("%s of %d: %+v, want %s: %s", c.runs, c.planned, all, c.outcome, c.found)
		}
		if code := (&app{}).explain(nil, s.judged()); code != c.code {
			t.Errorf("%s of %d: exit code %d, want %d", c.runs, c.planned, code, c.code)
		}
		var b bytes.Buffer
		a := &app{Env: Env{Stderr: &b}}
		if a.sayObjectives("a", all, passing{}); (b.Len() == 0) != (c.outcome == "met") || strings.Count(b.String(), "\n") > 1 {
			t.Errorf("%s of %d: %q", c.runs, c.planned, b.String())
		}
		if suite := s.suite(); len(suite.Cases) != 2 || (suite.Cases[1].Failure == "") != (c.outcome == "met") {
			t.Errorf("%s of %d: %+v", c.runs, c.planned, suite)
		}
	}
}

// A scenario has the digest of no other, whatever differs, and shows no password.
func TestDigest(t *testing.T) {
	e, _ := all.Set().Lookup("nats")
	of := func(change func(*scenario.Scenario)) string {
		s := &scenario.Scenario{}
		if err := s.ApplyIn(func(string) (string, bool) { return "v", true }, scenario.Override{Key: "target.options.password", Value: "one"},
			scenario.Override{Key: "target.url", Value: "nats://${HOST}:4222"}); err != nil {
			t.Fatal(err)
		}
		change(s)
		s.Normalise()
		digest, err := (&cell{scenario: s, entry: e}).digest()
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	same := of(func(*scenario.Scenario) {})
	if again := of(func(*scenario.Scenario) {}); again != same {
		t.Errorf("%s, then %s", same, again)
	}
	for name, change := range map[string]func(*scenario.Scenario){
		"rate":     func(s *scenario.Scenario) { s.Workload.Rate = scenario.PerSecond(7) },
		"password": func(s *scenario.Scenario) { s.Target.Options["password"] = "two" },
		"host":     func(s *scenario.Scenario) { s.Target.URL = "nats://w:4222" },
		"tls":      func(s *scenario.Scenario) { s.Target.TLS = &scenario.TLS{CA: "x"} },
	} {
		if of(change) == same {
			t.Errorf("another %s is not told apart", name)
		}
	}
	common, _, _ := strings.Cut(same, "-")
	if other, _, _ := strings.Cut(of(func(s *scenario.Scenario) { s.Target.Options["password"] = "two" }), "-"); other != common {
		t.Error("a password counts in more than the last digits")
	}
}

// A set whose only run was given up keeps its manifest beside what was measured, so that --resume continues
// it; without any result its directory goes.
func TestSetThatWasGivenUp(t *testing.T) {
	for _, measured := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "set")
		of, err := trials.New(dir, trials.Manifest{Kind: result.TrialRepeat, Cells: []trials.Cell{{Name: "x"}}, Trials: []trials.Trial{{Round: 1, File: "1-x.jsonl"}, {Round: 2, File: "2-x.jsonl"}}})
		if err != nil {
			t.Fatal(err)
		}
		of.Trials[0].State = trials.Failed
		if measured {
			if err := os.WriteFile(filepath.Join(dir, "1-x.jsonl"), []byte("{}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var stderr strings.Builder
		s := &set{series: &series{app: &app{Env: Env{Stderr: &stderr}}, Series: of, dir: dir, kept: map[int]*result.Run{}}}
		something, err := s.conclude(errGaveUp)
		if something || !errors.Is(err, errGaveUp) {
			t.Errorf("%t, %v", something, err)
		}
		if _, err := os.Stat(filepath.Join(dir, trials.ManifestName)); (err == nil) != measured {
			t.Errorf("measured %t: the manifest: %v", measured, err)
		}
		if measured {
			of.Close()
		}
		if strings.Contains(stderr.String(), "--resume "+dir) != measured {
			t.Errorf("measured %t: said %q", measured, stderr.String())
		}
	}
}

// A run that was cut short is shown, and does not count as made.
func TestSetWithACutRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	of, err := trials.New(dir, trials.Manifest{Kind: result.TrialRepeat, Rounds: 2, Cells: []trials.Cell{{Name: "x"}}, Trials: []trials.Trial{{Round: 1, File: "1-x.jsonl"}, {Round: 2, File: "2-x.jsonl"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer of.Close()
	of.Trials[0].State, of.Trials[1].State = trials.Made, trials.Cut
	s := &set{series: &series{app: &app{Env: Env{Stderr: io.Discard}}, Series: of, dir: dir, kept: map[int]*result.Run{0: {}, 1: {}}}}
	something, err := s.conclude(nil)
	if c := s.suite().Cases[0]; !something || err != nil || s.stopped != "stopped after 1 of 2" || c.Failure != "incomplete" || c.Message != "1 of 2 runs made" {
		t.Errorf("%t, %v, %q, %+v", something, err, s.stopped, c)
	}
}
