package trials

import (
	"fmt"
	"path/filepath"
)

// Next makes trial number k, from 0, of a series whose trials are chosen as it goes,
// by what those before showed: it is planned now. Of a series that is gone on with,
// the trials that were made are the caller's to take into account; it may be one
// that was planned and not made. The keeper is the caller's, too, and is not
// stopped. t has Cell, Round, Seed and File.
func (s *Series) Next(k int, t Trial, keeper *Keeper, made func(*Turn) (State, error)) (State, error) {
	switch {
	case k == len(s.Trials):
		t.State = Planned
		s.Trials = append(s.Trials, t)
	case k > len(s.Trials) || s.Trials[k].State != Planned || s.Trials[k].File != t.File:
		return Planned, fmt.Errorf("%w: trial %d is not %s", ErrChanged, k+1, t.File)
	}
	at := &s.Trials[k]
	turn := &Turn{Trial: *at, Cell: s.Cells[at.Cell], Number: k + 1, Path: filepath.Join(s.dir, at.File), Keeper: keeper}
	_, err := s.turn(at, turn, made)
	if at.State == Failed {
		keeper.Spoil("a trial failed")
	}
	return at.State, err
}
