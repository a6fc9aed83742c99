package trials

import (
	"errors"
	"os"
	"path/filepath"
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
