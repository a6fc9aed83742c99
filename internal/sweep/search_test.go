package sweep

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sixnines/internal/hunttest"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// sharp is a system that holds up to a rate and is limited by one thing above.
func sharp(limit float64, by Limit) Measure {
	return func(t Trial) (Observation, error) {
		switch {
		case t.Rate.Float() <= limit:
			return Observation{judge.Met, "", "fast", nil}, nil
		case by == Generator:
			return Observation{judge.Undecided, Generator, "the generator is at its limit", nil}, nil
		}
		return Observation{judge.Missed, by, "too much", nil}, nil
	}
}

func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limit   float64
		by      Limit
		o       SearchOptions
		atLeast bool
		reason  Limit
	}{
		{"above where it begins", 12345, Latency, SearchOptions{}, false, Latency},
		{"below where it begins", 37.5, Refusals, SearchOptions{}, false, Refusals},
		{"backlog", 1000, Backlog, SearchOptions{}, false, Backlog},
		{"finer", 1e6, Latency, SearchOptions{Within: 0.001}, false, Latency},
		{"the generator", 50_000, Generator, SearchOptions{}, true, Generator},
		{"no limit", math.Inf(1), Latency, SearchOptions{}, true, MostRate},
		{"a limit of its own", 5000, Latency, SearchOptions{Most: scenario.PerSecond(3000)}, true, MostRate},
		{"begun beyond the limit", 5000, Latency, SearchOptions{From: scenario.PerSecond(9000), Most: scenario.PerSecond(3000)}, true, MostRate},
		{"slow", 0.013, Latency, SearchOptions{From: scenario.PerSecond(1)}, false, Latency},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := Search(sharp(tt.limit, tt.by), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if a.AtLeast() != tt.atLeast || a.Limit != tt.reason || a.Why == "" || !a.HoldsConfirmed || a.FailsConfirmed == tt.atLeast {
				t.Errorf("%+v by %q, %q, confirmed %v and %v", a.Bracket, a.Limit, a.Why, a.HoldsConfirmed, a.FailsConfirmed)
			}
			o := tt.o.withDefaults()
			highest := min(tt.limit, o.Most.Float())
			if a.Holds > highest || a.Holds < highest/(1+o.Within) || !tt.atLeast && (a.Fails <= highest || a.Fails > a.Holds*(1+o.Within)) {
				t.Errorf("%g lies in %+v", highest, a.Bracket)
			}
			if a.Hysteresis.Shown || a.Stopped != "" {
				t.Errorf("hysteresis %v, stopped %q", a.Hysteresis, a.Stopped)
			}
			fresh := 0
			for _, m := range a.Trials {
				if m.Stage == Confirming && m.Rate.Float() == a.Holds && m.Outcome == judge.Met {
					fresh++
				}
				if m.Rate.Float() > o.Most.Float() {
					t.Errorf("a trial at %s", m.Rate)
				}
			}
			if fresh < 5 {
				t.Errorf("%d fresh trials", fresh)
			}
		})
	}
}

func TestSearchWhereNothingHolds(t *testing.T) {
	a, err := Search(sharp(0, Loss), SearchOptions{})
	if err != nil || a.Holds != 0 || a.Fails == 0 || a.Fails > 2 || a.Limit != Loss || a.HoldsConfirmed || !a.FailsConfirmed || !a.NoneHolds() {
		t.Errorf("%+v by %s, confirmed %v, none holds %v, %v", a.Bracket, a.Limit, a.FailsConfirmed, a.NoneHolds(), err)
	}
}

// A system that does not recover from an overload holds at no rate from above. That does not show
// that it holds at none.
func TestSearchOfWhatDoesNotRecover(t *testing.T) {
	hurt := false
	a, err := Search(func(t Trial) (Observation, error) {
		hurt = t.Stage == FromAbove && (hurt || t.Rate.Float() > 5000)
		if hurt {
			return Observation{judge.Missed, Latency, "slow", nil}, nil
		}
		return sharp(4000, Latency)(t)
	}, SearchOptions{})
	if err != nil || a.Holds != 0 || a.Above.Holds != 0 || a.Below.Holds < 3800 || a.Fails < 4000 || !a.FailsConfirmed || a.NoneHolds() {
		t.Errorf("%+v, from below %+v, confirmed %v, none holds %v, %v", a.Bracket, a.Below, a.FailsConfirmed, a.NoneHolds(), err)
	}
}

