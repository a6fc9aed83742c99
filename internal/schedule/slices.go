package schedule

import (
	"fmt"
	"time"

	"sixnines/scenario"
)

// Slices says when a load is due: for On from After on, in each Every. After + On is at most Every.
type Slices struct{ On, Every, After time.Duration }

// InSlices is [New] for a load that is due in slices only; nil: all the time. The load's own time stands still between its
// slices: its instants are those of New over the sum of its slices, moved apart. Its warm-up, and the load after the
// window, are in slices, too.
//
//	own time           |---on---|---on---|---on---|
//	window   |--after--|---on---|        |---on---|        |---on---|
//	                   |------every------|
//
// [Plan.MeanRate] is that of the whole window, and [Plan.Most] is still an upper bound.
func InSlices(w *scenario.Workload, window time.Duration, seed uint64, s *Slices) (*Plan, error) {
	if s == nil {
		return New(w, window, seed)
	}
	if s.On <= 0 || s.After < 0 || s.After+s.On > s.Every || s.Every > maxPeriod {
		return nil, fmt.Errorf("schedule: slices of %v from %v on in each %v: they must be longer than 0 and within it, and it at most %v", s.On, s.After, s.Every, maxPeriod)
	}
	own := s.own(int64(window))
	if own <= 0 {
		return nil, fmt.Errorf("schedule: a window of %v is over before the first slice, which begins after %v", window, s.After)
	}
	p, err := New(w, time.Duration(own), seed)
	if err != nil {
		return nil, err
	}
	p.slices = s
	p.mean *= float64(own) / float64(window)
	return p, nil
}

// Due returns for how long a load is due between two offsets from the window's start, divided by the share of the time in
// which it is due: what is sent meanwhile over it is a rate of the whole time, as [Plan.MeanRate] is. Nil is due all the time.
func (s *Slices) Due(from, to time.Duration) time.Duration {
	if s == nil {
		return to - from
	}
	return time.Duration(float64(s.own(int64(to))-s.own(int64(from))) * float64(s.Every) / float64(s.On))
}

// at is the offset from the window's start of an instant of the load's own time; false: it is beyond every run.
func (s *Slices) at(own int64) (offset int64, ok bool) {
	n := floorDiv(own, int64(s.On))
	if n >= endOfTime/int64(s.Every) {
		return 0, false
	}
	return n*int64(s.Every) + int64(s.After) + floorMod(own, int64(s.On)), true
}

// own is how much of the load's own time has passed at an offset from the window's start; below 0 before it.
func (s *Slices) own(offset int64) int64 {
	since := offset - int64(s.After)
	return floorDiv(since, int64(s.Every))*int64(s.On) + min(floorMod(since, int64(s.Every)), int64(s.On))
}
