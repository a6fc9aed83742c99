package trials

import (
	"slices"
	"testing"
)

// Trials that are spared are not made, and are missing in nothing, also for another program. A series that is resumed plans
// them again.
func TestSpare(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, planOf(2, 4))
	if err != nil {
		t.Fatal(err)
	}
	third := func(x Trial) bool { return x.Cell == 1 && x.Round > 2 }
	var made []string
	var last Progress
	run := func(s *Series) {
		t.Helper()
		err := s.Run(Options{Make: write(&made), Progress: func(p Progress) { last = p }, After: func(x Trial) error {
			if x.Round < 3 {
				return nil
			}
			_, err := s.Spare(third)
			return err
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Spare(third); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	run(s)
	if len(made) != 6 || last.Done != 6 || last.Of != 6 || !s.Complete() {
		t.Errorf("%d made, %+v", len(made), last)
	}
	s.Close()

	other := planOf(2, 4)
	other.Tool = "2"
	s, err = Resume(dir, other)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Other() || !s.Complete() {
		t.Error("it is not complete for another program")
	}
	s.Close()

	s, err = Resume(dir, planOf(2, 4))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Complete() || slices.ContainsFunc(s.Trials, func(x Trial) bool { return x.State == Unneeded }) {
		t.Errorf("%+v", s.Trials)
	}
	if run(s); len(made) != 7 || !s.Complete() { // the first of them is made, and spares the other
		t.Errorf("%d made", len(made))
	}
}
