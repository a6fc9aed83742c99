package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/result"
)

// Of nine rounds one may be anything in a comparison, of twelve two: with what is not known as it may
// be, and with none left out. Of fewer rounds none may.
func TestWholeComparisons(t *testing.T) {
	times := func(n int, run *result.Run) []*result.Run { return slices.Repeat([]*result.Run{run}, n) }
	mixed := func(n int, v float64, odd ...*result.Run) []*result.Run {
		return append(times(n-len(odd), ms(v)), odd...)
	}
	overload := spoilt(1, unstable)
	const (
		faster = "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}"
		two    = "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99]}"
		ratio  = "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}"
		like   = "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.2}"
	)
	for _, tt := range []struct {
		name, test string
		x, y       []*result.Run
		want       Verdict
	}{
		{"one of eight", faster, mixed(8, 1, overload), mixed(8, 2), Undecidable},
		{"one of nine", faster, mixed(9, 1, overload), mixed(9, 2), Agrees},
		{"one of nine, the other way", faster, mixed(9, 2, overload), mixed(9, 1), Disagrees},
		{"one of nine of each", faster, mixed(9, 1, overload), append([]*result.Run{overload}, mixed(8, 2)...), Undecidable},
		{"two of twelve", faster, mixed(12, 1, overload, overload), mixed(12, 2), Agrees},
		{"two figures take more", two, mixed(9, 1, overload), mixed(9, 2), Undecidable},
		{"two figures", two, mixed(12, 1, overload), mixed(12, 2), Agrees},
		{"a quotient", ratio, mixed(9, 1), mixed(9, 2, overload), Agrees},
		{"a small quotient", ratio, mixed(9, 1), mixed(9, 1.2, overload), Disagrees},
		{"a quotient, twice", ratio, mixed(9, 1), mixed(9, 2, overload, overload), Undecidable},
		{"alike", like, mixed(9, 1), mixed(9, 1.1, overload), Agrees},
		{"not alike", like, mixed(9, 1), mixed(9, 1.5, overload), Disagrees},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Full, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
		if d.Verdict != tt.want || (d.Tests[0].Needs == "") != (tt.want != Undecidable) {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
	s := small(t, "      - "+faster)
	o := outcome(t, s, Full, map[string][]*result.Run{"x/r-100": mixed(9, 1)[:8], "y/r-100": mixed(9, 2)})
	c := o.Cell("x/r-100")
	c.Trials = append(c.Trials, TrialOutcome{Round: 9, Why: "nobody answers"})
	if d := Decide(o)[0]; d.Verdict != Agrees {
		t.Errorf("one of nine failed: %+v", d)
	}
}

// Two systems that are alike and fall over in their slowest rounds: whichever way the test is made, each
// wrong answer comes in at most one of forty studies.
func TestWholeComparisonsErrAsOftenAsTheySay(t *testing.T) {
	draw := rand.New(rand.NewPCG(41, 5))
	const studies = 600
	for _, test := range []string{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 1}"} {
		s := small(t, "      - "+test)
		for _, falls := range []string{"x/r-100", "both"} {
			found := map[Verdict]int{}
			for range studies {
				runs := map[string][]*result.Run{}
				for range 12 {
					for _, name := range []string{"x/r-100", "y/r-100"} {
						own := math.Exp(0.3 * draw.NormFloat64())
						run := ms(own)
						if (falls == name || falls == "both") && own > 1.4 {
							run = spoilt(own, unstable)
						}
						runs[name] = append(runs[name], run)
					}
				}
				found[Decide(outcome(t, s, Full, runs))[0].Verdict]++
			}
			for _, v := range []Verdict{Agrees, Disagrees} {
				if most := studies * (0.025 + 3*math.Sqrt(0.025*0.975/studies)); float64(found[v]) > most {
					t.Errorf("%s, %s: %d of %d studies %s, at most %.0f may", test, falls, found[v], studies, v, most)
				}
			}
		}
	}
}
