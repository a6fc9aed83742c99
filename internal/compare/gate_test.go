package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// flatOut makes runs that came to so much a second; 0: nothing was delivered.
func flatOut(perSecond func(side, n int) float64) func(side, n int, r *result.Run) {
	return func(side, n int, r *result.Run) {
		r.Header.Mode, r.Header.Rate = result.ModeFlatOut, 0
		r.Summary.Rate = result.Rate{}
		r.Summary.Counters = result.Counters{Scheduled: 1000, Expected: 1000, Received: 1000, Acked: 1000}
		v := perSecond(side, n)
		r.Summary.Throughput = &result.Throughput{PerSecond: 1e5, Received: 1000, ReceivedPerSecond: v}
		if v == 0 {
			r.Summary.Throughput.Received = 0
			r.Summary.Counters.Received, r.Summary.Counters.Missing, r.Summary.Counters.Undelivered = 0, 1000, 1000
		}
	}
}

// A gate has one rule: shown worse fails, shown not worse passes, all else is
// undecided, whatever a comparison says besides.
func TestGate(t *testing.T) {
	response := func(r *result.Run) *result.Distribution { return r.Summary.Histograms[result.DeliveryResponse] }
	suspectAll := func(r *result.Run) {
		r.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: "steal"}}}
	}
	for name, tt := range map[string]struct {
		pairs  int
		factor float64
		change func(side, n int, r *result.Run)
		o      Options
		want   Answer
		why    Cause // of what is undecided
		of     Subject
	}{
		"alike":          {6, 1, nil, standard(), NotWorse, "", ""},
		"slower":         {6, 1.2, nil, standard(), Worse, "", OfPercentile},
		"faster":         {6, 0.5, nil, standard(), NotWorse, "", ""},
		"on the edge":    {10, 1.05, nil, standard(), Open, WideInterval, OfPercentile},
		"any matters":    {10, 1, nil, Options{}, Open, WideInterval, OfPercentile},
		"few":            {5, 3, nil, standard(), Open, TooFewPairs, OfPairs},
		"left to itself": {6, 1, func(side, _ int, r *result.Run) { r.Summary.Aborted = side == 1 }, standard(), Open, Excluded, OfLeftOut},
		// Wide downwards only: not the same, not faster, but not worse.
		"better or alike": {10, 1, func(side, n int, r *result.Run) {
			if side == 1 && n%2 == 0 {
				for p := range response(r).Figures {
					times(response(r), p, 0.7)
				}
			}
		}, standard(), NotWorse, "", ""},

		// Figures that are missing where they are wanted.
		"one lacks p99.9": {10, 0.9, func(side, n int, r *result.Run) {
			if side == 1 && n == 3 {
				delete(response(r).Figures, "99.9")
			}
		}, standard(), Open, Missing, OfPercentile},
		"one of A lacks p99, B a hundred times as slow": {10, 1, func(side, n int, r *result.Run) {
			switch {
			case side == 1:
				times(response(r), "99", 100)
				times(response(r), "99.9", 100)
			case n == 0:
				delete(response(r).Figures, "99")
			}
		}, Options{MinEffect: 0.05, Percentiles: []result.Percentile{"99"}}, Worse, "", OfPercentile},
		"asked, in no run":     {10, 0.9, nil, Options{MinEffect: 0.05, Percentiles: []result.Percentile{"50", "99.99"}}, Open, Unsupported, OfPercentile},
		"not asked, in no run": {10, 0.9, nil, standard(), NotWorse, "", ""},
		"a metric that one lacks": {10, 0.9, func(side, n int, r *result.Run) {
			r.Summary.Histograms[result.PublishResponse] = response(r)
			if side == 1 && n == 2 {
				delete(r.Summary.Histograms, result.DeliveryResponse)
			}
		}, standard(), Open, Missing, OfPercentile},
		"only A's are lower bounds": {12, 1, func(side, n int, r *result.Run) {
			if side == 0 && n < 10 {
				atLeast(response(r), "99.9")
			}
		}, standard(), NotWorse, "", ""},

		// Suspect figures show nothing.
		"suspect in all runs, slower": {10, 1.5, func(_, _ int, r *result.Run) { suspectAll(r) }, standard(), Open, SuspectRuns, OfPercentile},
		"suspect in all runs, alike":  {10, 1, func(_, _ int, r *result.Run) { suspectAll(r) }, standard(), Open, SuspectRuns, OfPercentile},
		"suspect from p99 on, by limits": {10, 1, func(_, _ int, r *result.Run) {
			r.Summary.Verdict.ValidTo = "95"
			r.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "95", From: "99"}}
		}, standard(), Open, SuspectRuns, OfPercentile},
		"suspect from p99 on, p50 asked": {10, 1, func(_, _ int, r *result.Run) {
			r.Summary.Verdict.ValidTo = "95"
			r.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "95", From: "99"}}
		}, Options{MinEffect: 0.05, Percentiles: []result.Percentile{"50"}}, NotWorse, "", ""},
		"some suspect, and the rest say the same": {10, 1, func(_, n int, r *result.Run) {
			if n < 4 {
				suspectAll(r)
			}
		}, standard(), NotWorse, "", ""},
		"not worse by suspect runs only": {20, 1, func(side, n int, r *result.Run) {
			switch {
			case n >= 7:
				suspectAll(r)
			case side == 1:
				times(response(r), "99", 1.06)
			}
		}, standard(), Open, SuspectRuns, OfPercentile},
		"interrupted": {8, 1, func(_, n int, r *result.Run) { r.Summary.Interrupted = n < 3 }, standard(), Open, SuspectRuns, OfPercentile},

		// Flat out.
		"no slower flat out":         {6, 1, flatOut(func(side, n int) float64 { return 1e5 + float64(n) }), standard(), NotWorse, "", ""},
		"all of B's deliver nothing": {6, 1, flatOut(func(side, n int) float64 { return float64(1-side) * 1e5 }), standard(), Worse, "", OfThroughput},
		"one of B's delivers nothing": {10, 1, flatOut(func(side, n int) float64 {
			if side == 1 && n == 4 {
				return 0
			}
			return 1e5
		}), standard(), Open, FewSigns, OfFailures},
		"nothing comes of either": {6, 1, flatOut(func(_, _ int) float64 { return 0 }), standard(), Open, Missing, OfThroughput},

		// Failures and losses.
		"B overloaded in 30, A in one": {40, 1, func(side, n int, r *result.Run) {
			if side == 1 && n < 30 || side == 0 && n == 35 {
				r.Summary.Verdict.Status = result.Unstable
			}
		}, standard(), Worse, "", OfFailures},
		"B overloaded once": {10, 1, func(side, n int, r *result.Run) {
			if side == 1 && n == 3 {
				r.Summary.Verdict.Status = result.Unstable
			}
		}, standard(), Open, FewSigns, OfFailures},
		"gone from the log of B after delivery": {10, 1, func(side, _ int, r *result.Run) {
			if r.Summary.ReadBack = (&result.ReadBack{Outcome: result.ReadBackDone, Whole: true, InLog: 1000}); side == 1 {
				r.Summary.ReadBack.InLog, r.Summary.ReadBack.NotInLog = 600, 400
			}
		}, standard(), Worse, "", OfBroken},
		"removed, and perhaps lost, of B": {10, 1, func(side, _ int, r *result.Run) {
			if r.Summary.ReadBack = (&result.ReadBack{Outcome: result.ReadBackDone}); side == 1 {
				r.Summary.ReadBack.Removed = 5
			}
		}, standard(), Open, FewSigns, OfBroken},
		"removed of A": {10, 1, func(side, _ int, r *result.Run) {
			if r.Summary.ReadBack = (&result.ReadBack{Outcome: result.ReadBackDone}); side == 0 {
				r.Summary.ReadBack.Removed = 5
			}
		}, standard(), NotWorse, "", ""},
		"A overloaded once": {10, 1, func(side, n int, r *result.Run) {
			if side == 0 && n == 3 {
				r.Summary.Verdict.Status = result.Unstable
			}
		}, standard(), NotWorse, "", ""},
		"the generator overloaded": {10, 1, func(side, n int, r *result.Run) {
			if side == 1 && n == 3 {
				r.Summary.Verdict = result.Verdict{Status: result.Unstable, Reasons: []result.Reason{{Status: result.Unstable, Code: "generator-limit"}}}
			}
		}, standard(), Open, Excluded, OfLeftOut},
		"A loses 6 and B 30, though acknowledged": {40, 1, func(side, n int, r *result.Run) {
			if side == 0 && n < 6 || side == 1 && n >= 5 && n < 35 {
				r.Summary.Counters.LostAcked, r.Summary.Counters.Missing = 1, 1
			}
		}, standard(), Worse, "", OfBroken},
		"never acknowledged and lost": {10, 1, func(side, n int, r *result.Run) {
			c := &r.Summary.Counters
			c.Missing, c.MissingUnknown = int64(20*side), int64(20*side)
		}, standard(), Worse, "", OfLost},
		"more of what A loses, too": {10, 1, func(side, n int, r *result.Run) {
			r.Summary.Counters.Missing = int64(20 + 20*side + n)
		}, standard(), Worse, "", OfLost},
		"as many lost": {10, 1, func(side, n int, r *result.Run) { r.Summary.Counters.Missing = 20 }, standard(), NotWorse, "", ""},
		"undelivered": {10, 1, func(side, n int, r *result.Run) {
			r.Summary.Counters.Missing, r.Summary.Counters.Undelivered = int64(side), int64(side)
		}, standard(), Worse, "", OfLost},
		"unanswered": {10, 1, func(side, n int, r *result.Run) {
			r.Header.Ack, r.Summary.Counters.Unknown = "broker", int64(3*side)
		}, standard(), Worse, "", OfUnanswered},
		"nobody answers anything": {10, 1, func(side, n int, r *result.Run) { r.Summary.Counters.Unknown = int64(3 * side) }, standard(), NotWorse, "", ""},
		"refused":                 {10, 1, func(side, n int, r *result.Run) { r.Summary.Counters.Nacked = int64(3 * side) }, standard(), Worse, "", OfRefused},
		"damaged":                 {10, 1, func(side, n int, r *result.Run) { r.Summary.Counters.Corrupted = int64(3 * side) }, standard(), Worse, "", OfCorrupted},
		"damaged in one run":      {10, 1, func(side, n int, r *result.Run) { r.Summary.Counters.Corrupted = int64(side * (n / 9)) }, standard(), Open, FewSigns, OfCorrupted},
		"not sent":                {10, 1, func(side, n int, r *result.Run) { r.Summary.Rate.Sent -= float64(100 * side) }, standard(), Worse, "", OfRate},
		"sent a little less":      {10, 1, func(side, n int, r *result.Run) { r.Summary.Rate.Sent -= float64(10 * side) }, standard(), NotWorse, "", ""},

		// What was left out.
		"one INVALID": {10, 1, func(side, n int, r *result.Run) {
			if side == 0 && n == 7 {
				r.Summary.Verdict.Status = result.Invalid
			}
		}, standard(), Open, Excluded, OfLeftOut},
	} {
		a, b := steady(tt.pairs, tt.factor, tt.change)
		c := compared(t, a, b, tt.o)
		g := c.Gate
		if text := unlikeRows(c); text != "" || name == "better or alike" && (c.Outcome != NotSlower || c.row("99").Outcome != NotSlower) {
			t.Errorf("%s: %s; %s, %s", name, text, c.Outcome, c.row("99").Outcome)
		}
		at := slices.IndexFunc(g.Judged, func(j Judged) bool { return j.Answer == tt.want && j.Cause == tt.why && j.Of == tt.of })
		if g.Answer != tt.want || tt.of != "" && at < 0 {
			t.Errorf("%s: %s, want %s of %s (%s): %+v", name, g.Answer, tt.want, tt.of, tt.why, g.Judged)
		}
		for _, j := range g.Judged {
			if (j.Cause == "") != (j.Answer != Open) || j.Text == "" {
				t.Errorf("%s: %+v", name, j)
			}
		}
	}
	// A set with more runs than the other has runs that are not compared.
	a, b := steady(8, 1, nil)
	if g := compared(t, a[:6], b, standard()).Gate; g.Answer != Open {
		t.Errorf("%+v", g)
	}
	if g := compared(t, a, b, standard()).Gate; !slices.Equal(g.Unsupported, []result.Percentile{"75", "90", "95", "99.99", "99.999", "99.9999"}) {
		t.Errorf("%v", g.Unsupported)
	}
}

