package trials

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Trials that are chosen as the series goes are kept like those that were planned,
// and it can be gone on with.
func TestNext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "series")
	want := Manifest{Kind: "test", Tool: "1", Cells: []Cell{{Name: "cell", Digest: "d"}}}
	s, err := New(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	var keeper Keeper
	write := func(turn *Turn) (State, error) {
		return Made, os.WriteFile(turn.Path, []byte(turn.Trial.File), 0o644)
	}
	if state, err := s.Next(0, Trial{File: "first", Seed: 3}, &keeper, write); state != Made || err != nil {
		t.Fatal(state, err)
	}
	broken := errors.New("broken")
	if state, err := s.Next(1, Trial{File: "second"}, &keeper, func(*Turn) (State, error) { return Failed, broken }); state != Failed || !errors.Is(err, broken) {
		t.Fatal(state, err)
	}
	s.Close()

	if s, err = Resume(dir, want); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.Trials) != 2 || s.Trials[0].State != Made || s.Trials[0].Seed != 3 || s.Trials[0].Ended == nil || s.Trials[1].State != Planned {
		t.Fatalf("%+v", s.Trials)
	}
	for k, file := range map[int]string{0: "first", 1: "other", 3: "fourth"} {
		if _, err := s.Next(k, Trial{File: file}, &keeper, write); !errors.Is(err, ErrChanged) {
			t.Errorf("trial %d as %s: %v", k+1, file, err)
		}
	}
	for k, file := range []string{"", "second", "third"} {
		if k == 0 {
			continue
		}
		if state, err := s.Next(k, Trial{File: file}, &keeper, write); state != Made || err != nil {
			t.Errorf("%s: %s, %v", file, state, err)
		}
	}
	if !s.Complete() || len(s.Trials) != 3 || s.Trials[2].Session != 2 {
		t.Errorf("%+v", s.Trials)
	}
}

// Trials added after all others are made too, and are in the manifest before that. A trial set aside
// is never made again, whatever happened to its file.
func TestMore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := New(dir, planOf(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	do := write(&made)
	more := func(s *Series) func() []Trial {
		return func() []Trial {
			if len(s.Trials) > 2 {
				return nil
			}
			s.Trials[0].Aside = "INVALID"
			return []Trial{{Cell: 1, Round: 2, Seed: 1, File: "3.jsonl", Replaces: 1}}
		}
	}
	ended := errors.New("ended")
	err = s.Run(Options{More: more(s), Make: func(turn *Turn) (State, error) {
		if turn.Number < 3 {
			return do(turn)
		}
		if m := stored(t, dir); len(m.Trials) != 3 || m.Trials[0].Aside == "" || m.Trials[2].State != Running || m.Trials[2].Replaces != 1 || turn.Of != 3 {
			t.Errorf("%+v", m.Trials)
		}
		return Planned, ended
	}})
	s.Close()
	if err != ended || os.Remove(filepath.Join(dir, "1.jsonl")) != nil {
		t.Fatal(err)
	}
	s, err = Resume(dir, planOf(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Run(Options{More: more(s), Make: func(turn *Turn) (State, error) {
		if turn.Trial.Replaces != 1 {
			t.Errorf("%+v", turn.Trial)
		}
		return do(turn)
	}})
	if err != nil || !s.Complete() || !slices.Equal(made, []string{"1.jsonl", "2.jsonl", "3.jsonl"}) || s.Trials[0].Aside != "INVALID" {
		t.Errorf("%v, %v, %+v", err, made, s.Trials)
	}
}
