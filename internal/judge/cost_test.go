package judge

import (
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/internal/hunttest"
	"sixnines/result"
	"sixnines/scenario"
)

// acted is a run with actions at the given instants, each of the given length.
func acted(messages []msg, each time.Duration, lasts time.Duration, at ...time.Duration) *testbed {
	b := newTestbedOf(messages, each)
	kind, subject := scenario.ActionDisconnect, "all"
	if lasts > 0 {
		kind, subject = scenario.ActionPause, "consumers"
	}
	for _, a := range at {
		b.header.Actions = append(b.header.Actions, result.Action{Kind: string(kind), Subject: subject, At: int64(a), For: int64(lasts)})
	}
	return b
}

// done adds the events that the actions of a run happened when they were planned.
func done(run *result.Run) *result.Run {
	for i, a := range run.Header.Actions {
		run.Events = append(run.Events, result.Event{At: a.At, Kind: result.EventAction, Action: &result.Acted{Number: i + 1, Planned: a.At}})
		if a.For > 0 {
			run.Events = append(run.Events, result.Event{At: a.At + a.For, Kind: result.EventActionOver, Action: &result.Acted{Number: i + 1, Planned: a.At + a.For, Began: a.At}})
		}
	}
	return run
}

// noise are messages as healthyMessages are, by a seed, with a level that wanders from one 100 ms
// to the next and a burst every second or so.
func noise(seed uint64) []msg {
	rng := rand.New(rand.NewPCG(seed, 37))
	ms := make([]msg, seconds*perSecond)
	level, burst := 1.0, 0
	for i := range ms {
		if i%(perSecond/10) == 0 {
			level = 0.8*level + 0.2*(0.6+0.8*rng.Float64())
		}
		if burst > 0 {
			burst--
		} else if rng.IntN(perSecond) == 0 {
			burst = 5 + rng.IntN(30)
		}
		ms[i] = msg{intended: int64(i) * int64(time.Second) / perSecond, own: 12_000 + rng.Int64N(8_000), service: int64(level * (55_000 + rng.ExpFloat64()*20_000))}
		if rng.IntN(50) == 0 {
			ms[i].service += int64(rng.ExpFloat64() * 200_000)
		}
		if burst > 0 {
			ms[i].service += int64(burst) * int64(time.Second) / perSecond
		}
	}
	return ms
}

// stalled has the broker stand still for a time: what it has not answered waits for the end of
// that, and is worked off at a rate.
func stalled(ms []msg, from, length time.Duration, perSecond float64) []msg {
	free := int64(from + length)
	for i := range ms {
		m := &ms[i]
		if came := m.intended + m.response(); m.intended+m.own >= int64(from) || came > int64(from) && came < int64(from+length) {
			if at := max(came, free); at > came {
				m.service += at - came
				free = at + int64(1e9/perSecond)
			}
		}
	}
	return ms
}

func oneCost(t *testing.T, run *result.Run) *result.Cost {
	t.Helper()
	all := costs(run, Inputs{}.complete(run))
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	return &all[0]
}

