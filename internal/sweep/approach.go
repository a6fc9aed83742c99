package sweep

import "time"

const perSecond = time.Second

// zone is what one approach, from below or from above, has found out about rates, in
// messages a second: the highest that holds, the lowest that fails, and the undecided
// ones between them.
type zone struct {
	holds, fails float64 // 0: none
	low, high    float64 // the lowest and the highest undecided; 0: none
	byGenerator  bool    // at the rate fails it is the generator that fails
	limit        Limit   // the limit at the rate fails
	why          string  // what a trial at the rate fails found
}

// put adds what was decided about a rate.
func (z *zone) put(rate float64, s state, e *evidence) {
	switch s {
	case holds:
		z.holds = max(z.holds, rate)
	case fails, generatorFails:
		if z.fails == 0 || rate < z.fails {
			z.fails, z.byGenerator = rate, s == generatorFails
			z.limit, z.why = e.limit()
		}
	default:
		if z.low == 0 || rate < z.low {
			z.low = rate
		}
		z.high = max(z.high, rate)
	}
	if z.low != 0 && z.low <= z.holds || z.fails != 0 && z.high >= z.fails {
		// An undecided rate outside the bracket is decided by the bracket's ends.
		z.low, z.high = 0, 0
	}
}

// below approaches from below: it doubles the rate until it fails, then bisects.
func (s *search) below() error {
	var z zone
	look := func(rate float64) error {
		e, found, err := s.explored(rate, FromBelow)
		if err != nil {
			return err
		}
		z.put(rate, found, e)
		s.take(z)
		return nil
	}
	from, most := s.o.From.Float(), s.o.Most.Float()
	start := rounded(min(from, most))
	for rate := start; z.fails == 0; rate = rounded(min(2*rate, most)) {
		if err := look(rate); err != nil {
			return err
		}
		if rate >= most {
			break
		}
	}
	for rate := rounded(start / 2); z.holds == 0 && rate >= start*leastRate; rate = rounded(rate / 2) {
		if err := look(rate); err != nil {
			return err
		}
	}
	if z.holds == 0 {
		return nil // it holds at no rate
	}
	for {
		// Bisect up to the lowest undecided rate, and down to the highest undecided one.
		end := z.fails
		if z.low != 0 {
			end = z.low
		}
		rate, ok := 0.0, false
		if end != 0 {
			rate, ok = s.middle(z.holds, end)
		}
		if !ok && z.high != 0 && z.fails != 0 {
			rate, ok = s.middle(z.high, z.fails)
		}
		if !ok {
			return nil
		}
		if err := look(rate); err != nil {
			return err
		}
	}
}

// take makes the result from below the answer so far.
func (s *search) take(z zone) {
	s.answer.Below = Bracket{z.holds, z.fails}
	if z.byGenerator {
		s.answer.Below.Fails = 0
	}
	s.answer.Bracket = s.answer.Below
	s.answer.Limit, s.answer.Why = z.limit, z.why
	if z.fails == 0 {
		s.answer.Limit, s.answer.Why = MostRate, mostWhy
	}
}

// above approaches from above: it overloads the system and comes down from there.
func (s *search) above() error {
	b := s.answer.Below
	if b.Holds == 0 || b.Fails == 0 {
		return nil
	}
	top := rounded(min(overload*b.Fails, max(s.o.Most.Float(), b.Fails)))
	if _, _, err := s.one(top, max(s.times[b.Fails], 1), FromAbove, &evidence{}); err != nil {
		return err
	}
	step := s.o.Within
	rate := b.Fails
	suspected := 0.0 // the highest rate that held from below and failed from above
	for {
		_, found, err := s.explored(rate, FromAbove)
		if err != nil {
			return err
		}
		switch found {
		case holds:
			s.answer.Above.Holds = rate
		case fails:
			s.answer.Above.Fails = rate
			if rate <= b.Holds {
				suspected = max(suspected, rate)
			}
		}
		if found == holds {
			break
		}
		if rate > b.Holds {
			rate = b.Holds
			continue
		}
		next := rounded(rate / (1 + step))
		step *= 2
		if next >= rate || next < s.o.From.Float()*leastRate {
			break
		}
		rate = next
	}
	s.enclose()
	if suspected == 0 {
		return nil
	}
	return s.hysteresis(suspected, top)
}

// enclose makes the answer the smallest bracket that contains the results of both approaches.
func (s *search) enclose() {
	a := &s.answer
	a.Holds = a.Below.Holds
	if a.Above.Holds < a.Holds {
		a.Holds = a.Above.Holds
	}
	a.Fails = max(a.Below.Fails, a.Above.Fails)
	if a.Above.Holds >= a.Fails { // what fails from below holds from above: chance, or warming up
		a.Fails = rounded(a.Above.Holds * (1 + s.o.Within))
	}
}

// confirm moves the two ends of the answer outwards until fresh trials confirm
// them. An answer without a lower end has an upper one to confirm all the same.
func (s *search) confirm() error {
	if s.answer.Holds > 0 {
		if err := s.confirmHolds(); err != nil {
			return err
		}
	}
	return s.confirmFails()
}

// confirmHolds confirms the lower end of the answer; it is 0 if no rate is confirmed to hold.
func (s *search) confirmHolds() error {
	a := &s.answer
	least := s.o.From.Float() * leastRate
	for step, k := s.o.Within, 1; ; step, k = 2*step, k+1 {
		e, confirmed, err := s.confirmed(a.Holds, holds, k)
		if err != nil {
			return err
		}
		if a.HoldsConfirmed = confirmed; confirmed {
			return nil
		}
		if a.AtLeast() && e.missed > 0 {
			a.Limit, a.Why = e.limit()
		}
		if a.Holds = outwards(a.Holds, -step); a.Holds < least {
			a.Holds = 0
			return nil
		}
	}
}

// confirmFails confirms the upper end of the answer, if it has one.
func (s *search) confirmFails() error {
	a := &s.answer
	most := s.o.Most.Float()
	for step, k := s.o.Within, 1; !a.AtLeast(); step, k = 2*step, k+1 {
		e, confirmed, err := s.confirmed(a.Fails, fails, k)
		if err != nil {
			return err
		}
		if a.FailsConfirmed = confirmed; confirmed {
			a.Limit, a.Why = e.limit()
			break
		}
		switch a.Fails = outwards(a.Fails, step); {
		case e.generator > 1:
			a.Fails, a.Limit, a.Why = 0, Generator, e.found[Generator]
		case a.Fails > most:
			a.Fails, a.Limit, a.Why = 0, MostRate, mostWhy
		}
	}
	return nil
}

// mostWhy says why the answer has no upper end if no rate fails.
const mostWhy = "it was not shown to fail at the highest rate that may be tried"

// outwards moves an end of the answer, in messages a second, by a share: down if step is
// negative.
func outwards(rate, step float64) float64 {
	if step < 0 {
		return rounded(rate / (1 - step))
	}
	return rounded(rate * (1 + step))
}

// confirmed makes the k-th test of an end of the answer, by fresh trials, and reports whether
// they show that the objectives hold or fail there, as want says.
func (s *search) confirmed(rate float64, want state, k int) (*evidence, bool, error) {
	alpha := (1 - s.o.Confidence) / 2 / float64(k*(k+1))
	is := func(e *evidence) bool {
		return e.shown(alpha) == want && e.trials >= s.o.Confirm
	}
	e, err := s.decide(rate, Confirming, 2, func(e *evidence) bool {
		return is(e) || want == holds && e.missed > 0 || want == fails && e.met > 0
	})
	return e, is(e), err
}