// The throughput is shown whatever its value.
func TestThroughputOfZero(t *testing.T) {
	a, b := steady(6, 1, flatOut(func(side, n int) float64 { return float64(1-side) * 1e5 }))
	c := compared(t, a, b, standard())
	if c.Throughput == nil || c.Throughput.Outcome != Slower || c.Throughput.B.Runs != 6 || c.Throughput.B.Median != 0 || c.Outcome != Slower {
		t.Errorf("%s, %+v", c.Outcome, c.Throughput)
	}
}

// A rate of too few messages is no figure: a gate that judges it is undecided, even if the rates in
// the files are alike.
func TestThroughputOfTooFewMessages(t *testing.T) {
	for few, want := range map[int]Answer{0: NotWorse, 1: Open, 6: Open} {
		same := flatOut(func(side, n int) float64 { return 1e5 })
		a, b := steady(6, 1, func(side, n int, r *result.Run) {
			if same(side, n, r); side == 1 && n < few {
				r.Summary.Throughput.Needs = result.LeastThroughput
			}
		})
		if g := compared(t, a, b, standard()).Gate; g.Answer != want {
			t.Errorf("%d of 6 runs of B have too few messages: %+v, want %s", few, g, want)
		}
	}
}

// An ab that was ended before it was over decides nothing, whatever its pairs show; one that found a look or the end
// of its time is over.
func TestGateOfUnfinishedPairs(t *testing.T) {
	for name, tt := range map[string]struct {
		design result.Design
		pairs  int
		factor float64
		ended  bool
		want   Outcome
		gate   Answer
	}{
		"whole":                             {result.Design{Looks: []int{20}}, 20, 1, false, Same, NotWorse},
		"ended after 8 of 20, alike":        {result.Design{Looks: []int{20}}, 8, 1, false, Undecided, Open},
		"ended after 8 of 20, slower":       {result.Design{Looks: []int{20}}, 8, 1.5, false, Undecided, Open},
		"a budget, over at a look":          {result.Design{Looks: []int{8, 11, 14}, Budget: 1}, 8, 1.5, false, Slower, Worse},
		"a budget, over by time":            {result.Design{Looks: []int{8, 11, 14}, Budget: 1}, 10, 1, false, Same, NotWorse},
		"a budget, ended between two looks": {result.Design{Looks: []int{8, 11, 14}, Budget: 1}, 10, 1.5, true, Undecided, Open},
		"a budget, all pairs made":          {result.Design{Looks: []int{8, 11, 14}, Budget: 1}, 14, 1, true, Same, NotWorse},
		"of files that do not say":          {result.Design{}, 8, 1, false, Same, NotWorse},
	} {
		a, b := steady(tt.pairs, tt.factor, func(side, n int, r *result.Run) {
			r.Header.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Index: n + 1, Design: &tt.design}
			r.Header.Scenario = fmt.Appendf(nil, `{"x":%d}`, side)
		})
		o := standard()
		o.Ended = tt.ended
		c := compared(t, a, b, o)
		if c.Outcome != tt.want || c.Gate.Answer != tt.gate || (c.Planned > 0) != (tt.want == Undecided) || tt.want == Undecided && !strings.Contains(c.Text, fmt.Sprintf("%d of ", tt.pairs)) {
			t.Errorf("%s: %s (%s), gate %s; want %s, %s", name, c.Outcome, c.Text, c.Gate.Answer, tt.want, tt.gate)
		}
	}
}