// An action without an effect has none: noise does not decide.
func TestNoEffectIsSeenInNoise(t *testing.T) {
	seen := 0
	runs := hunttest.Cases(t, 20, 400)
	for seed := range uint64(runs) {
		c := oneCost(t, done(acted(noise(seed), 200*time.Millisecond, 0, 4*time.Second).run(t)))
		switch c.Effect {
		case result.ImpactSeen:
			seen++
			t.Logf("seed %d: %+v of %+v", seed, *c.Detected, *c.Former)
		case result.ImpactUnknown:
			t.Fatalf("seed %d: %s", seed, c.Why)
		case result.ImpactNone:
			// A wait that is longer than all before it is no effect, and is said.
			if c.Unavailable.Least != 0 || c.Unavailable.Most > int64(100*time.Millisecond) || c.Recovered.Least != 0 || c.Detected != nil || c.Gone != c.From {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
	}
	t.Logf("of %d runs without an effect %d have one", runs, seen)
	if seen > runs/20 {
		t.Errorf("of %d runs without an effect %d have one", runs, seen)
	}
}

// A broker that stands still for a known time costs that, in spite of noise.
func TestCostOfAStall(t *testing.T) {
	runs := hunttest.Cases(t, 8, 400)
	worst, missed := time.Duration(0), 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 38))
		length := 50*time.Millisecond + time.Duration(rng.Int64N(int64(2*time.Second)))
		rate := perSecond * (1.5 + 3*rng.Float64())
		from := 3*time.Second + time.Duration(rng.Int64N(int64(time.Second)))
		calm := noise(seed)
		ms := stalled(noise(seed), from, length, rate)
		c := oneCost(t, done(acted(ms, 100*time.Millisecond, 0, from).run(t)))
		if c.Effect != result.ImpactSeen {
			t.Errorf("seed %d, %s at %s: %+v", seed, length, from, c)
			continue
		}
		// By the messages themselves: the last one that waited.
		back := int64(0)
		for i, m := range ms {
			if m.intended >= int64(from) && m.response() > max(c.Former.Late, calm[i].response()) {
				back = m.intended
			}
		}
		if back -= int64(from); c.Recovered == nil {
			t.Errorf("seed %d, %s at %s, worked off %s after it: not back: %+v", seed, length, from, time.Duration(back), c)
			continue
		}
		worst = max(worst, time.Duration(max(c.Recovered.Least-back, back-c.Recovered.Most)))
		if c.Recovered.Least > back+int64(200*time.Millisecond) || c.Recovered.Most < back-int64(200*time.Millisecond) {
			missed++
			t.Logf("seed %d, %s at %s, worked off %s after it: back %+v", seed, length, from, time.Duration(back), *c.Recovered)
		}
		if c.Detected.Least > int64(5*time.Millisecond) || c.Detected.Most < 0 {
			t.Errorf("seed %d: detected %+v", seed, *c.Detected)
		}
		if u := c.Unavailable; u.Least < int64(length)-int64(2*time.Millisecond) || u.Most > int64(length)+int64(25*time.Millisecond) {
			t.Errorf("seed %d, %s: unavailable %+v", seed, length, *u)
		}
	}
	if t.Logf("recovery outside of its bounds by at most %s", worst); missed > runs/20 {
		t.Errorf("in %d of %d runs it is wrong", missed, runs)
	}
}

// Messages that are refused, or never answered, make an outage from the first to the last.
func TestOutageOfFailures(t *testing.T) {
	for name, fail := range map[string]func(*msg){"refused": func(m *msg) { m.refused = true }, "never answered": func(m *msg) { m.missing = true }} {
		t.Run(name, func(t *testing.T) {
			ms := noise(1)
			n := int64(0)
			for i := range ms {
				if at := ms[i].intended; at >= int64(3*time.Second) && at < int64(4500*time.Millisecond) {
					fail(&ms[i])
					n++
				}
			}
			c := oneCost(t, done(acted(ms, 100*time.Millisecond, 0, 3*time.Second).run(t)))
			if c.Effect != result.ImpactSeen || c.Unavailable.Least > int64(1500*time.Millisecond) || c.Unavailable.Most < int64(1500*time.Millisecond) ||
				c.Unavailable.Most-c.Unavailable.Least > 2*int64(slot) || c.Recovered == nil || c.Recovered.Most < int64(1500*time.Millisecond) || c.Recovered.Least > int64(1500*time.Millisecond) {
				t.Errorf("%+v: unavailable %+v, back %+v", c, c.Unavailable, c.Recovered)
			}
			if c.Refused+*c.Unanswered != n {
				t.Errorf("%d refused and %d unanswered of %d", c.Refused, *c.Unanswered, n)
			}
		})
	}
}

// Actions whose effects overlap make one cost, others one each.
func TestCostsThatOverlap(t *testing.T) {
	ms := stalled(noise(2), 3*time.Second, time.Second, 1e6)
	run := done(acted(ms, 100*time.Millisecond, 0, 3*time.Second, 3500*time.Millisecond, 7*time.Second).run(t))
	run.Summary = Summarise(run, Inputs{})
	all := run.Summary.Costs
	if len(all) != 2 || len(all[0].Actions) != 2 || all[0].Until != int64(7*time.Second) || all[1].Effect != result.ImpactNone {
		t.Fatalf("%+v", all)
	}
	// What is due outside knows nothing of the stall.
	if d := run.Summary.Outside[result.DeliveryResponse]; d == nil || d.Max > int64(100*time.Millisecond) || d.Samples > int64(len(ms))*91/100 || d.Samples < int64(len(ms))*85/100 {
		t.Errorf("%+v", d)
	}
	if d := all[0].During.Latency; d.Figures["50"].Value < int64(200*time.Millisecond) {
		t.Errorf("%+v", d)
	}
}

