package actioncost

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

const second = int64(time.Second)

func everything() (all []string) {
	for _, h := range scenario.Harms() {
		all = append(all, string(h))
	}
	return all
}

// cost is one of an action at an instant whose effect was seen for a time.
func cost(at, unavailable, recovered int64, numbers ...int) result.Cost {
	c := result.Cost{Actions: numbers, From: at, Over: at, Until: at + 10*second, Causes: everything(), Effect: result.ImpactSeen,
		Detected: &result.Within{Least: 1, Most: 2}, Unavailable: &result.Within{Least: unavailable, Most: unavailable + 1}}
	if c.NotRecovered = 9 * second; recovered > 0 {
		c.NotRecovered = 0
		c.Recovered = &result.Within{Least: recovered, Most: recovered + 1}
	}
	return c
}

func plan() []result.Action {
	return []result.Action{{Kind: "kill", Subject: "leader", At: 20 * second, Text: "a"}, {Kind: "stall", Subject: "node 1", At: 40 * second, For: second, Text: "b"}}
}

func figure(t *testing.T, p Place, of Subject) []CostValue {
	t.Helper()
	i := slices.IndexFunc(p.Figures, func(f Figure) bool { return f.Of == of })
	if i < 0 {
		t.Fatalf("%s has no %s", p.Name, of)
	}
	return p.Figures[i].Runs
}

// Actions that make one cost in one run are one place in all: of those that had an effect each, the longest
// outage counts, and the recovery is from the first action to the last effect's end.
func TestActionsThatOverlapInOneRun(t *testing.T) {
	apart := Trial{Actions: plan(), Costs: []result.Cost{cost(20*second, 3*second, 4*second, 1), cost(40*second, second, 2*second, 2)}}
	joined := Trial{Actions: plan(), Costs: []result.Cost{cost(20*second, 5*second, 23*second, 1, 2)}}
	if all := Places([]Trial{apart, apart}); len(all) != 2 || all[0].Name != "kill leader at 20s" && all[0].Name != "kill leader at 20 s" || all[1].Actions[0] != 2 {
		t.Fatalf("%+v", all)
	}
	all := Places([]Trial{apart, joined})
	if len(all) != 1 || !slices.Equal(all[0].Actions, []int{1, 2}) {
		t.Fatalf("%+v", all)
	}
	if v := figure(t, all[0], Unavailable); v[0] != (CostValue{Least: 3 * second, Most: 3*second + 1}) || v[1].Least != 5*second {
		t.Errorf("unavailable %+v", v)
	}
	if v := figure(t, all[0], Recovered); v[0] != (CostValue{Least: 22 * second, Most: 22*second + 1}) || v[1].Least != 23*second {
		t.Errorf("recovered %+v", v)
	}
	if v := figure(t, all[0], Detected); v[0] != (CostValue{Least: 1, Most: 2}) {
		t.Errorf("detected %+v", v)
	}
}

// What a run does not know is missing with its reason and never 0, and a latency that was not back is a lower
// bound.
func TestWhatARunDoesNotKnow(t *testing.T) {
	unknown := cost(20*second, 0, 0, 1)
	unknown.Effect, unknown.Why, unknown.Unavailable, unknown.Detected = result.ImpactUnknown, "too few messages", nil, nil
	none := cost(20*second, 0, 0, 1)
	none.Effect, none.Detected, none.Unavailable, none.Recovered = result.ImpactNone, nil, new(result.Within), new(result.Within)
	none.LostAcked = &result.CostLost{Count: 3}
	harmless := none
	harmless.Causes, harmless.LostAcked = []string{string(scenario.HarmLate)}, nil
	open := cost(20*second, second, 0, 1)
	for _, c := range []struct {
		name  string
		trial Trial
		of    Subject
		want  CostValue
	}{
		{"unknown", Trial{Costs: []result.Cost{unknown}}, Unavailable, CostValue{Missing: "not known: too few messages"}},
		{"unknown", Trial{Costs: []result.Cost{unknown}}, LostAcked, CostValue{Missing: "what the broker keeps was not read back, or not all of it"}},
		{"none", Trial{Costs: []result.Cost{none}}, Unavailable, CostValue{}},
		{"none", Trial{Costs: []result.Cost{none}}, Detected, CostValue{Missing: "no effect was seen"}},
		{"none", Trial{Costs: []result.Cost{none}}, LostAcked, CostValue{Least: 3, Most: 3}},
		{"undated", Trial{Costs: []result.Cost{none}, Undated: 2}, LostAcked, CostValue{Least: 3, Most: 5}},
		{"open", Trial{Costs: []result.Cost{open}}, Recovered, CostValue{Least: 9 * second, Most: 9 * second, Open: true}},
		{"absent", Trial{}, Unavailable, CostValue{Missing: "the action did not happen"}},
		{"invalid", Trial{Costs: []result.Cost{none}, Unfit: "INVALID"}, Unavailable, CostValue{Missing: "INVALID"}},
		{"suspect", Trial{Costs: []result.Cost{none}, Suspect: "SUSPECT: x"}, Unavailable, CostValue{Suspect: "SUSPECT: x"}},
	} {
		other := Trial{Actions: plan(), Costs: []result.Cost{cost(20*second, second, second, 1)}} // has all figures
		c.trial.Actions = plan()
		if got := figure(t, Places([]Trial{other, c.trial})[0], c.of)[1]; got != c.want {
			t.Errorf("%s: %s is %+v, want %+v", c.name, c.of, got, c.want)
		}
	}
	if p := Places([]Trial{{Actions: plan(), Costs: []result.Cost{harmless}}})[0]; slices.ContainsFunc(p.Figures, func(f Figure) bool { return f.Of == LostAcked }) {
		t.Errorf("an action that loses nothing has a number of lost messages: %+v", p)
	}
}

