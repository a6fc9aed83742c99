package study

import (
	"strings"
	"testing"

	"sixnines/result"
)

// failing is a run with an action, and what it cost.
func failing(how func(*result.Run, *result.Cost)) *result.Run {
	r := ms(1)
	r.Counters = result.Counters{Acked: 1000, Duplicated: 3}
	c := result.Cost{Effect: result.ImpactSeen, Unavailable: &result.Within{Least: 4e8, Most: 6e8}, Recovered: &result.Within{Least: 1e9, Most: 2e9}}
	r.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone}
	if how != nil {
		how(r, &c)
	}
	r.Summary.Costs = []result.Cost{c}
	r.Summary.Outside = map[result.Metric]*result.Distribution{result.DeliveryResponse: {Count: 900, Samples: 900, Figures: map[result.Percentile]result.Figure{"50": {Value: 7e5}}}}
	return r
}

// losing is a run that lost messages, the oldest acknowledged two seconds before the action.
func losing(n int64) *result.Run {
	return failing(func(r *result.Run, c *result.Cost) {
		r.ReadBack.LostAcked = n
		c.LostAcked = &result.CostLost{Count: n, Oldest: 2e9}
	})
}

func TestCostFigures(t *testing.T) {
	whole := failing(func(r *result.Run, c *result.Cost) {
		r.ReadBack.Whole, r.ReadBack.LostAcked, r.ReadBack.NotInLog = true, 4, 250
		r.ReadBack.Gone = &result.Losses{Count: 250, Undated: 50}
		c.LostAcked = &result.CostLost{Count: 200, Oldest: 3e9}
	})
	unread := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack = &result.ReadBack{Outcome: result.ReadBackNothingKept}
		r.Counters.Expected, r.Counters.LostAcked, r.Counters.Undelivered = 1000, 5, 6
	})
	unconsumed := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack = &result.ReadBack{Outcome: result.ReadBackFailed, Unread: 1000}
	})
	late := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack = nil
		r.Counters.Expected, r.Counters.Undelivered = 1000, 6
	})
	partly := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack.Outcome, r.ReadBack.LostAcked, r.ReadBack.Unread = result.ReadBackPartly, 5, 6
	})
	removed := failing(func(r *result.Run, _ *result.Cost) { r.ReadBack.Removed = 7 })
	partlyRemoved := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack.Outcome, r.ReadBack.Removed = result.ReadBackPartly, 7
	})
	forGood := failing(func(r *result.Run, c *result.Cost) { c.Recovered = nil })
	unknown := failing(func(r *result.Run, c *result.Cost) {
		c.Unavailable, c.Effect, c.Why = nil, result.ImpactUnknown, "too few cells"
	})
	overloaded, wrong := losing(9), losing(9)
	overloaded.Summary.Verdict.Status = result.Unstable
	wrong.Summary.Verdict.Status = result.Invalid
	fast := losing(0)
	fast.Summary.Histograms[result.DeliveryResponse].Update("50", func(f *result.Figure) { f.FloorRatio = new(3.5) })
	for _, tt := range []struct {
		name             string
		run              *result.Run
		figure           string
		value, low, high float64 // high 0: no interval
		atLeast          bool
		missing, unfit   string
	}{
		{"lost", losing(10), "lost", 10, 10, 10, false, "", ""},
		{"none is lost", losing(0), "lost", 0, 0, 0, false, "", ""},
		{"lost from a log", whole, "lost", 250, 250, 250, false, "", ""},
		{"lost, by deliveries", unread, "lost", 5, 5, 11, true, "", ""},
		{"lost, partly read", partly, "lost", 5, 5, 11, true, "", ""},
		{"lost or removed by a limit", removed, "lost", 0, 0, 0, false, "not read back", ""},
		{"lost or removed, partly read", partlyRemoved, "lost", 0, 0, 0, false, "not read back", ""},
		{"lost, neither read nor consumed", unconsumed, "lost", 0, 0, 0, false, "not read back", ""},
		{"lost or late", late, "lost", 0, 0, 0, false, "not read back", ""},
		{"lost when overloaded", overloaded, "lost", 9, 9, 9, false, "", ""},
		{"lost of an INVALID run", wrong, "lost", 9, 9, 9, false, "", "INVALID"},
		{"of how many", losing(10), "acknowledged", 1000, 1000, 1000, false, "", ""},
		{"share", losing(10), "lost/acknowledged", 0.01, 0, 0, false, "", ""},
		{"duplicated", losing(10), "duplicated", 3, 3, 3, false, "", ""},
		{"oldest", losing(10), "lost.oldest", 2e9, 2e9, 2e9, false, "", ""},
		{"oldest, some undated", whole, "lost.oldest", 3e9, 3e9, 0, true, "", ""},
		{"oldest of none", losing(0), "lost.oldest", 0, 0, 0, false, "none is lost", ""},
		{"oldest, by deliveries", unread, "lost.oldest", 0, 0, 0, false, "not read back", ""},
		{"unavailable", losing(1), "unavailable", 5e8, 4e8, 6e8, false, "", ""},
		{"not known", unknown, "unavailable", 0, 0, 0, false, "too few cells", ""},
		{"recovered", losing(1), "recovered", 1.5e9, 1e9, 2e9, false, "", ""},
		{"not recovered", forGood, "recovered", 0, 0, 0, false, "not as before", ""},
		{"outside", losing(1), "outside.p50", 7e5, 0, 0, false, "", ""},
		{"outside, near the floor", fast, "outside.p50", 7e5, 0, 0, false, "", "noise floor"},
		{"outside of nothing", ms(1), "outside.p50", 1e6, 95e4, 105e4, false, "", ""},
		{"nothing happened", ms(1), "unavailable", 0, 0, 0, false, "not measured", ""},
		{"nothing was read", ms(1), "lost", 0, 0, 0, false, "not measured", ""},
	} {
		f := Read(tt.run, tt.figure, "")
		if tt.missing != "" || tt.unfit != "" {
			if tt.missing == "" && f.Missing != "" || !strings.Contains(f.Missing, tt.missing) || !strings.Contains(f.Unfit, tt.unfit) {
				t.Errorf("%s: %+v", tt.name, f)
			}
			continue
		}
		if f.Missing != "" || f.Unfit != "" || f.Value != tt.value || f.Low != tt.low || tt.high > 0 && f.High != tt.high || f.AtLeast != tt.atLeast {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// One round in which messages are lost shows that they can be; that none is lost takes several,
// and all that were planned.
func TestOccurs(t *testing.T) {
	times := func(n int, r *result.Run) (all []*result.Run) {
		for range n {
			all = append(all, r)
		}
		return all
	}
	unread := failing(func(r *result.Run, _ *result.Cost) {
		r.ReadBack, r.Counters.Undelivered = nil, 6
	})
	invalid := losing(3)
	invalid.Summary.Verdict.Status = result.Invalid
	for _, tt := range []struct {
		name       string
		x          []*result.Run
		none, some Verdict
	}{
		{"one round with losses", times(1, losing(3)), Disagrees, Agrees},
		{"one round without", times(1, losing(0)), Undecidable, Undecidable},
		{"some rounds without", times(2, losing(0)), Agrees, Undecidable},
		{"six rounds without", times(6, losing(0)), Agrees, Disagrees},
		{"one of six", append(times(5, losing(0)), losing(1)), Disagrees, Agrees},
		{"one was not made", append(times(5, losing(0)), nil), Undecidable, Undecidable},
		{"one is not known", append(times(5, losing(0)), unread), Undecidable, Undecidable},
		{"only an INVALID one", times(1, invalid), Undecidable, Undecidable},
		{"one is INVALID", append(times(5, losing(0)), invalid), Undecidable, Undecidable},
		{"nothing happened", times(6, ms(1)), Undecidable, Undecidable},
	} {
		for kind, want := range map[string]Verdict{KindNone: tt.none, KindSome: tt.some} {
			s := small(t, "      - {kind: "+kind+", cells: [x/r-100], figures: [lost]}\n")
			o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.x})
			c := o.Cell("x/r-100")
			c.Cell.Rounds = len(tt.x)
			found := Decide(o)[0].Tests[0]
			if found.Verdict != want || found.Text == "" || (want == Undecidable) != (found.Needs != "") {
				t.Errorf("%s, %s: %+v", tt.name, kind, found)
			}
		}
	}
}
