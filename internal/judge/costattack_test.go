package judge

import (
	"slices"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// only leaves those messages that are due outside of a period, and of it one each so long; 0: none.
func only(ms []msg, from, to, each time.Duration) []msg {
	next := int64(from)
	return slices.DeleteFunc(ms, func(m msg) bool {
		if m.intended < int64(from) || m.intended >= int64(to) {
			return false
		}
		if each > 0 && m.intended >= next {
			next += int64(each)
			return false
		}
		return true
	})
}

// refuse has all messages of a period refused.
func refuse(ms []msg, from, to time.Duration) []msg {
	for i := range ms {
		if at := time.Duration(ms[i].intended); at >= from && at < to {
			ms[i].refused = true
		}
	}
	return ms
}

// What a run cannot know of what an action cost is undecided, and never 0.
func TestCostsThatCannotBeKnown(t *testing.T) {
	at, length := 4*time.Second, 2*time.Second
	short := func(ms []msg, at ...time.Duration) *testbed { return acted(ms, 100*time.Millisecond, 0, at...) }
	outside := func(b *testbed, change func(*result.Header)) *testbed { change(&b.header); return b }
	for _, c := range []struct {
		name    string
		bed     *testbed
		effect  result.Impact
		decided map[string]Outcome
	}{
		{"nothing is due in the outage", short(only(noise(1), at, at+length, 0), at), result.ImpactNone, map[string]Outcome{
			"unavailable < 1s": Undecided, "recovered < 1s": Undecided, "unavailable < 3s": Met}},
		{"few are due in it, and refused", short(refuse(only(noise(1), at, at+length, 250*time.Millisecond), at, at+length), at), result.ImpactSeen, map[string]Outcome{
			"unavailable < 1s": Missed, "unavailable < 1800ms": Undecided, "unavailable > 1500ms": Met, "unavailable < 2500ms": Met}},
		{"two are due in it, and late", short(only(stalled(noise(1), at, length, 1e6), at, at+length, time.Second), at), "", map[string]Outcome{
			"unavailable < 1s": Undecided, "unavailable < 2500ms": Met}},
		{"a stall in which few were due", short(only(stalled(noise(1), at, length, 1e6), at, at+length, 40*time.Millisecond), at), "", map[string]Outcome{
			"unavailable < 1500ms": Undecided, "recovered < 1500ms": Undecided, "unavailable < 2500ms": Met}},
		{"before it as many were late", short(stalled(stalled(noise(1), time.Second, length, 1e6), 5*time.Second, length, 1e6), 5*time.Second), "", map[string]Outcome{
			"unavailable < 1s": Undecided, "recovered < 1s": Undecided}},
		{"at the first instant", short(stalled(noise(1), 0, length, 1e6), 0), result.ImpactUnknown, map[string]Outcome{
			"unavailable < 10s": Undecided, "recovered < 10s": Undecided}},
		{"at the last instant", short(noise(1), seconds*time.Second-50*time.Millisecond), result.ImpactUnknown, map[string]Outcome{
			"unavailable < 1s": Undecided, "recovered < 1s": Undecided}},
		{"not over by the end", short(stalled(noise(1), 9*time.Second, 3*time.Second, 1e6), 9*time.Second), result.ImpactSeen, map[string]Outcome{
			"recovered < 500ms": Missed, "recovered < 2s": Undecided, "recovered < 1h": Undecided, "unavailable < 1s": Missed}},
		{"closed loop", outside(short(noise(1), at), func(h *result.Header) { h.Mode = result.ModeClosed }), result.ImpactUnknown, map[string]Outcome{
			"unavailable < 10s": Undecided, "recovered < 10s": Undecided}},
		{"flat out", outside(short(noise(1), at), func(h *result.Header) { h.Mode = result.ModeFlatOut }), result.ImpactUnknown, map[string]Outcome{
			"unavailable < 10s": Undecided, "recovered < 10s": Undecided}},
		{"no answers", short(nil, at), result.ImpactUnknown, map[string]Outcome{
			"unavailable < 10s": Undecided, "recovered < 10s": Undecided}},
	} {
		run := done(c.bed.run(t))
		run.Summary = Summarise(run, Inputs{})
		run.Summary.Verdict.Status = result.Valid // what lowers it is no matter of costs
		if x := run.Summary.Costs; len(x) != 1 || c.effect != "" && x[0].Effect != c.effect || x[0].Effect == result.ImpactUnknown && (x[0].Why == "" || x[0].Unavailable != nil || x[0].Recovered != nil) {
			t.Errorf("%s: %+v", c.name, x)
			continue
		}
		for text, want := range c.decided {
			o, err := scenario.ParseObjective(text)
			if err != nil {
				t.Fatal(err)
			}
			if d := Decide(run, o); d.Outcome != want {
				t.Errorf("%s: %s is %s, want %s: %s; %+v", c.name, text, d.Outcome, want, d.Text, run.Summary.Costs[0].Unavailable)
			}
		}
	}
}

// An action of the run that happened before the window of a workload and lasts into it has a cost in that workload,
// and what it did is no former level of the next one.
func TestAnActionThatLastsIntoTheWindow(t *testing.T) {
	ms := stalled(noise(1), 0, 3*time.Second, 1e6)
	ms = stalled(ms, 7*time.Second, time.Second, 1e6)
	b := acted(ms, 100*time.Millisecond, 4*time.Second, -time.Second)
	b.header.Actions = append(b.header.Actions, result.Action{Kind: string(scenario.ActionPause), Subject: "consumers", At: 7e9, For: 1e9})
	run := done(b.run(t))
	all := costs(run, Inputs{}.complete(run))
	if len(all) != 2 || all[0].Effect != result.ImpactUnknown || all[0].Why == "" || all[0].Until != 7e9 {
		t.Fatalf("%+v", all)
	}
	// Nothing is known to be outside of the first one's effect, so the second one has no former level.
	if all[1].Effect != result.ImpactUnknown {
		t.Errorf("%+v", all[1])
	}
	b = acted(noise(1), 100*time.Millisecond, time.Second, -2*time.Second, 7*time.Second)
	run = done(b.run(t))
	if all = costs(run, Inputs{}.complete(run)); len(all) != 1 || all[0].Effect != result.ImpactNone {
		t.Errorf("an action that was over before the window has a cost: %+v", all)
	}
}

// What was in flight when an action happened, and what was due in its effect and acknowledged after it, is explained by it.
func TestCostsOfWhatWasInFlight(t *testing.T) {
	at := 4 * time.Second
	ms := refuse(stalled(noise(1), at, time.Second, 2e4), at-20*time.Millisecond, at+10*time.Millisecond)
	run := done(acted(ms, 100*time.Millisecond, 0, at).run(t))
	lost := func(at int64) result.LostSlot {
		return result.LostSlot{Slot: at / int64(slot), Count: 5, First: at, Last: at}
	}
	run.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, LostAcked: 10, Lost: &result.Losses{Count: 10, First: 3_990e6, Last: 5_010e6,
		Slots: []result.LostSlot{lost(3_990e6), lost(5_010e6)}}}
	s := Summarise(run, Inputs{})
	c := s.Costs[0]
	if c.Refused != 60 || c.LostAcked == nil || c.LostAcked.Count != 10 || c.LostAcked.Newest >= 0 || s.Unexplained != nil {
		t.Errorf("%d refused, lost %+v, not explained %+v", c.Refused, c.LostAcked, s.Unexplained)
	}
}

// Short outages with answers between them are no long one, however near to each other they are.
func TestOutagesThatAreNear(t *testing.T) {
	ms := noise(1)
	for k := range time.Duration(6) {
		at := 4*time.Second + k*150*time.Millisecond
		refuse(ms, at, at+40*time.Millisecond)
	}
	c := oneCost(t, done(acted(ms, 100*time.Millisecond, 0, 4*time.Second).run(t)))
	if u := c.Unavailable; c.Effect != result.ImpactSeen || u.Least > int64(60*time.Millisecond) || u.Most < int64(40*time.Millisecond) {
		t.Errorf("%s: unavailable %+v", c.Effect, u)
	}
}
