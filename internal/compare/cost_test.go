package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/actioncost"
	"sixnines/result"
	"sixnines/scenario"
)

// killed gives a run a node that is killed at 4 s, away for as long as given (ns), each known to a
// tenth of a second, and so many lost messages.
func killed(r *result.Run, away, lost int64) *result.Cost {
	r.Header.Actions = []result.Action{{Kind: "kill", Subject: "leader", At: 4e9, Text: "{at: 4s, kill: {node: leader}, restart: 1s}"}}
	c := result.Cost{Actions: []int{1}, From: 4e9, Over: 5e9, Until: 20e9, Effect: result.ImpactSeen, Detected: &result.Within{Most: 1e6},
		Unavailable: &result.Within{Least: away, Most: away + 1e8}, Recovered: &result.Within{Least: away + 1e8, Most: away + 2e8}, LostAcked: &result.CostLost{Count: lost}}
	for _, h := range scenario.Harms() {
		c.Causes = append(c.Causes, string(h))
	}
	r.Summary.Costs = []result.Cost{c}
	return &r.Summary.Costs[0]
}

func costRow(t *testing.T, c *Comparison, of actioncost.Subject) CostRow {
	t.Helper()
	if c.Costs == nil || len(c.Costs.Places) != 1 {
		t.Fatalf("%+v", c.Costs)
	}
	i := slices.IndexFunc(c.Costs.Places[0].Rows, func(r CostRow) bool { return r.Of == of })
	if i < 0 {
		t.Fatalf("no %s: %+v", of, c.Costs.Places[0].Rows)
	}
	return c.Costs.Places[0].Rows[i]
}

// What an action costs more in one side is shown, the other way round as well, with the interval of the
// difference; what is equal makes no difference.
func TestCostsAreCompared(t *testing.T) {
	a, b := steady(10, 1, func(side, n int, r *result.Run) {
		killed(r, int64(1e9)+int64(side)*2e9+int64(n)*1e6, 7*int64(side))
	})
	c := compared(t, a, b, standard())
	for of, want := range map[actioncost.Subject]Outcome{actioncost.Unavailable: More, actioncost.Recovered: More, actioncost.LostAcked: More, actioncost.Duplicated: Same} {
		if r := costRow(t, c, of); r.Outcome != want || r.By == nil {
			t.Errorf("%s: %s, %+v", of, r.Outcome, r)
		}
	}
	if by := costRow(t, c, actioncost.Unavailable).By; *by.Low > 2e9 || *by.Low < 1.85e9 || *by.High < 2e9 || *by.High > 2.15e9 {
		t.Errorf("by %v to %v", *by.Low, *by.High)
	}
	if r := costRow(t, compared(t, b, a, standard()), actioncost.Unavailable); r.Outcome != Less || *r.By.High > -1.85e9 {
		t.Errorf("the other way round: %+v", r)
	}
	if c.Gate.Answer != NotWorse && len(c.Regressions) > 0 {
		t.Errorf("a cost decides the gate: %+v", c.Gate)
	}
}

