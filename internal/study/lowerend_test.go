package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/result"
	"sixnines/semantics"
)

// timed adds a metric with its histogram and published percentiles to a run.
func timed(run *result.Run, m result.Metric, values []int64) {
	slices.Sort(values)
	h := result.NewHistogram(1, 10e9, 2)
	var sum float64
	for _, v := range values {
		_ = h.Record(max(v, 1), 1)
		sum += float64(v)
	}
	n := len(values)
	d := &result.Distribution{Count: int64(n), Samples: int64(n), Mean: sum / float64(n), Max: values[n-1], Figures: map[result.Percentile]result.Figure{}}
	for _, name := range result.Percentiles()[:6] {
		p, _ := name.Number()
		d.Figures[name] = result.Figure{Value: values[min(int(math.Ceil(p/100*float64(n)))-1, n-1)]}
	}
	run.Metrics[m] = &result.Merged{Hist: h, Min: values[0], Max: values[n-1]}
	run.Summary.Histograms[m] = d
}

// withLag is a run whose response time is the service time and a lag in sending, ms, which is judged
// as a verdict does.
func withLag(service, lag float64) *result.Run {
	run := ms(service + lag)
	if lag/(service+lag) > 0.25 {
		suspectFor(result.ReasonOwnLag)(run.Summary, nil)
	}
	run.Header.Mode, run.Counters.Scheduled, run.Summary.End = result.ModeOpen, 100, 1e9
	timed(run, result.DeliveryService, slices.Repeat([]int64{int64(service * 1e6)}, 100))
	timed(run, result.LagOwn, slices.Repeat([]int64{int64(lag * 1e6)}, 100))
	return run
}

func withLags(lag float64, service ...float64) (all []*result.Run) {
	for _, v := range service {
		all = append(all, withLag(v, lag))
	}
	return all
}

// With its lag taken off, a suspect figure is evidence that a system is the slower one, above a
// bound, or like another. Each test agrees by the figures as measured or by those alone that are not
// suspect, too, and wrongly so where the lag may be all of it.
func TestLagTakenOff(t *testing.T) {
	const faster = "{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}"
	half := []float64{0.5, 0.55, 0.45, 0.52, 0.48, 0.51}
	for _, tt := range []struct {
		name, test string
		x, y       []*result.Run
		want       Verdict
	}{
		{"the slower one", faster, rounds(fast...), withLags(0.8, slow...), Agrees},
		{"all of it lag", faster, rounds(fast...), withLags(0.8, 1.2, 1.3, 1.25, 1.1, 1.2, 1.15), Agrees},
		{"no slower without its lag", faster, rounds(fast...), withLags(0.8, fast...), Undecidable},
		{"both", faster, withLags(0.4, fast...), withLags(0.8, slow...), Agrees},
		{"a quotient", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 1.5}", rounds(fast...), withLags(0.8, slow...), Agrees},
		{"a quotient by lag", "{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 2.5}", rounds(fast...), withLags(0.8, slow...), Undecidable},
		{"above", "{kind: above, cells: [x/r-100], figures: [p50], bound: 0.9ms}", withLags(0.5, fast...), nil, Agrees},
		{"above by lag", "{kind: above, cells: [x/r-100], figures: [p50], bound: 1.3ms}", withLags(0.5, fast...), nil, Undecidable},
		{"not below", "{kind: below, cells: [x/r-100], figures: [p50], bound: 0.9ms}", withLags(0.5, fast...), nil, Disagrees},
		{"like another", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.6}", withLags(0.4, fast...), rounds(like...), Agrees},
		{"like another by lag", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.2}", withLags(0.5, half...), rounds(fast...), Undecidable},
		{"unlike another", "{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.3}", withLags(0.8, slow...), rounds(fast...), Disagrees},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
		if d.Verdict != tt.want || (d.Tests[0].Needs == "") != (tt.want != Undecidable) {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
}

// Courses, quotients of one run and shares of cells are decided where they are so at either end.
func TestRangesOfOtherTests(t *testing.T) {
	tail := func(p50, lag float64) *result.Run { // p99 of the response is three times p50
		run := withLag(p50-lag, lag)
		values := slices.Repeat([]int64{int64((p50 - lag) * 1e6)}, 900)
		timed(run, result.DeliveryService, append(values, slices.Repeat([]int64{int64((3*p50 - lag) * 1e6)}, 100)...))
		return run
	}
	tails := slices.Repeat([]*result.Run{tail(1, 0.3)}, 6)
	for _, tt := range []struct {
		name, test string
		runs       map[string][]*result.Run
		want       Verdict
	}{
		{"a course", "{kind: monotone, cells: [x/r-100, x/r-200, x/r-400], figures: [p50], direction: rising}",
			map[string][]*result.Run{"x/r-100": withLags(0.4, fast...), "x/r-200": withLags(0.8, slow...), "x/r-400": rounds(4, 4.1, 4.2, 4.3, 3.9, 3.8)}, Agrees},
		{"a course of lag", "{kind: monotone, cells: [x/r-100, x/r-200], figures: [p50], direction: rising}",
			map[string][]*result.Run{"x/r-100": rounds(fast...), "x/r-200": withLags(0.8, fast...)}, Undecidable},
		{"against a course", "{kind: monotone, cells: [x/r-100, x/r-200], figures: [p50], direction: falling}",
			map[string][]*result.Run{"x/r-100": rounds(fast...), "x/r-200": withLags(0.8, slow...)}, Disagrees},
		{"a quotient", "{kind: share, cells: [x/r-100], figures: [p99/p50], at_least: 2.5, share: 1}", map[string][]*result.Run{"x/r-100": tails}, Agrees},
		{"a quotient by lag", "{kind: share, cells: [x/r-100], figures: [p99/p50], at_least: 2.8, share: 1}", map[string][]*result.Run{"x/r-100": tails}, Undecidable},
		{"against a quotient", "{kind: share, cells: [x/r-100], figures: [p99/p50], at_least: 4.5, share: 1}", map[string][]*result.Run{"x/r-100": tails}, Disagrees},
		{"quotients compared", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p99/p50], at_least: 1.5}",
			map[string][]*result.Run{"x/r-100": tails, "y/r-100": rounds(fast...)}, Disagrees},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Default, tt.runs))[0]
		if d.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
}

