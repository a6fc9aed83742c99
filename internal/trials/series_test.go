package trials

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/filelock"
	"sixnines/result"
)

// planOf is a series of cells × rounds.
func planOf(cells, rounds int) Manifest {
	m := Manifest{Kind: "test", Tool: "1", Binary: "0123456789abcdef", Seed: 7, Rounds: rounds}
	for i := range cells {
		m.Cells = append(m.Cells, Cell{Name: fmt.Sprint("cell ", i), Set: fmt.Sprint(i), Digest: fmt.Sprint("d", i), Inputs: map[string]string{"file:a": "1", "trace:b": "2"}, Takes: time.Second})
	}
	for i, at := range Shuffled(cells, rounds, m.Seed) {
		m.Trials = append(m.Trials, Trial{Cell: at.Cell, Round: at.Round, Seed: 1, File: fmt.Sprintf("%d.jsonl", i+1)})
	}
	return m
}

// write makes a trial's file and remembers it.
func write(made *[]string) func(*Turn) (State, error) {
	return func(t *Turn) (State, error) {
		*made = append(*made, t.Trial.File)
		return Made, os.WriteFile(t.Path, []byte(t.Cell.Name), 0o644)
	}
}

func stored(t *testing.T, dir string) Manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A series is made in its order; the manifest holds each state at the time that
// it has it.
func TestSeries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := New(dir, planOf(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made, progress []string
	do := write(&made)
	err = s.Run(Options{
		Make: func(turn *Turn) (State, error) {
			m := stored(t, dir)
			for i, x := range m.Trials {
				want := Planned
				switch {
				case i < turn.Number-1:
					want = Made
				case i == turn.Number-1:
					want = Running
				}
				if x.State != want {
					t.Errorf("while %d is made, %d is %s", turn.Number, i+1, x.State)
				}
			}
			return do(turn)
		},
		Progress: func(p Progress) { progress = append(progress, fmt.Sprint(p.Done, "/", p.Of)) },
	})
	if err != nil || !s.Complete() || !slices.Equal(made, []string{"1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl", "5.jsonl", "6.jsonl"}) {
		t.Fatalf("%v: %v", err, made)
	}
	if got := strings.Join(progress, " "); got != "1/6 2/6 3/6 4/6 5/6 6/6" {
		t.Error(got)
	}
	m := stored(t, dir)
	for _, x := range m.Trials {
		if x.Began == nil || x.Ended == nil || x.Ended.Before(*x.Began) || x.Session != 1 {
			t.Errorf("%+v", x)
		}
	}
	if len(m.Sessions) != 1 || m.Sessions[0].PID != os.Getpid() {
		t.Errorf("%+v", m.Sessions)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, ".*json*")); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// leave ends a process's work on a series as its death does: nothing is written
// any more, and the lock is let go.
func leave(s *Series) { s.unlock() }

// A series that was killed goes on where it was: what was made stays, the trial
// under way and those that were cut or failed are made again, and the plan is the
// first one's.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := New(dir, planOf(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	do := write(&made)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it was not killed")
			}
			leave(s)
		}()
		s.Run(Options{Failures: 2, Make: func(turn *Turn) (State, error) {
			state, err := do(turn)
			switch turn.Number {
			case 2:
				return Failed, errors.New("oh")
			case 3:
				return Cut, nil
			case 5:
				panic("kill -9")
			}
			return state, err
		}})
	}()
	before := stored(t, dir)
	if got := []State{before.Trials[0].State, before.Trials[1].State, before.Trials[2].State, before.Trials[4].State, before.Trials[5].State}; !slices.Equal(got,
		[]State{Made, Failed, Cut, Running, Planned}) || before.Trials[1].Error != "oh" {
		t.Fatalf("%v, %+v", got, before.Trials[1])
	}

	again := planOf(3, 2)
	again.Seed, again.Trials, again.Cells[1].Set = 99, Manifest{}.Trials, "another"
	s, err = Resume(dir, again)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(files) != 2 {
		t.Errorf("kept %v", files)
	}
	made = nil
	if err := s.Run(Options{Make: do}); err != nil || !slices.Equal(made, []string{"2.jsonl", "3.jsonl", "5.jsonl", "6.jsonl"}) {
		t.Errorf("%v: %v", err, made)
	}
	after := stored(t, dir)
	if after.Seed != 7 || after.Cells[1].Set != "1" || len(after.Sessions) != 2 || !after.Created.Equal(before.Created) {
		t.Errorf("%+v", after)
	}
	for i, x := range after.Trials {
		want := 2
		if i == 0 || i == 3 {
			want = 1
		}
		if x.State != Made || x.Session != want || x.Error != "" || x.Cell != before.Trials[i].Cell || x.Round != before.Trials[i].Round {
			t.Errorf("%d: %+v", i, x)
		}
	}
	for i, want := range []string{"", result.AttemptFailed, result.AttemptCut, "", result.AttemptKilled, ""} {
		x := after.Trials[i].Attempts
		if len(x) != min(len(want), 1) || len(x) == 1 && (x[0].Ending != want || !x[0].Began.Equal(*before.Trials[i].Began) || x[0].Error != before.Trials[i].Error) {
			t.Errorf("%d: %+v", i, x)
		}
	}
	if !after.Trials[0].Began.Equal(*before.Trials[0].Began) {
		t.Error("when the first was made has changed")
	}
}

