package sweep

import (
	"sixnines/internal/judge"
	"sixnines/internal/stats"
)

// Hysteresis is a test of whether a system carries less after an overload. A rate that
// holds from below and fails from above does not show that: if the limit differs from run
// to run, it happens by chance. So pairs of new trials are made at that rate, one on a
// fresh system and one right after an overload, and compared by Fisher's exact test.
type Hysteresis struct {
	Rate  float64 // messages a second at which it was tested; 0: no test was needed
	Fresh Tally   // on a fresh system
	After Tally   // after an overload
	P     float64 // probability of a difference at least as large without hysteresis
	Shown bool    // P is at most 1 − Confidence
}

// Tally counts trials.
type Tally struct{ Met, Of int }

// hysteresisPairs is the number of pairs of trials. Four of four against none of four would
// be enough for 95 % (p = 1/70); five allow one exception (p = 6/252).
const hysteresisPairs = 5

// hysteresis tests at a rate, with overloads at another, both in messages a second. It ends as
// soon as the remaining trials cannot show hysteresis any more. An undecided trial counts
// against it.
func (s *search) hysteresis(rate, overload float64) error {
	h := &s.answer.Hysteresis
	h.Rate, h.P = rate, 1
	times := max(s.times[rate], 1)
	alpha := 1 - s.o.Confidence
	for pair := range hysteresisPairs {
		fresh, _, err := s.one(rate, times, Confirming, &evidence{})
		if err != nil {
			return err
		}
		if _, _, err := s.one(overload, times, FromAbove, &evidence{}); err != nil {
			return err
		}
		after, _, err := s.one(rate, times, FromAbove, &evidence{})
		if err != nil {
			return err
		}
		h.Fresh.Of, h.After.Of = h.Fresh.Of+1, h.After.Of+1
		if fresh.Outcome == judge.Met {
			h.Fresh.Met++
		}
		if after.chosen().Outcome != judge.Missed {
			h.After.Met++
		}
		left := hysteresisPairs - pair - 1
		if stats.FisherExact(h.Fresh.Met+left, hysteresisPairs, h.After.Met, hysteresisPairs) > alpha {
			break // even if all remaining trials showed it
		}
	}
	h.P = stats.FisherExact(h.Fresh.Met, h.Fresh.Of, h.After.Met, h.After.Of)
	h.Shown = h.After.Of == hysteresisPairs && h.P <= alpha
	return nil
}
