package sweep

import (
	"errors"
	"math"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

// Stage is where in a search a trial is made.
type Stage string

// The stages.
const (
	// FromBelow: no trial before was at a rate that overloads, or it was over.
	FromBelow Stage = "from below"
	// FromAbove: the trials just before were at higher rates, beginning with one that
	// overloads. The system is to be the same one, if it can be kept.
	FromAbove Stage = "from above"
	// Confirming: with new topics, on a system that is started afresh where it can be.
	Confirming Stage = "confirming"
)

// Trial is what is to be measured.
type Trial struct {
	Rate  scenario.Rate
	Times int // how many times as long as the shortest trial: 1, 2, 4, …
	Stage Stage
}

// Made is a trial and what it showed.
type Made struct {
	Trial
	Observation
}

// Measure makes a trial. It returns [ErrStopped] if no more are wanted; any error
// ends the search.
type Measure func(Trial) (Observation, error)

// ErrStopped says that the search is to end with what is known.
var ErrStopped = errors.New("stopped")

// SearchOptions are how to search. The zero value has the defaults.
type SearchOptions struct {
	From       scenario.Rate // where to begin; default 1000/s
	Most       scenario.Rate // no rate above; default [scenario.MaxOpenRate]
	Within     float64       // how much larger than its lower end the upper end of the answer may be; default 0.03
	Confidence float64       // of the answer, in (0, 1); default 0.95
	MaxTimes   int           // how many times as long as the shortest a trial may be; default 4
	MaxTrials  int           // limit on all trials; default 200
	// Confirm is how many fresh trials there are at least at each end of the answer,
	// none of which shows the opposite; default 5.
	Confirm int
}

func (o SearchOptions) withDefaults() SearchOptions {
	if o.From.IsZero() {
		o.From = scenario.PerSecond(1000)
	}
	if o.Most.IsZero() {
		o.Most = scenario.PerSecond(scenario.MaxOpenRate)
	}
	if o.Within <= 0 {
		o.Within = 0.03
	}
	if o.Confidence <= 0 {
		o.Confidence = 0.95
	}
	if o.MaxTimes < 1 {
		o.MaxTimes = 4
	}
	if o.MaxTrials < 1 {
		o.MaxTrials = 200
	}
	if o.Confirm < 1 {
		o.Confirm = 5
	}
	return o
}

const (
	// explore is the error that a rate on the way may be decided with: the answer
	// rests on fresh trials at its two ends, and not on these.
	explore = 0.1
	// mostTrials is how many there are at one rate at a time.
	mostTrials = 12
	// overload is how far above the lowest rate that fails an approach from above
	// begins.
	overload = 1.5
	// leastRate is below which rate nothing is tried, of the one that it began with.
	leastRate = 1.0 / 1024
)

// Bracket is a rate at which the objectives hold and a higher one at which they
// fail, in messages a second; 0 if none.
type Bracket struct {
	Holds, Fails float64
}

// Answer is the highest rate that holds the objectives.
type Answer struct {
	// Bracket encloses it: [Holds, Fails). Where no rate that was tried holds, Holds is
	// 0; where none was shown to fail, Fails is 0 and the answer is at least Holds.
	Bracket
	Confidence     float64 // that it does, for a system that is the same in each trial
	HoldsConfirmed bool    // by fresh trials at Holds
	FailsConfirmed bool    // by fresh trials at Fails
	// Limit is what the rate is limited by at the upper end, Why what a trial there
	// found.
	Limit Limit
	Why   string
	// Below and Above are what was found by going up from a low rate, and by coming
	// down from an overload. Above is empty where nothing could be overloaded.
	Below, Above Bracket
	// Hysteresis is whether after an overload the system carries less than before.
	Hysteresis Hysteresis
	Stopped    string // why the search ended early; empty: it did not
	Trials     []Made // all that were made, in their order
}

// AtLeast reports whether the answer has no upper end.
func (a Answer) AtLeast() bool { return a.Fails == 0 }

// Search looks for the highest rate at which a system holds its objectives, of
// which higher rates are taken to be no easier.
//
// It doubles the rate from a low one until the objectives fail, and bisects the
// logarithm of the rate between the highest that holds and the lowest that fails,
// until they are as near as asked; rates that cannot be decided stay between them.
// At each rate trials are repeated, each twice as long as the last where that was
// undecided, until what they show has an error of at most 10 %. Then the same is
// approached from above: one trial at one and a half times the lowest rate that
// fails, and down from there until the objectives hold. If a rate that holds from
// below fails from above, fresh trials test whether that is hysteresis (see
// [Hysteresis]); the answer encloses both.
//
// Last the two ends are confirmed by fresh trials, on which alone the answer rests:
// the k-th test of an end may err with (1−Confidence)/2 ÷ k(k+1), which sums to the
// half of it that the end has. There are at least Confirm of them. An end that is not confirmed is moved outwards, by Within, twice Within and so on.
// Trials at one rate that contradict each other decide nothing, so that a system
// that differs from run to run gets a wide answer.
//
// The error, if it is not nil, is of a trial; the answer then has what was known.
func Search(measure Measure, o SearchOptions) (Answer, error) {
	s := &search{measure: measure, o: o.withDefaults(), times: map[float64]int{}}
	s.answer.Confidence = s.o.Confidence
	err := s.run()
	if errors.Is(err, errEnough) {
		s.answer.Stopped, err = spell.Plural(s.o.MaxTrials, "trial")+" were made, and no more were allowed", nil
	}
	if errors.Is(err, ErrStopped) {
		s.answer.Stopped, err = "stopped after "+spell.Plural(len(s.answer.Trials), "trial"), nil
	}
	return s.answer, err
}

// errEnough ends a search that has made all trials that it may.
var errEnough = errors.New("enough trials")

// search is a search under way.
type search struct {
	measure Measure
	o       SearchOptions
	answer  Answer
	times   map[float64]int // how long trials at a rate became
}

func (s *search) run() error {
	if err := s.below(); err != nil {
		return err
	}
	if err := s.above(); err != nil {
		return err
	}
	return s.confirm()
}

// one makes one trial.
func (s *search) one(rate float64, times int, stage Stage, e *evidence) (Observation, error) {
	if len(s.answer.Trials) >= s.o.MaxTrials {
		return Observation{}, errEnough
	}
	t := Trial{Rate: rateOf(rate), Times: times, Stage: stage}
	o, err := s.measure(t)
	if err != nil {
		return o, err
	}
	s.answer.Trials = append(s.answer.Trials, Made{t, o})
	e.add(o)
	return o, nil
}

// decide repeats trials at a rate until they are enough, contradict each other, or
// as many of the longest as patience has were undecided.
func (s *search) decide(rate float64, stage Stage, patience int, enough func(*evidence) bool) (*evidence, error) {
	e := &evidence{}
	times := max(s.times[rate], 1)
	for e.trials < mostTrials && patience > 0 && !enough(e) && !e.contradictory() && e.generator < 2 {
		o, err := s.one(rate, times, stage, e)
		if err != nil {
			return e, err
		}
		if o.Outcome == judge.Undecided && o.Limit != Generator {
			if times == s.o.MaxTimes {
				patience--
			}
			times = min(2*times, s.o.MaxTimes)
		}
	}
	s.times[rate] = times
	return e, nil
}

// explored decides a rate on the way.
func (s *search) explored(rate float64, stage Stage) (*evidence, state, error) {
	e, err := s.decide(rate, stage, 1, func(e *evidence) bool { return e.shown(explore) != untold })
	return e, e.shown(explore), err
}

// rateOf is x messages a second, rounded as the values of an axis are.
func rateOf(x float64) scenario.Rate {
	r, err := scenario.ParseRate(number{kind: rate, per: perSecond}.text(x))
	if err != nil { // never, for a positive number
		return scenario.Rate{}
	}
	return r
}

// rounded is the rate that a trial at about x is made with.
func rounded(x float64) float64 { return rateOf(x).Float() }

// middle returns a rate between two that are farther apart than asked; ok is false
// where they are not.
func (s *search) middle(low, high float64) (rate float64, ok bool) {
	rate = rounded(math.Sqrt(low * high))
	return rate, high > low*(1+s.o.Within) && rate > low && rate < high
}