// queue is a broker that answers one message after another: the times, ns, from when each message was
// due until it was answered, and from when it was sent.
func queue(due, lag, takes []int64) (response, service []int64) {
	free := int64(math.MinInt64)
	for i, at := range due {
		sent := at + lag[i]
		free = max(free, sent) + takes[i]
		response, service = append(response, free-at), append(service, free-sent)
	}
	return response, service
}

// What is left of a percentile without its lag is never more than it would be without a generator that
// is late, even where lag sends messages together, which then wait for each other in the broker:
// the percentile of service time by itself is more than that.
func TestLagTakenOffIsNeverTooLittle(t *testing.T) {
	draw := rand.New(rand.NewPCG(41, 3))
	exceeds := 0
	for _, stall := range []int64{0, 1e6, 10e6, 50e6} {
		for _, p := range []float64{50, 90, 99, 99.9} {
			const n = 20_000
			var due, none, lag, takes, received []int64
			at, late := int64(0), int64(-1)
			for range n {
				at += int64(draw.ExpFloat64() * 333e3) // 3,000 a second
				if stall > 0 && at > late+200*stall {
					late = at + stall // nothing is sent before
				}
				l := int64(15e3 * draw.ExpFloat64())
				due, none, takes = append(due, at), append(none, 0), append(takes, int64(30e3+30e3*draw.ExpFloat64()))
				lag = append(lag, max(l, late-at))
				received = append(received, int64(10e3*draw.ExpFloat64()))
			}
			own, _ := queue(due, none, takes)
			_, service := queue(due, lag, takes)
			for i := range service {
				service[i] += received[i]
			}
			run := ms(1)
			run.Header.Mode, run.Counters.Scheduled, run.Summary.End = result.ModeOpen, n, at
			timed(run, result.DeliveryService, service)
			timed(run, result.LagOwn, lag)
			timed(run, result.LagReceive, received)
			slices.Sort(own)
			truth := float64(own[int(p/100*n)])
			least, _ := leastBesideLag(run, result.DeliveryResponse, p)
			if least > truth {
				t.Errorf("p%g with stalls of %d ms: %.0f µs at least, and it is %.0f µs", p, stall/1e6, least/1e3, truth/1e3)
			}
			if p == 50 && least < 0.3*truth {
				t.Errorf("p%g with stalls of %d ms: %.0f µs at least, of %.0f µs", p, stall/1e6, least/1e3, truth/1e3)
			}
			if float64(service[int(p/100*n)]) > 1.2*truth {
				exceeds++
			}
		}
	}
	if exceeds == 0 {
		t.Error("no service time has in it what was sent together: the test tests nothing")
	}
}