// A system that has been overloaded carries less until it is started afresh.
func TestSearchReportsHysteresis(t *testing.T) {
	hurt := false
	a, err := Search(func(t Trial) (Observation, error) {
		if t.Stage != FromAbove {
			hurt = false
		}
		limit := 4000.0
		if hurt {
			limit = 3000
		}
		hurt = hurt || t.Stage == FromAbove && t.Rate.Float() > 5000
		return sharp(limit, Latency)(t)
	}, SearchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Hysteresis.Shown || a.Below.Holds < 3800 || a.Above.Holds > 3000 || a.Above.Holds < 2500 || a.Above.Fails <= 3000 {
		t.Errorf("from below %+v, from above %+v, hysteresis %v", a.Below, a.Above, a.Hysteresis)
	}
	if a.Holds != a.Above.Holds || a.Fails != a.Below.Fails || !a.HoldsConfirmed || !a.FailsConfirmed {
		t.Errorf("the answer %+v is not what both enclose", a.Bracket)
	}
}

// A limit that differs from run to run is no hysteresis, though a rate that holds once
// often fails the next time: it may be claimed in one search of twenty.
func TestSearchClaimsNoHysteresisByChance(t *testing.T) {
	seeds := hunttest.Cases(t, 400, 10_000)
	for _, spread := range []float64{0.05, 0.1, 0.3} {
		tested, claimed := 0, 0
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 3))
			a, err := Search(func(t Trial) (Observation, error) {
				return sharp(1000*(1+spread*rng.Float64()), Latency)(t)
			}, SearchOptions{From: scenario.PerSecond(100)})
			if err != nil {
				t.Fatal(err)
			}
			if a.Hysteresis.Rate > 0 {
				tested++
			}
			if a.Hysteresis.Shown {
				claimed++
			}
		}
		t.Logf("a limit that varies by %g: tested in %d and claimed in %d of %d searches", spread, tested, claimed, seeds)
		if claimed > seeds/20 || tested == 0 {
			t.Errorf("a limit that varies by %g: tested in %d and claimed in %d of %d searches", spread, tested, claimed, seeds)
		}
	}
}

// What the rate is limited by, and why, are of the same trials.
func TestSearchSaysWhyOfItsLimit(t *testing.T) {
	n := 0
	a, err := Search(func(t Trial) (Observation, error) {
		switch n++; {
		case t.Rate.Float() <= 1000:
			return Observation{judge.Met, "", "fast", nil}, nil
		case t.Stage == FromBelow: // a bad hour
			return Observation{judge.Missed, Latency, "p99 is missed", nil}, nil
		}
		return Observation{judge.Undecided, Generator, "the generator is at its limit", nil}, nil
	}, SearchOptions{})
	if err != nil || a.Limit != Generator || a.Why != "the generator is at its limit" {
		t.Errorf("limited by %s: %s, %v", a.Limit, a.Why, err)
	}
}

// If each run has a different limit, the answer encloses the median of the limits.
func TestSearchOfRunsThatDiffer(t *testing.T) {
	const seeds = 400
	outside := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a, err := Search(func(t Trial) (Observation, error) {
			return sharp(1000+rng.Float64()*300, Latency)(t)
		}, SearchOptions{From: scenario.PerSecond(100)})
		if err != nil {
			t.Fatal(err)
		}
		if a.Holds > 1150 || a.Fails <= 1150 {
			outside++
		}
		if a.Holds < 700 || a.Fails > 1800 {
			t.Errorf("seed %d: %+v", seed, a.Bracket)
		}
	}
	t.Logf("%d of %d answers are beside the median", outside, seeds)
	if outside > seeds/20 {
		t.Errorf("%d of %d answers are beside the median", outside, seeds)
	}
}

// A confirming trial that was made again counts for nothing, and so others decide; one on the way
// counts, since the answer does not depend on it.
func TestSearchDoesNotRestOnTrialsMadeAgain(t *testing.T) {
	again := []result.Attempt{{Ending: result.AttemptCut}}
	for name, of := range map[string]func(Trial, int) bool{
		"one":         func(t Trial, n int) bool { return t.Stage == Confirming && n == 1 },
		"on the way":  func(t Trial, _ int) bool { return t.Stage != Confirming },
		"all of them": func(t Trial, _ int) bool { return t.Stage == Confirming },
	} {
		confirming := 0
		a, err := Search(func(t Trial) (Observation, error) {
			o, err := sharp(5000, Latency)(t)
			if t.Stage == Confirming {
				confirming++
			}
			if of(t, confirming) {
				o.Attempts = again
			}
			return o, err
		}, SearchOptions{})
		if err != nil || a.HoldsConfirmed != (name != "all of them") || a.FailsConfirmed != (name != "all of them") {
			t.Errorf("%s: confirmed %v and %v, %v", name, a.HoldsConfirmed, a.FailsConfirmed, err)
		}
		for _, m := range a.Trials {
			if m.Stage == Confirming && len(m.Attempts) > 0 && (m.Outcome != judge.Undecided || !strings.HasPrefix(m.Found, "it was made again: it was ended early before; it would be ")) {
				t.Errorf("%s: %+v", name, m)
			}
			if m.Stage == Confirming && m.Times != 1 {
				t.Errorf("%s: a confirming trial is longer than the one before, which was made again: %+v", name, m.Trial)
			}
		}
	}
}

