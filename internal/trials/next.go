package trials

import (
	"fmt"
	"path/filepath"
)

// Next makes trial number k, from 0, of a series whose trials are chosen one by one, by the
// outcomes of the earlier ones: k is the number of trials so far, or a trial that was planned
// but not made. In a resumed series the caller must use the results of the trials already
// made and not ask for them again. The keeper belongs to the caller and is not stopped. t has
// Cell, Round, Seed and File. The error wraps [ErrChanged] if trial k is another one.
func (s *Series) Next(k int, t Trial, keeper *Keeper, made func(*Turn) (State, error)) (State, error) {
	switch {
	case k == len(s.Trials):
		t.State = Planned
		s.Trials = append(s.Trials, t)
	case k > len(s.Trials) || s.Trials[k].State != Planned || s.Trials[k].File != t.File:
		return Planned, fmt.Errorf("%w: trial %d is not %s", ErrChanged, k+1, t.File)
	}
	at := &s.Trials[k]
	turns := []Turn{{Trial: *at, Cell: s.Cells[at.Cell], Number: k + 1, Path: filepath.Join(s.dir, at.File), Keeper: keeper}}
	_, err := s.turn(turns, func() ([2]State, [2]error) {
		state, err := made(&turns[0])
		return [2]State{state}, [2]error{err}
	})
	if at.State == Failed {
		keeper.Spoil("a trial failed")
	}
	return at.State, err
}
