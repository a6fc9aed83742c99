package sweep

import (
	"errors"
	"math"
	"slices"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

// Stage is the part of a search that a trial belongs to.
type Stage string

// The stages.
const (
	// FromBelow: no overload came before, or the system has recovered from it.
	FromBelow Stage = "from below"
	// FromAbove: the trials just before were at higher rates, beginning with one that
	// overloads. The trial should use the same system, if it can be kept.
	FromAbove Stage = "from above"
	// Confirming: the trial uses new topics, on a freshly started system if possible.
	Confirming Stage = "confirming"
)

// Trial is a trial that [Search] asks for.
type Trial struct {
	Rate  scenario.Rate
	Times int // how many times as long as the shortest trial: 1, 2, 4, …
	Stage Stage
}

// Made is a trial that was made, and what it showed.
type Made struct {
	Trial
	Observation
}

// Measure makes a trial. Any error ends the search; [ErrStopped] ends it without an error of
// [Search].
type Measure func(Trial) (Observation, error)

// ErrStopped says that the search shall end with what is known so far.
var ErrStopped = errors.New("stopped")

// SearchOptions are the options of [Search]. Fields that are 0 have their defaults.
type SearchOptions struct {
	From       scenario.Rate // the first rate; default 1000/s
	Most       scenario.Rate // the highest rate that may be tried; default [scenario.MaxOpenRate]
	Within     float64       // width of the answer: its upper end ÷ its lower end − 1; default 0.03
	Confidence float64       // of the answer, in (0, 1); default 0.95
	MaxTimes   int           // largest length of a trial, in lengths of the shortest; default 4
	MaxTrials  int           // limit on the number of all trials; default 200
	// Confirm is the least number of fresh trials at each end of the answer, none of
	// which may show the opposite; default 5.
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
	// explore is the error allowed in decisions about rates on the way. The answer
	// depends only on fresh trials at its two ends, not on these.
	explore = 0.1
	// mostTrials is the largest number of trials for one decision about a rate.
	mostTrials = 12
	// overload is the rate at which the approach from above begins, in multiples of
	// the lowest rate that fails.
	overload = 1.5
	// leastRate is the lowest rate that is tried, as a share of the first rate.
	leastRate = 1.0 / 1024
)

// Bracket is a rate at which the objectives hold and a higher one at which they fail, in
// messages a second; 0 if no such rate is known.
type Bracket struct {
	Holds, Fails float64
}

// Answer is the result of [Search]: the highest rate at which the objectives hold.
type Answer struct {
	// Bracket encloses the rate: [Holds, Fails). Holds is 0 if no rate was shown to hold. Fails
	// is 0 if no rate was shown to fail; then the rate is at least Holds.
	Bracket
	Confidence     float64 // that Bracket encloses the rate, for a system that does not change between trials
	HoldsConfirmed bool    // by fresh trials at Holds
	FailsConfirmed bool    // by fresh trials at Fails
	// Limit is what limits the rate at the upper end, Why what a trial there found.
	Limit Limit
	Why   string
	// Below and Above are the results of the approaches from a low rate and from an
	// overload. Above is zero if the system could not be overloaded.
	Below, Above Bracket
	// Hysteresis says whether the system carries less after an overload than before.
	Hysteresis Hysteresis
	Stopped    string // why the search ended early; empty: it did not
	Trials     []Made // all trials, in the order in which they were made
}

// AtLeast reports whether the answer has no upper end.
func (a Answer) AtLeast() bool { return a.Fails == 0 }

// NoneHolds reports whether it is shown that no tried rate holds: the lowest of them is confirmed
// to fail.
func (a Answer) NoneHolds() bool {
	return a.Holds == 0 && a.FailsConfirmed && !slices.ContainsFunc(a.Trials, func(t Made) bool { return t.Rate.Float() < a.Fails })
}

// Search looks for the highest rate at which a system holds its objectives. It assumes that
// they do not become easier at higher rates.
//
// First it doubles the rate from a low one until the objectives fail, and bisects the
// logarithm of the rate between the highest that holds and the lowest that fails, until
// these are within o.Within of each other; rates that cannot be decided stay between them.
// At each rate it repeats trials, each twice as long as the last if that was undecided,
// until they show something with an error of at most 10 %. Then it approaches from above:
// one trial at one and a half times the lowest rate that fails, and down from there until
// the objectives hold. If a rate that holds from below fails from above, fresh trials test
// whether that is hysteresis (see [Hysteresis]); the answer encloses both.
//
// Finally it confirms the two ends by fresh trials, at least o.Confirm at each, and the
// answer depends on these alone. A fresh trial that was made again is undecided, whatever it shows.
// Without a rate that holds, the lowest that fails is confirmed. The k-th test of an end may err with
// (1−Confidence)/2 ÷ k(k+1); over all k that sums to the error (1−Confidence)/2 of the end.
// An end that is not confirmed is moved outwards, by Within, twice Within and so on. Trials
// at one rate that contradict each other decide nothing, so a system that differs from run
// to run gets a wide answer.
//
// Search calls measure on the caller's goroutine, one trial after the other. It returns the
// error of a trial, other than [ErrStopped], with what was known until then.
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

// errEnough ends a search that has made MaxTrials trials.
var errEnough = errors.New("enough trials")

// search is the state of one call of [Search].
type search struct {
	measure Measure
	o       SearchOptions
	answer  Answer
	times   map[float64]int // length of the next trial at a rate, in lengths of the shortest
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

// one makes one trial, adds it to the answer and the evidence, and returns errEnough after
// MaxTrials. withdrawn says that the trial showed something and does not count because it was made again.
func (s *search) one(rate float64, times int, stage Stage, e *evidence) (o Observation, withdrawn bool, err error) {
	if len(s.answer.Trials) >= s.o.MaxTrials {
		return Observation{}, false, errEnough
	}
	t := Trial{Rate: rateOf(rate), Times: times, Stage: stage}
	if o, err = s.measure(t); err != nil {
		return o, false, err
	}
	if stage == Confirming {
		shown := o.Outcome
		o = o.chosen()
		withdrawn = o.Outcome != shown
	}
	s.answer.Trials = append(s.answer.Trials, Made{t, o})
	e.add(o)
	return o, withdrawn, nil
}

// decide repeats trials at a rate until enough reports true, trials contradict each other,
// two show that the generator is the limit, patience of the longest ones were undecided, or
// mostTrials were made.
func (s *search) decide(rate float64, stage Stage, patience int, enough func(*evidence) bool) (*evidence, error) {
	e := &evidence{}
	times := max(s.times[rate], 1)
	for e.trials < mostTrials && patience > 0 && !enough(e) && !e.contradictory() && e.generator < 2 {
		o, withdrawn, err := s.one(rate, times, stage, e)
		if err != nil {
			return e, err
		}
		if o.Outcome == judge.Undecided && o.Limit != Generator && !withdrawn {
			if times == s.o.MaxTimes {
				patience--
			}
			times = min(2*times, s.o.MaxTimes)
		}
	}
	s.times[rate] = times
	return e, nil
}

// explored decides a rate on the way to the answer.
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

// middle returns the geometric mean of two rates, rounded; ok is false if they are within
// Within of each other, or if no rounded rate lies between them.
func (s *search) middle(low, high float64) (rate float64, ok bool) {
	rate = rounded(math.Sqrt(low * high))
	return rate, high > low*(1+s.o.Within) && rate > low && rate < high
}