// Messages whose receive lag is not known may be all lag: they are taken off as those of an unknown lag, and
// not by the lag of the others.
func TestUnknownReceiveLagIsTakenOff(t *testing.T) {
	run := ms(1)
	run.Header.Mode, run.Counters.Scheduled, run.Summary.End = result.ModeOpen, 1000, 1e9
	timed(run, result.DeliveryService, append(slices.Repeat([]int64{100e3}, 900), slices.Repeat([]int64{1e6}, 100)...))
	timed(run, result.LagOwn, slices.Repeat([]int64{1}, 1000))
	timed(run, result.LagReceive, slices.Repeat([]int64{10e3}, 900))
	for unknown, want := range map[int64]float64{0: 980e3, 100: 85e3} {
		run.Metrics[result.DeliveryResponse] = &result.Merged{Own: []result.OwnBand{{Count: 900}, {Count: 100, Unknown: unknown}}}
		if least, _ := leastBesideLag(run, result.DeliveryResponse, 99); least < want || least > 1.1*want {
			t.Errorf("%d unknown: p99 is %.0f ns at least, want about %.0f", unknown, least, want)
		}
	}
}

// Receive lag that is not known of any message is the library's where one has the connections. Where the driver has them, it
// may be all that was measured, no less than where it is known of one message in a hundred.
func TestReceiveLagUnknownOfAll(t *testing.T) {
	for kind, want := range map[semantics.ClientKind]float64{semantics.Library: 100e3, semantics.Direct: 0} {
		run := ms(1)
		run.Header.Mode, run.Counters.Scheduled, run.Summary.End = result.ModeOpen, 1000, 1e9
		run.Header.Semantics.Client.Kind = kind
		timed(run, result.DeliveryService, slices.Repeat([]int64{100e3}, 1000))
		timed(run, result.LagOwn, slices.Repeat([]int64{1}, 1000))
		run.Metrics[result.DeliveryResponse] = &result.Merged{Own: []result.OwnBand{{Count: 1000, Unknown: 1000}}}
		if least, _ := leastBesideLag(run, result.DeliveryResponse, 99); least < want || least > 1.1*want {
			t.Errorf("%s: p99 is %.0f ns at least, want about %.0f", kind, least, want)
		}
	}
}

// Two systems that are alike, with the same lag: it is the round of the faster that is suspect for it.
// Each wrong answer comes in at most one of forty studies. With the suspect rounds left out it is
// more.
func TestJudgedBesideSelectsNothing(t *testing.T) {
	draw := rand.New(rand.NewPCG(41, 4))
	const studies = 300
	for _, test := range []string{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 1}"} {
		s := small(t, "      - "+test)
		found := map[Verdict]int{}
		for range studies {
			runs := map[string][]*result.Run{}
			for range 9 {
				runs["x/r-100"] = append(runs["x/r-100"], ms(math.Exp(0.3*draw.NormFloat64())))
				runs["y/r-100"] = append(runs["y/r-100"], withLag(math.Exp(0.3*draw.NormFloat64())-0.1, 0.3))
			}
			found[Decide(outcome(t, s, Full, runs))[0].Verdict]++
		}
		for _, v := range []Verdict{Agrees, Disagrees} {
			if most := studies * (0.025 + 3*math.Sqrt(0.025*0.975/studies)); float64(found[v]) > most {
				t.Errorf("%s: %d of %d studies %s, at most %.0f may", test, found[v], studies, v, most)
			}
		}
	}
}
