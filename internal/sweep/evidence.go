package sweep

import (
	"math"

	"sixnines/internal/judge"
)

const (
	// trialError is the probability that one trial shows the opposite of the truth
	// about its rate. An end of an interval of package judge is a bound at 97.5 %;
	// twice that error is assumed, because intervals by stretches of a run cover 89 %
	// instead of 95 % if successive seconds are correlated.
	trialError = 0.05
	// stake is the share of the evidence so far that is bet on each trial.
	stake = 0.5
)

// evidence is what trials at one rate have shown so far, in a form that may be evaluated
// after each trial.
//
// If the objective does not hold at the rate, a trial shows that it does with a
// probability of at most ε. So 1 − s + s·[met]/ε has a mean of at most 1 for a stake s.
// The product of these over independent trials is a nonnegative supermartingale that
// begins at 1. By Ville's inequality it ever reaches 1/α with a probability of at most α,
// whatever rule ends the trials. The same applies to the opposite. (Betting against a null
// hypothesis: Shafer, Testing by betting, JRSS A 184, 2021; Ramdas and others,
// Game-theoretic statistics and safe anytime-valid inference, Statistical Science 38,
// 2023.) An undecided trial lowers both products.
type evidence struct {
	holds, fails float64 // logarithms of the products

	trials, met, missed, generator int
	missedBy                       map[Limit]int
	found                          map[Limit]string // what the last trial with this limit found
}

// add adds a trial to the evidence.
func (e *evidence) add(o Observation) {
	if e.missedBy == nil {
		e.missedBy, e.found = map[Limit]int{}, map[Limit]string{}
	}
	if o.Limit != "" {
		e.found[o.Limit] = o.Found
	}
	win, lose := math.Log(1-stake+stake/trialError), math.Log(1-stake)
	e.trials++
	holds, fails := lose, lose
	switch {
	case o.Outcome == judge.Met:
		e.met++
		holds = win
	case o.Outcome == judge.Missed:
		e.missed++
		e.missedBy[o.Limit]++
		fails = win
	case o.Limit == Generator:
		e.generator++
	}
	e.holds += holds
	e.fails += fails
}

// shown returns what is shown with an error of at most alpha: that the objective holds,
// that it fails, or neither. Trials that contradict each other show neither, because the
// outcome then depends on the run and not only on the rate.
func (e *evidence) shown(alpha float64) state {
	limit := -math.Log(alpha)
	switch {
	case e.contradictory():
		return untold
	case e.holds >= limit:
		return holds
	case e.fails >= limit:
		return fails
	case e.generator > 1 && e.missed == 0:
		return generatorFails
	}
	return untold
}

// contradictory reports whether trials at the same rate showed opposites.
func (e *evidence) contradictory() bool { return e.met > 0 && e.missed > 0 }

// state is what is known about a rate.
type state int

const (
	untold state = iota
	holds
	fails
	generatorFails // the generator cannot send it, so nothing is shown about the system
)

func (s state) String() string {
	return [...]string{"undecided", "holds", "fails", "generator"}[s]
}

// limit returns the limit of most of the trials that missed, and what the last trial with that
// limit found.
func (e *evidence) limit() (most Limit, found string) {
	for _, l := range []Limit{Latency, Backlog, Refusals, Loss, Count} {
		if e.missedBy[l] > e.missedBy[most] {
			most = l
		}
	}
	if most == "" && e.generator > 0 {
		most = Generator
	}
	return most, e.found[most]
}