// The median lies between that of the lower ends and that of the upper ones, and is open where an open one may
// be it.
func TestSpreadOfRuns(t *testing.T) {
	at := func(least, most int64) CostValue { return CostValue{Least: least, Most: most} }
	open := func(least int64) CostValue { return CostValue{Least: least, Most: least, Open: true} }
	for _, c := range []struct {
		runs                []CostValue
		n                   int
		least, median, most CostValue
	}{
		{[]CostValue{at(3, 4), at(1, 9), at(2, 3)}, 3, at(1, 3), at(2, 4), at(3, 9)},
		{[]CostValue{at(1, 1), at(2, 2), at(4, 4), at(9, 9)}, 4, at(1, 1), at(3, 3), at(9, 9)},
		{[]CostValue{at(1, 1), at(2, 2), open(3)}, 3, at(1, 1), at(2, 2), open(3)},
		{[]CostValue{at(1, 1), open(2), open(3)}, 3, at(1, 1), open(2), open(3)},
		{[]CostValue{at(1, 1), {Missing: "x"}}, 1, at(1, 1), at(1, 1), at(1, 1)},
	} {
		if s := SpreadOf(c.runs); s.Runs != c.n || s.Least != c.least || s.Median != c.median || s.Most != c.most {
			t.Errorf("%+v: %+v", c.runs, s)
		}
	}
	if s := SpreadOf([]CostValue{{Missing: "x"}}); s.Runs != 0 || s.Median.Known() {
		t.Errorf("%+v", s)
	}
}

// Runs whose plans differ have no common place.
func TestTimelinesThatDiffer(t *testing.T) {
	a, b := Trial{Actions: plan()}, Trial{Actions: plan()}
	b.Actions[0].At++
	if Same([]Trial{a, b}) || !Same([]Trial{a, a}) || len(Summaries([]Trial{a, b})) != 0 {
		t.Error("an action that is one nanosecond later has the same place")
	}
}

// A run says what of it counts.
func TestOfARun(t *testing.T) {
	run := &result.Run{Header: result.Header{Actions: plan()}}
	if x := Of(run); x.Unfit != "cut short" {
		t.Errorf("%+v", x)
	}
	run.Summary = &result.Summary{Verdict: result.Verdict{Status: result.Invalid}}
	if x := Of(run); x.Unfit != "INVALID" {
		t.Errorf("%+v", x)
	}
	run.Summary.Costs = []result.Cost{cost(1, 1, 1, 1)}
	run.Summary.Costs[0].During = &result.Period{}
	run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonOwnLag, Percentile: "50", Found: "lag"}}}
	if x := Of(run); x.Unfit != "" || x.Suspect != "" || x.Costs[0].During != nil {
		t.Errorf("a suspect percentile makes no cost suspect: %+v", x)
	}
	run.Summary.Verdict.Reasons[0] = result.Reason{Status: result.Suspect, Code: result.ReasonCPU, Found: "busy"}
	if x := Of(run); !strings.Contains(x.Suspect, "SUSPECT: ") {
		t.Errorf("%+v", x)
	}
	run.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, Lost: &result.Losses{Count: 9, Undated: 2}}
	if x := Of(run); x.Undated != 2 {
		t.Errorf("%+v", x)
	}
}
