package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/result"
)

// suspectFor makes a run suspect from p50 on for the given reasons.
func suspectFor(codes ...result.ReasonCode) func(*result.Summary, *result.Distribution) {
	return func(s *result.Summary, _ *result.Distribution) {
		s.Verdict = result.Verdict{Status: result.Suspect, Limits: []result.Limit{{Metric: result.DeliveryResponse, From: "50", Why: "it"}}}
		for _, code := range codes {
			s.Verdict.Reasons = append(s.Verdict.Reasons, result.Reason{Status: result.Suspect, Code: code, Metric: result.DeliveryResponse, Percentile: "50"})
		}
	}
}

// invalidTail makes a run's percentiles INVALID from p50 on, since the tail is mostly lag.
func invalidTail(s *result.Summary, d *result.Distribution) {
	suspectFor(result.ReasonSelfInflicted)(s, d)
	s.Verdict.Reasons[0].Status = result.Invalid
	s.Verdict.Limits[0].InvalidFrom, s.Verdict.Limits[0].InvalidWhy = "50", "it"
}

// shifting is a run whose level changed, with the p50 of each second in ms.
func shifting(p50 float64, seconds ...float64) *result.Run {
	run := spoilt(p50, suspectFor(result.ReasonSteady))
	for i, v := range seconds {
		run.Series = append(run.Series, result.Point{Phase: result.PhaseMeasure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9,
			Metrics: map[result.Metric]result.PointMetric{result.DeliveryResponse: {Count: 100, P50: int64(v * 1e6)}}})
	}
	return run
}

// What makes a round suspect and can only lengthen leaves an upper bound: the round is evidence for
// below, and never for above. Everything else about a round that decides nothing may be hiding any
// figure.
func TestSuspectRoundsAsBounds(t *testing.T) {
	lagging := suspectFor(result.ReasonOwnLag)
	censored := func(s *result.Summary, d *result.Distribution) {
		d.Update("50", func(f *result.Figure) { f.AtLeast = true })
	}
	five := func(p50 float64) []*result.Run { return slices.Repeat([]*result.Run{ms(p50)}, 5) }
	eight := func(p50 float64) []*result.Run { return slices.Repeat([]*result.Run{ms(p50)}, 8) }
	const below, above = "{kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}", "{kind: above, cells: [x/r-100], figures: [p50], bound: 1ms}"
	for _, tt := range []struct {
		name, test string
		runs       []*result.Run
		want       Verdict
	}{
		{"own lag, below", below, append(five(0.15), spoilt(0.2, lagging)), Agrees},
		{"all of them", below, slices.Repeat([]*result.Run{spoilt(0.2, lagging)}, 6), Agrees},
		{"steal and receive lag", below, append(five(0.15), spoilt(0.2, suspectFor(result.ReasonSteal, result.ReasonReceiveLag))), Agrees},
		{"below is disagreed with above", above, append(five(0.15), spoilt(0.2, lagging)), Disagrees},
		{"own lag is no evidence for above", above, append(five(2), spoilt(2, lagging)), Undecidable},
		{"nor against below", below, append(five(2), spoilt(2, lagging)), Undecidable},
		{"nor is that of all", below, slices.Repeat([]*result.Run{spoilt(2, lagging)}, 9), Undecidable},
		{"too long for below", below, append(five(0.15), spoilt(1.2, lagging)), Undecidable},
		{"a rate that was not kept", below, append(five(0.15), spoilt(0.2, suspectFor(result.ReasonRate))), Undecidable},
		{"lag, and a rate that was not kept", below, append(five(0.15), spoilt(0.2, suspectFor(result.ReasonOwnLag, result.ReasonRate))), Undecidable},
		{"a tail that is INVALID by lag, below", below, append(five(0.15), spoilt(0.2, invalidTail)), Agrees},
		{"a tail that is INVALID by lag, above", above, append(five(2), spoilt(2, invalidTail)), Undecidable},
		{"suspect without a reason", below, append(five(0.15), spoilt(0.2, suspectFor())), Undecidable},
		{"near the floor", below, append(five(0.15), spoilt(0.2, floored)), Agrees},
		{"near the floor, above", above, append(five(2), spoilt(2, floored)), Undecidable},
		{"a level that shifts", below, append(five(0.15), shifting(0.15, 0.14, 0.14, 0.3)), Agrees},
		{"a level that shifts too far", below, append(five(0.15), shifting(0.15, 0.14, 0.14, 1.3)), Undecidable},
		{"a level that nobody saw", below, append(five(0.15), shifting(0.15)), Undecidable},
		{"a level that shifts, above", above, append(five(2), shifting(2, 2, 3)), Agrees},
		{"a level that was below for a second, above", above, append(five(2), shifting(2, 0.9, 3)), Undecidable},
		{"a lower bound, above", above, append(five(2), spoilt(2, censored)), Agrees},
		{"a lower bound, below", below, append(five(0.15), spoilt(0.15, censored)), Undecidable},
		{"overloaded", below, append(five(0.15), spoilt(0.15, unstable)), Undecidable},
		{"overloaded once in nine, where the median is below whatever it was", below, append(eight(0.15), spoilt(0.15, unstable)), Agrees},
		{"overloaded twice in nine", below, append(eight(0.15)[:7], spoilt(0.15, unstable), spoilt(0.15, unstable)), Undecidable},
		{"INVALID", below, append(five(0.15), spoilt(0.15, invalid)), Undecidable},
		{"two rounds with lag", below, []*result.Run{spoilt(0.2, lagging), ms(0.2)}, Agrees},
		{"two rounds whose interval reaches over it", below, []*result.Run{spoilt(0.97, lagging), ms(0.2)}, Undecidable},
		{"one round with lag", below, []*result.Run{spoilt(0.2, lagging)}, Undecidable},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.runs}))[0]
		if d.Verdict != tt.want || (d.Tests[0].Needs == "") != (tt.want != Undecidable) {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
}

