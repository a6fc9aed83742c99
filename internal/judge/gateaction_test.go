package judge

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// explaining are the kinds of actions that explain something, with an action of each at an instant.
func explaining(at time.Duration) (all []result.Action) {
	for _, p := range scenario.Actions() {
		if p.Explains == "" || p.Kind == scenario.ActionStart { // before it consumers are away
			continue
		}
		a := result.Action{Kind: string(p.Kind), Subject: "x", At: int64(at), Text: "{" + string(p.Kind) + ": x}"}
		if p.Lasts || p.Restarts {
			a.For = int64(500 * time.Millisecond)
		}
		all = append(all, a)
	}
	return all
}

// plain are messages without bursts, so that what lowers a verdict is what a test adds.
func plain() []msg {
	rng := rand.New(rand.NewPCG(1, 41))
	ms := make([]msg, seconds*perSecond)
	for i := range ms {
		ms[i] = msg{intended: int64(i) * int64(time.Second) / perSecond, own: 2000, service: 100_000 + rng.Int64N(100_000)}
	}
	return ms
}

const actedAt = 3 * time.Second

// gateCase is a trouble in a run with an action at actedAt that stalls its messages for half of a second.
type gateCase struct {
	name     string
	messages func(ms []msg)
	bed      func(b *testbed)
	run      func(r *result.Run)
	code     result.ReasonCode // of the reason that must lower the verdict; empty: none may
	words    string            // in its text
}

func gateCases() []gateCase {
	pause := func(from, length time.Duration) func(*result.Run) {
		return func(r *result.Run) {
			r.Pauses = append(r.Pauses, result.Pause{Start: int64(from), End: int64(from + length), Source: result.PauseProcess})
		}
	}
	in := func(m *msg, from, to time.Duration) bool { return m.intended >= int64(from) && m.intended < int64(to) }
	vital := func(v result.Vital, value float64, from, to int) func(*testbed) {
		return func(b *testbed) {
			for _, x := range b.intervals[from:to] {
				x.v.Vitals[v] = value
			}
		}
	}
	return []gateCase{
		{name: "what the action does"},
		{name: "another level from then on", messages: func(ms []msg) {
			for i := range ms {
				if in(&ms[i], actedAt, time.Minute) {
					ms[i].service += ms[i].service * 7 / 10
				}
			}
		}},
		{name: "sends that the stall blocks", messages: func(ms []msg) {
			for i := range ms {
				if m := &ms[i]; m.service > 1e6 {
					m.blocked, m.service = m.service-100_000, 100_000
				}
			}
		}},
		{name: "the process stops in the effect", run: pause(actedAt+100*time.Millisecond, 200*time.Millisecond), code: result.ReasonFrozen},
		{name: "the process stops outside", run: pause(7*time.Second, 200*time.Millisecond), code: result.ReasonFrozen},
		{name: "it stops outside, which is more of what is outside", run: pause(7*time.Second, 12*time.Millisecond), code: result.ReasonFrozen},
		{name: "own lag in the effect", messages: func(ms []msg) {
			for i := range ms {
				if in(&ms[i], actedAt, actedAt+500*time.Millisecond) {
					ms[i].own, ms[i].service = ms[i].service, 100_000
				}
			}
		}, code: result.ReasonSelfInflicted},
		{name: "own lag outside, below the tail that the action makes", messages: func(ms []msg) {
			for i := range ms {
				if i%50 == 0 && !in(&ms[i], actedAt-time.Second, actedAt+time.Second) {
					ms[i].own = 3_000_000
				}
			}
		}, code: result.ReasonSelfInflicted, words: "outside of the effects of actions: "},
		{name: "a process of the broker ends in the effect", run: func(r *result.Run) {
			r.Events = append(r.Events, result.Event{At: int64(actedAt + 100*time.Millisecond), Kind: result.EventBrokerEnded, Detail: "node 2 ended by itself"})
		}, code: result.ReasonBrokerEnded, words: "node 2"},
		{name: "connections to which the run's conditions do not get", run: func(r *result.Run) {
			r.Events = append(r.Events, result.Event{At: int64(time.Minute), Kind: result.EventNetwork, Network: &result.Network{Uncovered: []string{"b2:9092", "b3:9092"}}})
		}, code: result.ReasonAction, words: "connections to b2:9092, b3:9092"},
		{name: "connections to which an action's conditions do not get", run: func(r *result.Run) {
			r.Events = append(r.Events, result.Event{At: int64(actedAt + 500*time.Millisecond), Kind: result.EventActionOver, Action: &result.Acted{Number: 1, Network: &result.Network{Uncovered: []string{"b2:9092"}}}})
		}, code: result.ReasonAction, words: "connections to b2:9092"},
		{name: "the broker's threads wait in the effect", run: func(r *result.Run) {
			r.Pauses = append(r.Pauses, result.Pause{Start: int64(actedAt), End: int64(actedAt + 400*time.Millisecond), Source: result.PauseStarved})
		}, code: result.ReasonStarved},
		{name: "steal in the effect", bed: vital(result.VitalHostSteal, 0.9, 30, 35), code: result.ReasonSteal},
		{name: "throttled in the effect", bed: vital(result.VitalCgroupThrottled, 2, 30, 35), code: result.ReasonThrottled},
		{name: "swap in the effect", bed: vital(result.VitalHostSwapIn, 1, 30, 35), code: result.ReasonSwap},
		{name: "garbage collection in the effect", bed: vital(result.VitalGoGCPauseTotal, 50e6, 30, 35), code: result.ReasonGC},
		{name: "suspended in the effect", bed: vital(result.VitalHostSuspended, 1, 30, 35), code: result.ReasonSuspended},
		{name: "a busy sending thread in the effect", bed: vital(result.VitalPacerBusy, 0.99, 30, 40), code: result.ReasonGeneratorLimit},
		{name: "a drift all the time", messages: func(ms []msg) {
			for i := range ms {
				ms[i].service += ms[i].service * int64(i) / int64(len(ms)) * 3
			}
		}, code: result.ReasonSteady},
		{name: "sends that are blocked until the effect", messages: func(ms []msg) {
			for i := range ms {
				if m := &ms[i]; in(m, actedAt-250*time.Millisecond, actedAt-100*time.Millisecond) {
					m.blocked = int64(actedAt+100*time.Millisecond) - m.intended
				}
			}
		}},
		{name: "own lag until the effect", messages: func(ms []msg) {
			for i := range ms {
				if m := &ms[i]; in(m, actedAt-250*time.Millisecond, actedAt-100*time.Millisecond) {
					m.own = int64(actedAt+100*time.Millisecond) - m.intended
				}
			}
		}, code: result.ReasonRate, words: "outside of the effects of actions: "},
		{name: "a second sent late, beside one that the stall blocks", messages: func(ms []msg) {
			for i := range ms {
				if m := &ms[i]; m.service > 1e6 {
					m.blocked, m.service = m.service-100_000, 100_000
				}
				if m := &ms[i]; in(m, 7500*time.Millisecond, 8*time.Second) {
					m.own = int64(8100*time.Millisecond) - m.intended
				}
			}
		}, code: result.ReasonWorstSecond},
		{name: "accounts that do not close", bed: func(b *testbed) { b.intervals[31].v.Counters.Sent++ }, code: result.ReasonConservation},
		{name: "a contract that is broken", bed: func(b *testbed) { b.intervals[31].v.Counters.Violations++ }, code: result.ReasonViolations},
		{name: "messages that the client drops", bed: func(b *testbed) { b.intervals[31].v.Counters.Dropped = 100 }, code: result.ReasonClientDrops},
	}
}