// An unfinished comparison of A with A has shown neither that there is no false alarm nor that there is one.
func TestUnfinishedControl(t *testing.T) {
	for _, factor := range []float64{1, 1.5} {
		a, b := steady(8, factor, func(side, n int, r *result.Run) {
			r.Header.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Index: n + 1, Design: &result.Design{Looks: []int{20}}}
			r.Header.Scenario = []byte(`{"workload":{"rate":"1000/s"}}`)
		})
		if c := compared(t, a, b, standard()); c.Kind != KindAA || c.Outcome != Undecided || strings.Contains(strings.ToLower(c.Text), "false alarm") {
			t.Errorf("%s: %s (%s)", c.Kind, c.Outcome, c.Text)
		}
	}
}

// Pairs replaced always because of the same side are a biased selection of that side's runs.
func TestReplacedOnOneSide(t *testing.T) {
	for invalid, want := range map[int]Answer{3: NotWorse, 6: Open} {
		a, b := steady(6+invalid, 1, func(side, n int, r *result.Run) {
			x := &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Index: n + 1}
			if r.Header.Trial = x; n >= 6 {
				x.Replaces = n - 5
			}
			if side == 1 && n < invalid {
				r.Summary.Verdict.Status = result.Invalid
			}
			r.Header.Scenario = fmt.Appendf(nil, `{"x":%d}`, side)
		})
		if g := compared(t, a, b, standard()).Gate; g.Answer != want {
			t.Errorf("%d replaced: %+v", invalid, g)
		}
	}
}