// Too early an action has no former level, which is said.
func TestCostWithoutFormerLevel(t *testing.T) {
	c := oneCost(t, done(acted(noise(3), 100*time.Millisecond, 0, 200*time.Millisecond).run(t)))
	if c.Effect != result.ImpactUnknown || c.Why == "" || c.Unavailable != nil || c.Recovered != nil {
		t.Errorf("%+v", c)
	}
}

// A cost has only what its kind of action can do to messages; the rest is not explained.
func TestCostsAreOfWhatAnActionCanDo(t *testing.T) {
	for _, c := range []struct {
		action                scenario.Action
		refused, lost, copies int64 // in the action's cost
	}{
		{scenario.Action{At: scenario.Moment{After: 3 * time.Second}, Kill: &scenario.Nodes{Node: "0"}}, 20, 7, 5},
		{scenario.Action{At: scenario.Moment{After: 3 * time.Second}, Disconnect: scenario.Producers}, 20, 0, 5},
		{scenario.Action{At: scenario.Moment{After: 3 * time.Second}, Disconnect: scenario.Everybody}, 20, 7, 5},
		{scenario.Action{At: scenario.Moment{After: 3 * time.Second}, Network: &scenario.Network{Conditions: scenario.Conditions{Delay: time.Millisecond}}, For: time.Second}, 20, 0, 5},
	} {
		s, err := scenario.Parse("x", []byte("version: 1\ntarget: {driver: nats}\nphases: {duration: 10s}\nworkload: {rate: 2000/s}\nactions: ["+c.action.String()+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		text, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		ms := noise(5)
		for i := range ms {
			if at := time.Duration(ms[i].intended); at >= 3200*time.Millisecond && at < 3210*time.Millisecond {
				ms[i].refused = true
			}
		}
		b := newFineTestbed(ms)
		b.header.Scenario, b.header.Actions = text, actionsOf(s)
		b.intervals[10].v.Counters.Duplicated = 3 // before the action
		b.intervals[35].v.Counters.Duplicated = 5
		run := done(b.run(t))
		run.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, LostAcked: 9, Lost: &result.Losses{Count: 9, Undated: 2, First: 3e9, Last: 3e9 + 5,
			Slots: []result.LostSlot{{Slot: 30, Count: 7, First: 3e9, Last: 3e9 + 5}}}}
		sum := Summarise(run, Inputs{})
		x, u := sum.Costs[0], sum.Unexplained
		var lost int64
		if x.LostAcked != nil {
			lost = x.LostAcked.Count
		}
		if x.Refused != c.refused || lost != c.lost || x.Duplicated != c.copies {
			t.Errorf("%s: %d refused, %d lost, %d duplicated: %q", c.action, x.Refused, lost, x.Duplicated, x.Causes)
		}
		if u == nil || u.LostAcked != 9-lost || u.Duplicated != 3 || u.Refused != 0 {
			t.Errorf("%s: not explained: %+v", c.action, u)
		}
	}
}

// Of a message that several consumers should have had, one refusal is one.
func TestRefusedAreMessages(t *testing.T) {
	x := &result.Merged{Refused: 30, RefusedAt: [][2]int64{{3, 12}, {4, 18}}}
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{result.DeliveryResponse: x}, Counters: result.Counters{Nacked: 10}}
	if r := refusedMessages(run, x); r.messages(12) != 4 || r.messages(18) != 6 {
		t.Errorf("%+v", r)
	}
	run.Metrics[result.PublishResponse] = &result.Merged{Refused: 10, RefusedAt: [][2]int64{{3, 5}, {4, 5}}}
	if r := refusedMessages(run, x); r.due[0][1] != 5 || r.messages(5) != 5 {
		t.Errorf("by the acknowledgements: %+v", r)
	}
}