// A trial that is undecided by itself is followed by a longer one also if it was made again, as when its file was lost: the search
// takes the same course, at each stage.
func TestSearchKeepsItsCourse(t *testing.T) {
	for _, stage := range []Stage{FromBelow, FromAbove, Confirming} {
		var courses [2][]Trial
		for i, again := range [2][]result.Attempt{nil, {{Ending: result.AttemptLost}}} {
			withIt := 0
			a, err := Search(func(t Trial) (Observation, error) {
				o, err := sharp(5000, Latency)(t)
				if t.Stage == stage && t.Times < 4 {
					withIt++
					o = Observation{Outcome: judge.Undecided, Found: "too short", Attempts: again}
				}
				return o, err
			}, SearchOptions{})
			if err != nil || withIt == 0 {
				t.Fatalf("%s: %d trials, %v", stage, withIt, err)
			}
			for _, m := range a.Trials {
				courses[i] = append(courses[i], m.Trial)
			}
		}
		if !slices.Equal(courses[0], courses[1]) {
			t.Errorf("%s: %v, and with lost files %v", stage, courses[0], courses[1])
		}
	}
}

func TestSearchStops(t *testing.T) {
	for name, end := range map[string]error{"wanted": ErrStopped, "broken": errors.New("broken")} {
		n := 0
		a, err := Search(func(trial Trial) (Observation, error) {
			if n++; n > 6 {
				return Observation{}, end
			}
			return sharp(5000, Latency)(trial)
		}, SearchOptions{})
		if len(a.Trials) != 6 || a.Holds != 4757 || a.HoldsConfirmed {
			t.Errorf("%s: %d trials, %+v", name, len(a.Trials), a.Bracket)
		}
		switch {
		case name == "broken" && !errors.Is(err, end), name == "wanted" && (err != nil || !strings.Contains(a.Stopped, "after 6 trials")):
			t.Errorf("%s: %v, %q", name, err, a.Stopped)
		}
	}
	a, err := Search(sharp(5000, Latency), SearchOptions{MaxTrials: 9})
	if err != nil || len(a.Trials) != 9 || !strings.Contains(a.Stopped, "9 trials") {
		t.Errorf("%d trials, %q, %v", len(a.Trials), a.Stopped, err)
	}
}

// An undecided trial is followed by longer ones, up to MaxTimes.
func TestSearchGoesOnForLonger(t *testing.T) {
	a, err := Search(func(t Trial) (Observation, error) {
		if x := t.Rate.Float(); x > 2000 && x < 6000 && t.Times < 4 {
			return Observation{judge.Undecided, "", "too short", nil}, nil
		}
		return sharp(4000, Latency)(t)
	}, SearchOptions{})
	if err != nil || a.Holds != 4000 && a.Holds < 3880 || a.Fails <= 4000 || a.Fails > a.Holds*1.03 {
		t.Errorf("%+v, %v", a.Bracket, err)
	}
	// And a rate that no length decides lies within the answer.
	a, err = Search(func(t Trial) (Observation, error) {
		if x := t.Rate.Float(); x > 3600 && x < 4400 {
			return Observation{judge.Undecided, "", "too near", nil}, nil
		}
		return sharp(4000, Latency)(t)
	}, SearchOptions{})
	if err != nil || a.Holds > 3600 || a.Holds < 3600/1.04 || a.Fails < 4400 || a.Fails > 4400*1.04 {
		t.Errorf("%+v, %v", a.Bracket, err)
	}
}

// The evidence of trials is wrong no more often than stated, whenever it is evaluated.
func TestEvidenceErrsAsSeldomAsItSays(t *testing.T) {
	const series = 20_000
	rng := rand.New(rand.NewPCG(5, 5))
	for _, alpha := range []float64{0.1, 0.0125} {
		wrong := 0
		for range series {
			var e evidence
			for range 50 {
				o := Observation{Outcome: judge.Undecided}
				if rng.Float64() < trialError {
					o.Outcome = judge.Met
				}
				if e.add(o); e.shown(alpha) == holds {
					wrong++
					break
				}
			}
		}
		if most := alpha + 4*math.Sqrt(alpha/series); float64(wrong)/series > most {
			t.Errorf("at %g: %d of %d series show what is not so", alpha, wrong, series)
		}
		if wrong == 0 {
			t.Errorf("at %g no series errs", alpha)
		}
	}
	// What it takes.
	for n, alpha := range map[int]float64{1: 0.1, 2: 0.0125, 3: 0.0125 / 6} {
		var e evidence
		for i := range n {
			if e.shown(alpha) != untold {
				t.Errorf("%d trials show it at %g", i, alpha)
			}
			e.add(Observation{Outcome: judge.Missed, Limit: Backlog})
		}
		if limit, _ := e.limit(); e.shown(alpha) != fails || limit != Backlog {
			t.Errorf("%d trials that miss show %s at %g", n, e.shown(alpha), alpha)
		}
	}
}