// So are runs of one side that failed and were made again.
func TestMadeAgainOnOneSide(t *testing.T) {
	for failed, want := range map[int]Answer{3: NotWorse, 6: Open} {
		a, b := steady(6, 1, func(side, n int, r *result.Run) {
			x := &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Index: n + 1}
			if r.Header.Trial = x; side == 1 && n < failed {
				x.Attempts = []result.Attempt{{Ending: result.AttemptFailed, Error: "the broker is gone"}}
			}
			r.Header.Scenario = fmt.Appendf(nil, `{"x":%d}`, side)
		})
		c := compared(t, a, b, standard())
		if c.Gate.Answer != want || len(c.Remade) != failed || c.Remade[0].Why[0].Why != "was made again: it failed before (the broker is gone)" {
			t.Errorf("%d failed: %+v, %+v", failed, c.Gate, c.Remade)
		}
	}
}

// Pairs that somebody may have chosen to make again decide nothing, on which side ever: pairs whose runs were made at once and
// killed have such an attempt on both sides. A run that failed has a partner without one of its own.
func TestMadeAgainByChoice(t *testing.T) {
	ends := func(ending string) []result.Attempt { return []result.Attempt{{Ending: ending}} }
	for name, tt := range map[string]struct {
		attempts [2][]result.Attempt // of the pair
		pairs    int                 // that have them
		control  bool                // these are of A beside A
		want     Answer
	}{
		"both killed":               {[2][]result.Attempt{ends(result.AttemptKilled), ends(result.AttemptKilled)}, 1, false, Open},
		"both stopped":              {[2][]result.Attempt{ends(result.AttemptStopped), ends(result.AttemptStopped)}, 1, false, Open},
		"one cut, all pairs":        {[2][]result.Attempt{ends(result.AttemptPartner), ends(result.AttemptCut)}, 6, false, Open},
		"one lost":                  {[2][]result.Attempt{ends(result.AttemptLost), ends(result.AttemptPartner)}, 1, false, Open},
		"killed, failed later":      {[2][]result.Attempt{nil, append(ends(result.AttemptKilled), ends(result.AttemptFailed)...)}, 1, false, Open},
		"killed beside A":           {[2][]result.Attempt{ends(result.AttemptKilled), ends(result.AttemptKilled)}, 1, true, Open},
		"both failed, all pairs":    {[2][]result.Attempt{ends(result.AttemptFailed), ends(result.AttemptFailed)}, 6, false, NotWorse},
		"B failed, few pairs":       {[2][]result.Attempt{ends(result.AttemptPartner), ends(result.AttemptFailed)}, 3, false, NotWorse},
		"B failed, all pairs":       {[2][]result.Attempt{ends(result.AttemptPartner), ends(result.AttemptFailed)}, 6, false, Open},
		"A2 failed in all beside A": {[2][]result.Attempt{ends(result.AttemptPartner), ends(result.AttemptFailed)}, 6, true, NotWorse},
	} {
		a, b := steady(12, 1, func(side, n int, r *result.Run) {
			x := &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1, Index: n + 1, Control: n >= 6}
			first := 0
			if tt.control {
				first = 6
			}
			if r.Header.Trial = x; n >= first && n < first+tt.pairs {
				x.Attempts = tt.attempts[side]
			}
			r.Header.Scenario = fmt.Appendf(nil, `{"x":%d}`, side)
		})
		c := compared(t, a, b, standard())
		if c.Gate.Answer != tt.want || len(c.Remade) != tt.pairs || tt.want == Open && len(c.Gate.Of(Open)) != 1 {
			t.Errorf("%s: %+v, %+v", name, c.Gate, c.Remade)
		}
	}
}

// atLeast makes percentiles lower bounds, as unresolved messages do.
func atLeast(d *result.Distribution, percentiles ...string) {
	d.MaxAtLeast = true
	for _, p := range percentiles {
		d.Update(result.Percentile(p), func(f *result.Figure) { f.AtLeast = true })
	}
}

// times multiplies a percentile.
func times(d *result.Distribution, percentile result.Percentile, factor float64) {
	d.Update(percentile, func(f *result.Figure) { f.Value = int64(float64(f.Value) * factor) })
}