// A result that somebody removed is made again, and so is one that is damaged: both say so.
func TestResumeWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, planOf(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	if err := s.Run(Options{Make: write(&made)}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.Remove(filepath.Join(dir, "2.jsonl")); err != nil {
		t.Fatal(err)
	}
	if s, err = Resume(dir, planOf(2, 1)); err != nil || s.Complete() || s.Count(Planned) != 1 {
		t.Fatalf("%v, %+v", err, s)
	}
	if err := s.Again(0); err != nil { // as if its file were damaged
		t.Error(err)
	}
	for _, x := range s.Trials {
		if len(x.Attempts) != 1 || x.Attempts[0].Ending != result.AttemptLost || x.Attempts[0].Began.IsZero() {
			t.Errorf("%+v", x)
		}
	}
	s.Close()
}

// A series that was begun before inputs were kept goes on.
func TestResumeWithoutInputs(t *testing.T) {
	dir, old := t.TempDir(), planOf(2, 1)
	for i := range old.Cells {
		old.Cells[i].Inputs = nil
	}
	s, err := New(dir, old)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = Resume(dir, planOf(2, 1)); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A series that differs from the one begun is refused, and so is a directory in use.
func TestResumeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Manifest)
		text   string
	}{
		"a scenario":  {func(m *Manifest) { m.Cells[1].Digest = "x" }, "the scenario of cell 1 has changed"},
		"a name":      {func(m *Manifest) { m.Cells[1].Name = "x" }, "its cell 2 is cell 1, not x"},
		"its rounds":  {func(m *Manifest) { m.Rounds = 5 }, "it has 2 rounds, not 5"},
		"its cells":   {func(m *Manifest) { m.Cells = m.Cells[:2] }, "it has 3 cells, not 2"},
		"its kind":    {func(m *Manifest) { m.Kind = "ab" }, "it is of the kind test, not ab"},
		"the program": {func(m *Manifest) { m.Tool = "2" }, "begun by version 1, which alone can go on with it, and this is 2"},
		"the build":   {func(m *Manifest) { m.Binary = "fedcba9876543210" }, "begun by another build of version 1"},
		"a file": {func(m *Manifest) { m.Cells[2].Inputs = map[string]string{"file:a": "1", "trace:b": "3"} },
			"the content of trace:b, which cell 2 reads, has changed"},
		"its brokers": {func(m *Manifest) { m.Cells[0].Fresh = true }, "a broker for each trial"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := New(dir, planOf(3, 2))
			if err != nil {
				t.Fatal(err)
			}
			want := planOf(3, 2)
			if _, err := Resume(dir, want); !errors.Is(err, filelock.ErrBusy) {
				t.Errorf("in use: %v", err)
			}
			s.Close()
			tt.change(&want)
			if _, err := Resume(dir, want); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, want %q", err, tt.text)
			}
			s, err = Resume(dir, planOf(3, 2)) // the refusal has released the lock
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
		})
	}
	for name, text := range map[string]string{
		"damaged": "{", "of the future": `{"format": 2}`, "a file outside": `{"format": 1, "cells": [{}], "trials": [{"file": "../x"}]}`,
		"no cell": `{"format": 1, "cells": [{}], "trials": [{"cell": 1, "file": "x"}]}`, "itself": `{"format": 1, "cells": [{}], "trials": [{"file": "manifest.json"}]}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(dir, planOf(1, 1)); !errors.Is(err, ErrNoSeries) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if _, err := Resume(dir, planOf(1, 1)); !errors.Is(err, ErrNoSeries) {
		t.Errorf("empty: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left in a directory of something else: %v", left)
	}
}

// If no more trials are wanted, the rest stays planned; a trial without an outcome returns to
// its state before.
func TestEnding(t *testing.T) {
	s, err := New(t.TempDir(), planOf(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	end := make(chan struct{})
	var made []string
	do := write(&made)
	err = s.Run(Options{Ending: end, Make: func(turn *Turn) (State, error) {
		if turn.Number == 2 {
			close(end)
			return Planned, nil
		}
		return do(turn)
	}})
	if err != nil || s.Count(Made) != 1 || s.Count(Planned) != 3 || s.Trials[1].Began != nil {
		t.Errorf("%v: %+v", err, s.Trials)
	}
}

// A failure ends the series, or, if some are allowed, that many failures in a row.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		fail  []int
		allow int
		tried int
		ends  bool
	}{
		{[]int{2}, 0, 2, true},
		{[]int{2}, 2, 6, false},
		{[]int{2, 4, 5}, 2, 5, true},
		{[]int{1, 3, 5}, 2, 6, false},
	} {
		s, err := New(t.TempDir(), planOf(6, 1))
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		err = s.Run(Options{Failures: tt.allow, Make: func(turn *Turn) (State, error) {
			tried++
			if slices.Contains(tt.fail, turn.Number) {
				return Failed, errors.New("oh")
			}
			return Made, nil
		}})
		if tried != tt.tried || (err != nil) != tt.ends {
			t.Errorf("%v, %d allowed: %d tried, %v", tt.fail, tt.allow, tried, err)
		}
		s.Close()
	}
}

// The time that is left is what is planned, and what trials took beyond it so
// far, and the pauses; in a pause the end is heard.
func TestTimeLeft(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(dir, planOf(4, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var left []time.Duration
		end := make(chan struct{})
		var pausing time.Time
		err = s.Run(Options{Pause: 10 * time.Second, Ending: end,
			Pausing: func(next *Turn) {
				pausing = time.Now()
				if next.Number == 4 {
					time.AfterFunc(3*time.Second, func() { close(end) })
				}
				if state := stored(t, dir).Trials[next.Number-1].State; state != Planned {
					t.Errorf("in the pause before it trial %d is %s", next.Number, state)
				}
			},
			Make: func(turn *Turn) (State, error) {
				if pausing.IsZero() != (turn.Number == 1) || turn.Number > 1 && time.Since(pausing) != 10*time.Second {
					t.Errorf("%d: waited for %v", turn.Number, time.Since(pausing))
				}
				time.Sleep(time.Duration(turn.Number) * 2 * time.Second)
				return Made, nil
			},
			Progress: func(p Progress) { left = append(left, p.Left) },
		})
		// Planned is 1 s. The first took 1 s more, the second 3, the third 5.
		want := []time.Duration{3 * (1 + 1 + 10) * time.Second, 2 * (1 + 2 + 10) * time.Second, (1 + 3 + 10) * time.Second}
		if waited := time.Since(pausing); waited != 3*time.Second {
			t.Errorf("the end is heard after %v", waited)
		}
		if err != nil || !slices.Equal(left, want) {
			t.Errorf("%v: %v, want %v", err, left, want)
		}
	})
}

// A series without results is removed, and nothing else with it.
func TestDiscard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := New(dir, planOf(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if s, err = New(dir, planOf(1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err == nil {
		t.Error("removed with a file of somebody else's")
	}
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Error(err)
	}
}

// A complete series can be opened by another version, which makes no trials.
func TestResumeByAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, planOf(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	err = s.Run(Options{Make: write(&made)})
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	want := planOf(2, 2)
	want.Tool, want.Binary = "2", "fedcba9876543210"
	if s, err = Resume(dir, want); err != nil {
		t.Fatal(err)
	}
	made = nil
	err = s.Run(Options{Make: write(&made), More: func() []Trial { return []Trial{{Cell: 1, Round: 3, File: "5.jsonl"}} }})
	if err != nil || !s.Other() || len(made) > 0 || s.Tool != "1" || len(s.Trials) != 4 {
		t.Errorf("%v, by another version: %v, made %q, of version %s, %d trials", err, s.Other(), made, s.Tool, len(s.Trials))
	}
	if err := s.Again(0); !errors.Is(err, ErrChanged) {
		t.Errorf("a damaged result is made again: %v", err)
	}
	s.Close()
	if err := os.Remove(filepath.Join(dir, s.Trials[2].File)); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(dir, want); !errors.Is(err, ErrProgram) {
		t.Errorf("with a result that is gone: %v", err)
	}
	// A manifest from before executables were compared has none.
	want.Tool, want.Binary = "1", ""
	if s, err = Resume(dir, want); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A cell that the broker refused in all trials is not made again; one that it accepted once is.
func TestResumeAfterARefusal(t *testing.T) {
	for refusals, want := range map[int]int{2: 0, 1: 1} {
		dir := filepath.Join(t.TempDir(), "s")
		s, err := New(dir, planOf(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var made []string
		if err := s.Run(Options{Make: func(turn *Turn) (State, error) {
			if n++; n <= refusals {
				return Refused, errors.New("it does not do that")
			}
			return write(&made)(turn)
		}}); err != nil {
			t.Fatal(err)
		}
		if complete := s.Complete(); complete != (want == 0) || s.Trials[0].Error != "it does not do that" {
			t.Errorf("%d refusals: complete %v, %+v", refusals, complete, s.Trials[0])
		}
		s.Close()
		if s, err = Resume(dir, planOf(1, 2)); err != nil {
			t.Fatal(err)
		}
		made = nil
		if err := s.Run(Options{Make: write(&made)}); err != nil {
			t.Fatal(err)
		}
		if len(made) != want || !s.Complete() {
			t.Errorf("%d refusals: %d made again, complete %v", refusals, len(made), s.Complete())
		}
		s.Close()
	}
}