// Rounds of a system whose median is the bound itself, some of them lengthened by the generator and
// called suspect for it: either answer is wrong, and comes in at most one of forty.
func TestBoundsErrAsOftenAsTheySay(t *testing.T) {
	s := small(t, "      - {kind: below, cells: [x/r-100], figures: [p50], bound: 1ms}")
	draw := rand.New(rand.NewPCG(41, 1))
	const studies = 1500
	for _, rounds := range []int{6, 9, 12} {
		found := map[Verdict]int{}
		for range studies {
			var runs []*result.Run
			for range rounds {
				own := math.Exp(0.2 * draw.NormFloat64())
				switch draw.IntN(3) {
				case 0:
					runs = append(runs, spoilt(own*(1+draw.ExpFloat64()), suspectFor(result.ReasonOwnLag)))
				default:
					runs = append(runs, ms(own))
				}
			}
			found[Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": runs}))[0].Verdict]++
		}
		// 2.5 % and three standard deviations.
		for _, v := range []Verdict{Agrees, Disagrees} {
			if most := studies * (0.025 + 3*math.Sqrt(0.025*0.975/studies)); float64(found[v]) > most {
				t.Errorf("%d rounds: %d of %d studies %s, at most %.0f may", rounds, found[v], studies, v, most)
			}
		}
	}
}

// The faster system is the one whose lag is judged first. Its suspect rounds are evidence that it is
// faster, and none that it is slower.
func TestSuspectRoundsOfComparisons(t *testing.T) {
	lagging := func(p50 ...float64) (all []*result.Run) {
		for _, v := range p50 {
			all = append(all, spoilt(v, suspectFor(result.ReasonOwnLag)))
		}
		return all
	}
	const faster = "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}"
	half := append(rounds(fast[:3]...), lagging(fast[3:]...)...)
	for _, tt := range []struct {
		name, test string
		x, y       []*result.Run
		want       Verdict
	}{
		{"of the faster", faster, half, rounds(slow...), Agrees},
		{"all of the faster", faster, lagging(fast...), rounds(slow...), Agrees},
		{"of the slower", faster, rounds(fast...), append(rounds(slow[:3]...), lagging(slow[3:]...)...), Undecidable},
		{"all of the slower", faster, rounds(fast...), lagging(slow...), Undecidable},
		{"of both", faster, half, lagging(slow...), Undecidable},
		{"against the claim", "{kind: faster, a: y/r-100, b: x/r-100, figures: [p50]}", lagging(fast...), rounds(slow...), Disagrees},
		{"too long to be faster", faster, append(rounds(fast[:5]...), lagging(9)...), rounds(slow...), Undecidable},
		// With seven rounds the slow one could be left out; its bound says that it need not be faster.
		{"too long, and one more", faster, append(rounds(fast...), lagging(9)...), append(rounds(slow...), ms(2)), Undecidable},
		{"a rate that was not kept", faster, append(rounds(fast[:5]...), spoilt(1, suspectFor(result.ReasonRate))), rounds(slow...), Undecidable},
		{"a small quotient", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 0.8}", half, rounds(slow...), Agrees},
		{"a small quotient of a suspect one", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 0.8}", rounds(fast...), lagging(slow...), Undecidable},
		{"a large quotient", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}", half, rounds(slow...), Agrees},
		{"a large quotient, against it", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_least: 0.8}", half, rounds(slow...), Disagrees},
		{"equivalence has no safe side", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.3}", half, rounds(like...), Undecidable},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
		if d.Verdict != tt.want || (d.Tests[0].Needs == "") != (tt.want != Undecidable) {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
}

// Two systems that are alike, one of them lengthened by the generator now and then: each wrong
// answer comes in at most one of forty studies, whichever of them it is.
func TestComparisonsErrAsOftenAsTheySay(t *testing.T) {
	draw := rand.New(rand.NewPCG(41, 2))
	const studies = 1500
	for _, test := range []string{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 1}"} {
		s := small(t, "      - "+test)
		for _, lagged := range []string{"x/r-100", "y/r-100", "both"} {
			found := map[Verdict]int{}
			for range studies {
				runs := map[string][]*result.Run{}
				for range 8 {
					for _, name := range []string{"x/r-100", "y/r-100"} {
						own := math.Exp(0.2 * draw.NormFloat64())
						if (lagged == name || lagged == "both") && draw.IntN(4) == 0 {
							runs[name] = append(runs[name], spoilt(own*(1+draw.ExpFloat64()), suspectFor(result.ReasonOwnLag)))
						} else {
							runs[name] = append(runs[name], ms(own))
						}
					}
				}
				found[Decide(outcome(t, s, Full, runs))[0].Verdict]++
			}
			for _, v := range []Verdict{Agrees, Disagrees} {
				if most := studies * (0.025 + 3*math.Sqrt(0.025*0.975/studies)); float64(found[v]) > most {
					t.Errorf("%s, lag of %s: %d of %d studies %s, at most %.0f may", test, lagged, found[v], studies, v, most)
				}
			}
		}
	}
}