// What a declared action explains does not lower a verdict, and what it cannot explain does: in the
// effect of an action of each kind as well as outside of it.
func TestGatesHoldAgainstActions(t *testing.T) {
	for _, c := range gateCases() {
		ms := stalled(plain(), actedAt, 500*time.Millisecond, 1e6)
		if c.messages != nil {
			c.messages(ms)
		}
		b := newFineTestbed(ms)
		b.header.Actions = explaining(actedAt)[:1]
		if c.bed != nil {
			c.bed(b)
		}
		records := b.run(t)
		if c.run != nil {
			c.run(records)
		}
		for _, a := range explaining(actedAt) {
			if c.code == "" && a.Kind == string(scenario.ActionPause) {
				continue // of a backlog there is a note, and no steady state
			}
			t.Run(c.name+"/"+a.Kind, func(t *testing.T) {
				run := *records
				run.Header.Actions, run.Events = []result.Action{a}, slices.Clone(records.Events)
				s := Summarise(done(&run), Inputs{})
				var lower []result.Reason
				for _, r := range s.Verdict.Reasons {
					if r.Status != result.Valid {
						lower = append(lower, r)
					}
				}
				if c.code == "" {
					if len(lower) > 0 || s.Verdict.Status != result.Valid || s.Verdict.ValidTo != "" {
						t.Errorf("%s: %+v", s.Verdict, lower)
					}
					return
				}
				if !slices.ContainsFunc(lower, func(r result.Reason) bool { return r.Code == c.code && strings.Contains(r.Text, c.words) }) {
					t.Errorf("%s: %+v", s.Verdict, s.Verdict.Reasons)
				}
			})
		}
	}
}

