package trials

import (
	"slices"
	"testing"

	"sixnines/result"
)

// Each process that is killed leaves an attempt, and so does a run that is stopped before its window: nobody chooses
// by outcome unseen.
func TestEachAttemptIsKept(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, planOf(2, 1))
	for range 2 {
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it was not killed")
				}
				leave(s)
			}()
			s.Run(Options{Make: func(*Turn) (State, error) { panic("kill -9") }})
		}()
		s, err = Resume(dir, planOf(2, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	if err := s.Run(Options{Ending: end, Make: func(*Turn) (State, error) { close(end); return Planned, nil }}); err != nil {
		t.Error(err)
	}
	s.Close()
	var endings []string
	for _, x := range stored(t, dir).Trials[0].Attempts {
		if endings = append(endings, x.Ending); x.Began.IsZero() {
			t.Errorf("%+v", x)
		}
	}
	if want := []string{result.AttemptKilled, result.AttemptKilled, result.AttemptStopped}; !slices.Equal(endings, want) {
		t.Errorf("%q", endings)
	}
	if others := stored(t, dir).Trials[1].Attempts; others != nil {
		t.Errorf("of a run that was never begun: %+v", others)
	}
}