// What shows nothing is not decided: too few pairs, a difference below what is known, a figure that a side
// lacks, suspect runs, an effect that was not seen to end in the side that would be better.
func TestCostsThatShowNothing(t *testing.T) {
	for _, x := range []struct {
		name   string
		pairs  int
		change func(side, n int, r *result.Run, c *result.Cost)
		want   Outcome
		open   bool // the interval has no upper end
	}{
		{"clear", 10, func(int, int, *result.Run, *result.Cost) {}, More, false},
		{"too few pairs", 5, func(int, int, *result.Run, *result.Cost) {}, TooFew, false},
		{"too few for all figures", 7, func(int, int, *result.Run, *result.Cost) {}, TooFew, false},
		{"below what is known", 10, func(side, n int, r *result.Run, c *result.Cost) {
			c.Unavailable.Least = 1e9 + int64(side)*5e7
			c.Unavailable.Most = c.Unavailable.Least + 1e8
		}, Undecided, false},
		{"unknown in B", 10, func(side, n int, r *result.Run, c *result.Cost) {
			if side == 1 {
				c.Effect, c.Why, c.Unavailable, c.Recovered, c.Detected = result.ImpactUnknown, "too few messages", nil, nil, nil
			}
		}, Undecided, false},
		{"INVALID once", 10, func(side, n int, r *result.Run, c *result.Cost) {
			if side == 0 && n == 3 {
				r.Summary.Verdict.Status = result.Invalid
			}
		}, Undecided, false},
		{"overloaded once", 10, func(side, n int, r *result.Run, c *result.Cost) {
			if side == 1 && n == 3 {
				r.Summary.Verdict.Status = result.Unstable
			}
		}, More, false},
		{"did not happen once", 10, func(side, n int, r *result.Run, c *result.Cost) {
			if side == 1 && n == 3 {
				r.Summary.Costs = nil
			}
		}, Undecided, false},
		{"suspect", 10, func(side, n int, r *result.Run, c *result.Cost) {
			r.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonCPU, Found: "busy"}}}
		}, Undecided, false},
	} {
		a, b := steady(x.pairs, 1, func(side, n int, r *result.Run) {
			x.change(side, n, r, killed(r, int64(1e9)+int64(side)*2e9, 7*int64(side)))
		})
		c := compared(t, a, b, standard())
		r := costRow(t, c, actioncost.Unavailable)
		if r.Outcome != x.want || x.want == TooFew && r.By != nil || c.Costs.Needs < MinPairs {
			t.Errorf("%s: %s, %+v, needs %d", x.name, r.Outcome, r, c.Costs.Needs)
		}
	}
	// A recovery that was not seen in 16 s is longer than one of 3 s.
	for side, want := range []Outcome{Less, More} { // of the side whose recoveries are not seen
		a, b := steady(10, 1, func(s, n int, r *result.Run) {
			if c := killed(r, int64(1e9)+int64(s)*2e9, 0); s == side {
				c.Recovered, c.NotRecovered = nil, 16e9
			}
		})
		r := costRow(t, compared(t, a, b, standard()), actioncost.Recovered)
		if r.Outcome != want || !r.A.Median.Open == (side == 0) || r.By == nil || (r.By.Low == nil) != (side == 0) || (r.By.High == nil) != (side == 1) {
			t.Errorf("not back in side %d: %s, %+v", side, r.Outcome, r)
		}
	}
}

// Where the timelines differ costs are refused, and figures are not ranked either: what happens in a run is part
// of them.
func TestCostsOfOtherTimelines(t *testing.T) {
	for name, change := range map[string]func(side int, r *result.Run){
		"later": func(side int, r *result.Run) {
			r.Header.Actions[0].At += int64(side) * int64(time.Second)
			r.Header.Actions[0].Text = []string{"{at: 4s}", "{at: 5s}"}[side]
		},
		"none": func(side int, r *result.Run) {
			if side == 1 {
				r.Header.Actions, r.Summary.Costs = nil, nil
			}
		},
	} {
		a, b := steady(10, 1, func(side, n int, r *result.Run) {
			killed(r, 1e9, 0)
			change(side, r)
		})
		c := compared(t, a, b, standard())
		if c.Costs == nil || len(c.Costs.Places) > 0 || !strings.Contains(c.Costs.Refused, "the timelines differ: A has {at: 4s") {
			t.Errorf("%s: %+v", name, c.Costs)
		}
	}
	a, b := steady(10, 1, func(side, n int, r *result.Run) {
		r.Header.Scenario = []byte([]string{`{"workload":{"rate":"1000/s"},"actions":[{"at":"4s","kill":{"node":"leader"}}]}`, `{"workload":{"rate":"1000/s"}}`}[side])
	})
	if c := compared(t, a, b, standard()); c.Outcome != Unranked || !strings.Contains(c.Refused, "actions") || c.Costs != nil {
		t.Errorf("%s: %s, %+v", c.Outcome, c.Refused, c.Costs)
	}
}

// A/A comparisons have a difference in any of their costs in no more than one of twenty.
func TestCostsOfTheSameSystem(t *testing.T) {
	alarms := 0
	const series = 400
	for seed := range series {
		rng := rand.New(rand.NewPCG(uint64(seed), 0xc057))
		a, b := steady(10, 1, func(side, n int, r *result.Run) {
			c := killed(r, int64(1e9*math.Exp(rng.NormFloat64())), rng.Int64N(3))
			*c.Unavailable = result.Within{Least: c.Unavailable.Least, Most: c.Unavailable.Least}
			rec := int64(1e9 * math.Exp(rng.NormFloat64()))
			*c.Recovered = result.Within{Least: rec, Most: rec}
			c.Duplicated = rng.Int64N(100)
		})
		c := compared(t, a, b, Options{})
		if slices.ContainsFunc(c.Costs.Places[0].Rows, func(r CostRow) bool { return r.Outcome == More || r.Outcome == Less }) {
			alarms++
		}
	}
	t.Logf("%d of %d comparisons of the same system have a difference", alarms, series)
	if alarms > series/20 {
		t.Errorf("%d of %d comparisons of the same system have a difference", alarms, series)
	}
}