// A backlog at the end of the window is an action's only where there was none before, and where it does not
// go on growing when the action is over.
func TestBacklogOfAnAction(t *testing.T) {
	const at = 6 * time.Second
	forGood := result.Action{Kind: string(scenario.ActionKill), Subject: "node 0", At: int64(at), Text: "{kill: 0}"}
	undone := result.Action{Kind: string(scenario.ActionStall), Subject: "node 0", At: int64(at), For: int64(500 * time.Millisecond), Text: "{stall: 0}"}
	for name, c := range map[string]struct {
		action result.Action
		before float64 // messages a second by which the backlog grows before
		after  float64 // and from the action on
		want   result.Status
	}{
		"the action's":                              {forGood, 0, 1000, result.Valid},
		"of an action that is undone":               {undone, 0, 0, result.Valid},
		"too high a load all the time":              {forGood, 200, 1000, result.Unstable},
		"too high a load from then on, when undone": {undone, 0, 800, result.Unstable},
	} {
		t.Run(name, func(t *testing.T) {
			ms := plain()
			for i := range ms {
				m := &ms[i]
				due := float64(m.intended) / 1e9
				m.service += int64(due * c.before / perSecond * 1e9)
				if late := due - at.Seconds(); late > 0 {
					m.service += int64(late*c.after/perSecond*1e9) + int64(2*time.Second)
				}
			}
			b := newFineTestbed(ms)
			b.header.Actions = []result.Action{c.action}
			var sent, received int64
			for _, x := range b.intervals {
				sent, received = sent+x.v.Counters.Sent, received+x.v.Counters.Received
				x.v.InFlight = sent - received
			}
			v := verdictOf(done(b.run(t)), Inputs{})
			r := find(v, result.ReasonBacklog)
			if c.want == result.Unstable && v.Status != c.want || c.want == result.Valid && (v.Status == result.Unstable || r != nil && r.Status != result.Valid) {
				t.Errorf("%s: %+v", v, v.Reasons)
			}
		})
	}
}

// Messages that were never sent are an action's where they were all due from then on and sends were blocked.
func TestNotSentBecauseOfAnAction(t *testing.T) {
	for name, c := range map[string]struct {
		own    int64
		before int64 // messages due before the action and not sent then
		want   result.Status
	}{"blocked": {2000, 0, result.Valid}, "own lag": {2e9, 0, result.Suspect}, "waiting before": {2000, 500, result.Suspect}} {
		t.Run(name, func(t *testing.T) {
			ms := slices.DeleteFunc(plain(), func(m msg) bool { return m.intended >= 8e9 })
			b := newFineTestbed(ms)
			b.header.Actions = []result.Action{{Kind: string(scenario.ActionKill), Subject: "node 0", At: 8e9, Text: "{kill: 0}"}}
			var waiting int64
			for i, x := range b.intervals[:seconds*10] {
				if i >= 80 {
					x.v.Counters.Scheduled += perSecond / 10
					waiting += perSecond / 10
				}
				x.v.Backlog = waiting
				if i >= 70 && i < 80 {
					x.v.Backlog = c.before
				}
			}
			b.intervals[85].share(result.LagOwn).add(c.own)
			closing := &b.intervals[len(b.intervals)-1].v.Counters
			closing.NotSent = waiting
			s := b.intervals[len(b.intervals)-1].share(result.DeliveryResponse)
			s.censored = newHist()
			for i := range waiting {
				_ = s.censored.Record(2e9, 1)
				s.m.Unanswered = counted(s.m.Unanswered, 80+i/(perSecond/10))
			}
			closing.Expected, closing.Missing, closing.MissingUnknown, closing.Censored = 0, 0, 0, waiting
			v := verdictOf(done(b.run(t)), Inputs{})
			if r := find(v, result.ReasonNotSent); r == nil || r.Status != c.want {
				t.Errorf("%s: %+v", v, v.Reasons)
			}
		})
	}
}

// The page of the method lists the reasons whose gates are held otherwise than once over the whole run.
func TestHeldIsAsTheMethodSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	for held, begins := range map[result.Held]string{result.HeldTwice: "| over the whole run *and* by itself", result.HeldOutside: "| outside of what actions explain |"} {
		var codes []string
		for _, p := range result.Reasons() {
			if p.Held == held {
				codes = append(codes, "`"+string(p.Code)+"`")
			}
		}
		row := ""
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, begins) {
				row = line
			}
		}
		if want := "| " + strings.Join(codes, ", ") + " |\n"; !strings.HasSuffix(row, want) {
			t.Errorf("%q does not end with %q", row, want)
		}
	}
}
