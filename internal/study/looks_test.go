package study

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// lookedAt is [small] with looks at the default length.
func lookedAt(t *testing.T, rounds, tests string) *Study {
	t.Helper()
	s, err := lookedText(rounds, tests)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lookedText(rounds, tests string) (*Study, error) {
	return Parse("small.yaml", []byte(strings.Replace(smallText, "default: {rounds: 6,", "default: {"+rounds+",", 1)+"\nconclusions:\n  - name: it\n    claim: it is so\n    tests:\n      - "+tests))
}

// noisy draws p50 of rounds about a level; what disturbs the machine disturbs a round of both cells alike.
func noisy(r *rand.Rand, level float64, shared []float64) []*result.Run {
	var all []*result.Run
	for _, x := range shared {
		all = append(all, ms(level*math.Exp(x+0.1*r.NormFloat64())))
	}
	return all
}

// Where the truth is exactly at the bound, or two cells are alike, each verdict is wrong: however many looks there are, no
// more than one test in twenty has one.
func TestLooksErr(t *testing.T) {
	for _, tt := range []struct {
		rounds, test string
		most, tried  int
	}{
		{"rounds: 20, looks: [8, 12]", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1}", 20, 1000},
		{"rounds: 30, looks: [8, 12, 20]", "{kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}", 30, 1000},
		{"rounds: 10, looks: [7]", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", 10, 300}, // which takes longer to compute
	} {
		s, r, wrong := lookedAt(t, tt.rounds, tt.test), rand.New(rand.NewPCG(41, 1)), 0
		for range tt.tried {
			shared := make([]float64, tt.most)
			for i := range shared {
				shared[i] = 0.2 * r.NormFloat64()
			}
			o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": noisy(r, 1, shared), "y/r-100": noisy(r, 1, shared)})
			if f, _ := o.find(&s.Conclusions[0].Tests[0]); f.Verdict != Undecidable {
				wrong++
			}
		}
		if wrong == 0 || 20*wrong > tt.tried {
			t.Errorf("%s: %d of %d are wrong", tt.test, wrong, tt.tried)
		}
	}
}

// numbers repeats values until there are so many.
func numbers(n int, values ...float64) (all []float64) {
	for i := range n {
		all = append(all, values[i%len(values)])
	}
	return all
}

// A test is decided at the first look that does, from the rounds until then alone.
func TestLooks(t *testing.T) {
	const ratio = "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}"
	one := numbers(20, fast...)
	change := func(round int, how func(*result.Summary, *result.Distribution)) func([]*result.Run) []*result.Run {
		return func(all []*result.Run) []*result.Run {
			how(all[round-1].Summary, all[round-1].Summary.Histograms[result.DeliveryResponse])
			return all
		}
	}
	for _, tt := range []struct {
		name, test string
		y          []float64
		change     func([]*result.Run) []*result.Run // of y
		want       Verdict
		look       int // 0: none
		says       string
	}{
		{"clear", ratio, numbers(20, slow...), nil, Agrees, 8, "decided after 8 of at most 20 rounds, at look 1 of 3, with 98.75 % confidence"},
		{"clearly not", ratio, one, nil, Disagrees, 8, "look 1 of 3"},
		{"near", ratio, numbers(20, 1.4, 1.6, 1.7), nil, Undecidable, 20, "not decided after 20 of at most 20 rounds, at look 3 of 3, with 97.5 % confidence"},
		{"later rounds are another matter", ratio, append(numbers(8, slow...), numbers(12, 0.1)...), nil, Agrees, 8, "in 8 rounds"},
		{"one that speaks against it", ratio, append([]float64{0.1}, numbers(19, slow...)...), nil, Agrees, 12, "at look 2 of 3"},
		{"an INVALID round may be anything", ratio, numbers(20, slow...), change(3, invalid), Agrees, 12, "whatever it is in the 1 of which nothing is known"},
		{"one made again does not count before the last look", ratio, append(numbers(20, 1.4, 1.6), 1.5), change(3, invalid), Undecidable, 20, "in 20 rounds, at least 1.5 is claimed"},
		{"not all rounds of the first look", ratio, numbers(7, slow...), nil, Undecidable, 0, "1 of 8 rounds have no result (round 8 was not made)"},
		{"not all rounds of the second look", ratio, numbers(11, 1.4, 1.6), nil, Undecidable, 8, "not decided after 8 of at most 20 rounds"},
		{"faster", "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99]}", numbers(20, slow...), nil, Agrees, 8, "look 1 of 3"},
		{"above", "{kind: above, cells: [y/r-100], figures: [p50], bound: 1.5ms}", numbers(20, slow...), nil, Agrees, 8, "look 1 of 3"},
		{"nothing occurs", "{kind: none, cells: [y/r-100], figures: [p99/p50]}", numbers(20, slow...), nil, Disagrees, 8, "look 1 of 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := lookedAt(t, "rounds: 20, looks: [8, 12]", tt.test)
			runs := rounds(tt.y...)
			if tt.change != nil {
				runs = tt.change(runs)
			}
			o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": rounds(numbers(max(20, len(runs)), fast...)...), "y/r-100": runs})
			planned(o)
			f := Decide(o)[0].Tests[0]
			look := 0
			if f.Look != nil {
				look = f.Look.Rounds
			}
			if early := look > 0 && look < 20 && tt.want != Undecidable; o.DecidedEarly(&s.Conclusions[0].Tests[0]) != early {
				t.Errorf("decided early: %t", !early)
			}
			if f.Verdict != tt.want || look != tt.look || !strings.Contains(f.Text, tt.says) {
				t.Errorf("%s after %d, want %s after %d with %q: %+v", f.Verdict, look, tt.want, tt.look, tt.says, f)
			}
		})
	}
}

// planned adds the trials that are not made yet.
func planned(o *Outcome) {
	for i := range o.Cells {
		c := &o.Cells[i]
		for n := len(c.Trials); n > 0 && n < c.Cell.Rounds; n++ {
			c.Trials = append(c.Trials, TrialOutcome{Round: n + 1})
		}
	}
}

// A cell needs no more rounds once all tests that use it are decided, or cannot be.
func TestEnough(t *testing.T) {
	const tests = `{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}
      - {kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_least: 1.5}
      - {kind: below, cells: [x/r-400], figures: [p50], bound: 2ms}
      - {kind: faster, a: x/r-400, b: y/r-400, figures: [p50]}`
	clear, near := numbers(20, slow...), numbers(20, 1.4, 1.6, 1.7)
	one := numbers(20, fast...)
	for _, tt := range []struct {
		name string
		made map[string][]float64
		want map[string]int
	}{
		{"all are clear", map[string][]float64{"x/r-100": one, "y/r-100": clear, "y/r-200": clear, "x/r-400": one, "y/r-400": clear},
			map[string]int{"x/r-100": 8, "y/r-100": 8, "y/r-200": 8, "x/r-400": 8, "y/r-400": 8}},
		{"one test goes on with its cells", map[string][]float64{"x/r-100": one[:8], "y/r-100": clear[:8], "y/r-200": near[:8], "x/r-400": one[:8], "y/r-400": clear[:8]},
			map[string]int{"y/r-100": 8, "x/r-400": 8, "y/r-400": 8}},
		{"before the first look", map[string][]float64{"x/r-100": one[:8], "y/r-100": clear[:7], "y/r-200": clear[:8], "x/r-400": one[:8], "y/r-400": clear[:8]},
			map[string]int{"y/r-200": 8, "x/r-400": 8, "y/r-400": 8}},
		{"one that disagrees decides all", map[string][]float64{"x/r-100": one[:8], "y/r-100": clear[:8], "y/r-200": near[:8], "x/r-400": numbers(8, 3, 3.1), "y/r-400": clear[:8]},
			map[string]int{"x/r-100": 8, "y/r-100": 8, "y/r-200": 8, "x/r-400": 8, "y/r-400": 8}},
		{"what has no partner waits for none", map[string][]float64{"x/r-100": one[:8], "x/r-400": one[:8]},
			map[string]int{"x/r-100": 8, "y/r-100": 8, "y/r-200": 8, "x/r-400": 8, "y/r-400": 8}},
	} {
		s := lookedAt(t, "rounds: 20, looks: [8, 12]", tests)
		runs := map[string][]*result.Run{}
		for name, values := range tt.made {
			runs[name] = rounds(values...)
		}
		o := outcome(t, s, Default, runs)
		planned(o)
		got := o.Enough()
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		for i := range o.Cells { // as they are when they were stopped
			c := &o.Cells[i]
			if n := got[c.Cell.Name]; n > 0 && len(c.Trials) > n {
				c.Trials, c.Unneeded = c.Trials[:n], len(c.Trials)-n
			}
		}
		if again := o.Enough(); !maps.Equal(got, again) {
			t.Errorf("%s: when they are stopped %v, not %v", tt.name, again, got)
		}
		f := Decide(o)[0].Tests[1] // the near one
		if spared := strings.Contains(f.Text, "no more are made, since the conclusion is decided without it"); spared != strings.HasPrefix(tt.name, "one that disagrees") {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// A cell that a test takes by itself stays as it was at the look that decided it, while the test waits for others.
func TestLooksOfParts(t *testing.T) {
	for _, test := range []string{"{kind: above, cells: [x/r-100, y/r-100], figures: [p50], bound: 1.5ms}", "{kind: share, cells: [x/r-100, y/r-100], figures: [p50], at_least: 1500000, share: 1}"} {
		s := lookedAt(t, "rounds: 20, looks: [8, 12]", test)
		near := append(numbers(12, 1.4, 1.6, 1.7), numbers(8, 1.6)...)
		runs := map[string][]*result.Run{"x/r-100": rounds(near[:8]...), "y/r-100": rounds(numbers(8, slow...)...)}
		o := outcome(t, s, Default, runs)
		planned(o)
		if got := o.Enough(); !maps.Equal(got, map[string]int{"y/r-100": 8}) {
			t.Errorf("%s: %v", test, got)
		}
		// To the last look of the one, with the other as it was at the first.
		runs["x/r-100"] = rounds(near...)
		o = outcome(t, s, Default, runs)
		o.Cell("y/r-100").Unneeded = 12
		f, fixed := o.find(&s.Conclusions[0].Tests[0])
		if f.Verdict != Agrees || f.Look.Rounds != 20 || fixed["y/r-100"].Rounds != 8 {
			t.Errorf("%s: %+v, %v", test, f, fixed)
		}
	}
}

// Looks are checked when a study is read, and belong to its design. Cells that no test uses are made until the first.
func TestLooksOfStudy(t *testing.T) {
	const test = "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}"
	for rounds, want := range map[string]string{
		"rounds: 20, looks: [8, 20]":                                         "a look after 20 rounds is not before that after 20",
		"rounds: 20, looks: [12, 8]":                                         "a look after 12 rounds is not before that after 8",
		"rounds: 20, looks: [7, 8]":                                          "a look after 7 rounds shows nothing (as one of 3 looks it takes 8 rounds)",
		"rounds: 6, loads: [{cells: [y], looks: [8]}]":                       "looks without rounds",
		"rounds: 20, looks: [8], loads: [{cells: [y], rounds: 20}]":          "is looked at after all rounds",
		"rounds: 6, loads: [{cells: [y/r-100], rounds: 20, looks: [8]}]":     "give the cells of a test the same rounds and looks",
		"rounds: 6, loads: [{cells: [\"*\"], rounds: 20, looks: [8, 8, 9]}]": "a look after 8 rounds is not before that after 8",
	} {
		if _, err := lookedText(rounds, test); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rounds, err, want)
		}
	}
	designs := map[string]bool{}
	for _, rounds := range []string{"rounds: 20", "rounds: 20, looks: [8]", "rounds: 20, looks: [9]", "rounds: 20, looks: [8, 9]"} {
		s := lookedAt(t, rounds, test)
		designs[s.Design()] = true
		cells, err := s.Cells(Default)
		if err != nil {
			t.Fatal(err)
		}
		at := func(name string) string {
			c := cells[slices.IndexFunc(cells, func(c Cell) bool { return c.Name == name })]
			return fmt.Sprint(c.Rounds, c.Looks)
		}
		if rounds == "rounds: 20, looks: [8, 9]" && (at("x/r-100") != "20 [8 9 20]" || at("x/r-200") != "8 []") {
			t.Errorf("%s, %s", at("x/r-100"), at("x/r-200"))
		}
	}
	if len(designs) != 4 {
		t.Errorf("%d designs", len(designs))
	}
}
