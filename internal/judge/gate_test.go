package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// find returns the first reason with a code.
func find(v result.Verdict, code result.ReasonCode) *result.Reason {
	for i := range v.Reasons {
		if v.Reasons[i].Code == code {
			return &v.Reasons[i]
		}
	}
	return nil
}

func TestAHealthyRunIsValid(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	v := assessed(verdictOf(run, Inputs{}))
	if v.Status != result.Valid || len(v.Reasons) != 0 {
		t.Errorf("verdict %s, %+v", v.Status, v.Reasons)
	}
}

// clocked makes a run one of two agents with clocks of their own.
func clocked(proved time.Duration, unknown bool) func(*testbed) {
	return func(b *testbed) {
		c := result.AgentClock{Proved: int64(proved), Expected: int64(proved) / 2, Unknown: unknown}
		b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9, Segment: result.Segment{Role: result.RoleProducers}, Clock: &c},
			{Name: "b", Status: result.Valid, End: 10e9, Segment: result.Segment{Role: result.RoleConsumers}, Clock: &c}}}
	}
}

// Each gate is flipped by one change to a healthy run.
func TestGates(t *testing.T) {
	vital := func(name result.Vital, v float64) func(*testbed) {
		return func(b *testbed) { b.intervals[3].v.Vitals[name] = v }
	}
	every := func(name result.Vital, v float64) func(*testbed) {
		return func(b *testbed) {
			for _, i := range b.intervals {
				i.v.Vitals[name] = v
			}
		}
	}
	collecting := func(used, of float64) func(*testbed) {
		return func(b *testbed) { every(result.VitalGoCPUGC, used)(b); every(result.VitalGoCPUTotal, of)(b) }
	}
	count := func(f func(*result.Counters)) func(*testbed) {
		return func(b *testbed) { f(&b.intervals[len(b.intervals)-1].v.Counters) }
	}
	freeze := func(ns int64, sources ...result.PauseSource) func(*testbed) {
		return func(b *testbed) {
			for n, s := range sources {
				b.intervals[4].v.Pauses = append(b.intervals[4].v.Pauses, result.Pause{Start: 4e9 - int64(n)*1000, End: 4e9 + ns, Source: s})
			}
		}
	}
	mode := func(m string) func(*testbed) { return func(b *testbed) { b.header.Mode = m } }
	tests := []struct {
		name   string
		change func(*testbed)
		code   result.ReasonCode // "" : no reason at all
		status result.Status
		text   string
		// to is the percentile up to which the run is valid, where the reason is
		// about those beyond.
		to string
	}{
		{"accounts that do not close", count(func(c *result.Counters) { c.Sent++ }), "conservation", result.Invalid, "do not add up", ""},
		{"an agent that was lost", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9}, {Name: "b", Lost: true, End: 10e9}}}
		}, "agent-lost", result.Suspect, "of 2 agents 1 did not finish: b", ""},
		{"an agent that was stopped alone", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9}, {Name: "b", Status: result.Valid, End: 8e9}}}
		}, "agent-lost", result.Suspect, "of 2 agents 1 did not finish: b", ""},
		{"an agent that is invalid alone", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Invalid, End: 10e9, Codes: []result.ReasonCode{"frozen"}}, {Name: "b", Status: result.Valid, End: 10e9}}}
		}, "agent", result.Suspect, "not VALID: a (INVALID: frozen)", ""},
		{"an agent that is suspect alone", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9}, {Name: "b", Status: result.Suspect, End: 10e9, Codes: []result.ReasonCode{"cpu"}}}}
		}, "agent", result.Suspect, "not VALID: b (SUSPECT: cpu)", ""},
		{"agents one after the other", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9}, {Name: "b", Status: result.Valid, End: 10e9, Started: time.Time{}.Add(time.Minute)}}}
		}, "agents-apart", result.Invalid, "up to 60.0 s apart", ""},
		{"agents together whose wall clocks differ", func(b *testbed) {
			start := &result.AgentStart{Late: 100, Proved: 1000}
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9, Start: start}, {Name: "b", Status: result.Valid, End: 10e9, Started: time.Time{}.Add(time.Minute), Start: start}}}
		}, "agents-apart", result.Valid, "up to 2.00 µs apart, by clocks that were compared", ""},
		{"agents one after the other by the run's clock", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9, Start: &result.AgentStart{Proved: 1e6}}, {Name: "b", Status: result.Valid, End: 10e9, Start: &result.AgentStart{Late: 11e9, Proved: 2e6}}, {Name: "c", Lost: true, End: 10e9}}}
		}, "agents-apart", result.Invalid, "up to 11.0 s apart, by clocks that were compared", ""},
		{"clocks that are not followed", clocked(0, true), "clocks", result.Invalid, "a clock stepped", ""},
		{"clocks that say nothing of the latency", clocked(time.Second, false), "clocks", result.Invalid, "right within 2.00 s, proved", ""},
		{"a message before it was sent, by more than is proved", func(b *testbed) {
			clocked(time.Microsecond, false)(b)
			b.intervals[len(b.intervals)-1].v.Vitals[result.VitalDeliveryEarly] = 2_001
		}, "clocks", result.Invalid, "a message arrived 2.00 µs before it was sent, by clocks that are proved right within 2.00 µs, which is impossible", ""},
		{"a message before it was sent, by no more than is proved", func(b *testbed) {
			clocked(time.Nanosecond, false)(b)
			b.intervals[len(b.intervals)-1].v.Vitals[result.VitalDeliveryEarly] = 2
		}, "clocks", result.Valid, "right within 2 ns, proved", ""},
		{"the expected error was asked for", func(b *testbed) {
			clocked(time.Second, false)(b)
			for i := range b.header.Fleet.Agents {
				b.header.Fleet.Agents[i].Clock.Expected = 1_000
			}
			b.header.Fleet.Bound = result.BoundExpected
		}, "clocks", result.Suspect, "judged by the expected error, ± 2.00 µs, as was asked for", ""},
		{"the expected error was asked for, and says nothing either", func(b *testbed) {
			clocked(time.Second, false)(b)
			b.header.Fleet.Bound = result.BoundExpected
		}, "clocks", result.Invalid, "it does not say how long messages took", ""},
		{"clocks that nobody slews", func(b *testbed) {
			clocked(time.Nanosecond, false)(b)
			for i := range b.header.Fleet.Agents {
				b.header.Fleet.Agents[i].Clock.Raw = true
			}
		}, "clocks", result.Valid, "right within 2 ns, proved by clocks that nobody slews", ""},
		{"clocks that kernels stamp", stamped(5, 9), "clocks", result.Valid, "right within 2 ns, proved by clocks that nobody slews and time stamps of kernels", ""},
		{"clocks of which they stamp one", stamped(4, 9), "clocks", result.Valid, "right within 2 ns, proved by clocks that nobody slews, and", ""},
		{"clocks that are known well", clocked(time.Nanosecond, false), "clocks", result.Valid, "right within 2 ns, proved", ""},
		{"a fleet of which nothing is wrong", func(b *testbed) {
			b.header.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a", Status: result.Valid, End: 10e9}, {Name: "b", Status: result.Valid, End: 10e9}}}
		}, "", result.Valid, "", ""},
		{"contract violations", count(func(c *result.Counters) { c.Violations = 2 }), "violations", result.Invalid, "2 times", ""},
		{"suspended", vital(result.VitalHostSuspended, 3e9), "suspended", result.Invalid, "3.00 s", ""},
		{"frozen for 120 ms", freeze(120e6, result.PauseThread, result.PauseGoroutine), "frozen", result.Suspect, "120 ms", "95"},
		{"frozen as the pause says itself", freeze(120e6, result.PauseProcess), "frozen", result.Suspect, "120 ms", "95"},
		{"frozen for a third of the window", freeze(3e9, result.PauseProcess), "frozen", result.Invalid, "3.00 s", ""},
		{"frozen for 120 ms with bursts", func(b *testbed) {
			freeze(120e6, result.PauseProcess)(b)
			for n, i := range b.intervals[:seconds] { // half of each second's messages come in one
				for _, c := range []*int64{&i.v.Counters.Scheduled, &i.v.Counters.Sent, &i.v.Counters.Unknown} {
					if *c -= perSecond / 2; n == 4 {
						*c += seconds * perSecond / 2
					}
				}
			}
		}, "frozen", result.Suspect, "120 ms", "75"},
		{"frozen for 120 ms in a closed loop", func(b *testbed) { freeze(120e6, result.PauseProcess)(b); mode(result.ModeClosed)(b) }, "frozen", result.Invalid, "120 ms", ""},
		{"frozen for 120 ms flat out", func(b *testbed) { freeze(120e6, result.PauseProcess)(b); mode(result.ModeFlatOut)(b) }, "frozen", result.Invalid, "120 ms", ""},
		{"frozen for 20 ms", freeze(20e6, result.PauseThread, result.PauseGoroutine), "frozen", result.Suspect, "20.0 ms", "99"},
		{"frozen for 5 ms", freeze(5e6, result.PauseThread, result.PauseGoroutine), "", result.Valid, "", ""},
		{"one meter alone", freeze(900e6, result.PauseThread), "", result.Valid, "", ""},
		{"a freeze after the window", func(b *testbed) {
			b.intervals[12].v.Pauses = []result.Pause{{Start: 11e9, End: 12e9, Source: result.PauseProcess}}
		}, "", result.Valid, "", ""},
		{"many small freezes", func(b *testbed) {
			for n := range int64(20) {
				b.intervals[2].v.Pauses = append(b.intervals[2].v.Pauses, result.Pause{Start: n * 100e6, End: n*100e6 + 6e6, Source: result.PauseProcess})
			}
		}, "frozen", result.Suspect, "20 pauses", "95"},
		{"not sent", count(func(c *result.Counters) { c.NotSent, c.Scheduled = 1, 1 }), "not-sent", result.Valid, "1 message of", ""},
		{"30 not sent", count(func(c *result.Counters) { c.NotSent, c.Scheduled = 30, 30 }), "not-sent", result.Suspect, "p99.9", "99"},
		{"a little throttled", func(b *testbed) {
			vital(result.VitalCgroupThrottled, 2)(b)
			vital(result.VitalCgroupThrottleTime, 10e6)(b)
		}, "throttled", result.Suspect, "2 periods", "99"},
		{"throttled for a time that nobody tells", vital(result.VitalCgroupThrottled, 2), "throttled", result.Suspect, "2 periods", ""},
		{"throttled", func(b *testbed) {
			vital(result.VitalCgroupThrottled, 50)(b)
			vital(result.VitalCgroupThrottleTime, 900e6)(b)
		}, "throttled", result.Suspect, "4.5 %", "75"},
		{"throttled for most of the time", func(b *testbed) {
			vital(result.VitalCgroupThrottled, 50)(b)
			vital(result.VitalCgroupThrottleTime, 8e9)(b)
		}, "throttled", result.Invalid, "40 %", ""},
		{"steal of 0.4 %", every(result.VitalHostSteal, 0.004), "", result.Valid, "", ""},
		{"steal of 2 %", every(result.VitalHostSteal, 0.02), "steal", result.Suspect, "2.0 %", ""},
		{"steal of 2 % on two processors", func(b *testbed) { every(result.VitalHostSteal, 0.02)(b); every(result.VitalHostStealTime, 0.04)(b) }, "steal", result.Suspect, "2.0 %", "90"},
		{"steal of 2 % on 64 processors", func(b *testbed) { every(result.VitalHostSteal, 0.02)(b); every(result.VitalHostStealTime, 1.28)(b) }, "steal", result.Suspect, "2.0 %", ""},
		{"steal of 6 % on two processors", func(b *testbed) { every(result.VitalHostSteal, 0.06)(b); every(result.VitalHostStealTime, 0.12)(b) }, "steal", result.Suspect, "6.0 %", "75"},
		{"steal of 6 % from processors that were busy for half of the time", func(b *testbed) {
			every(result.VitalHostSteal, 0.06)(b)
			every(result.VitalHostStealTime, 0.12)(b)
			every(result.VitalHostBusy, 0.54)(b)
		}, "steal", result.Suspect, "6.0 %", "75"},
		{"steal of 6 % from processors that were idle", func(b *testbed) {
			every(result.VitalHostSteal, 0.06)(b)
			every(result.VitalHostStealTime, 0.12)(b)
			every(result.VitalHostBusy, 0.1)(b)
		}, "steal", result.Invalid, "6.0 %", ""},
		{"steal of 6 % on 64 processors", func(b *testbed) { every(result.VitalHostSteal, 0.06)(b); every(result.VitalHostStealTime, 3.84)(b) }, "steal", result.Invalid, "6.0 %", ""},
		{"steal of 6 %", every(result.VitalHostSteal, 0.06), "steal", result.Invalid, "6.0 %", ""},
		{"swapping", vital(result.VitalHostSwapIn, 7), "swap", result.Suspect, "7 pages", ""},
		{"a broker without processor for 100 ms", freeze(100e6, result.PauseStarved), "starved", result.Suspect, "for 1.0 % of the window", "95"},
		{"a broker without processor all the time", func(b *testbed) {
			b.intervals[0].v.Pauses = []result.Pause{{Start: -5e9, End: 30e9, Source: result.PauseStarved}}
		}, "starved", result.Suspect, "for 100 % of the window", ""},
		{"a broker without processor after the window", func(b *testbed) {
			b.intervals[12].v.Pauses = []result.Pause{{Start: 11e9, End: 12e9, Source: result.PauseStarved}}
		}, "", result.Valid, "", ""},
		{"60 % of the processors", every(result.VitalProcessCPU, 1.2), "", result.Valid, "", ""},
		{"75 % of the processors", every(result.VitalProcessCPU, 1.5), "cpu", result.Valid, "75 %", ""},
		{"95 % of the processors", every(result.VitalProcessCPU, 1.9), "cpu", result.Suspect, "95 %", ""},
		{"95 % flat out", func(b *testbed) { every(result.VitalProcessCPU, 1.9)(b); mode(result.ModeFlatOut)(b) }, "cpu", result.Valid, "throughput", ""},
		{"a long pause of the collector", vital(result.VitalGoGCPauseMax, 5e6), "gc", result.Valid, "5.00 ms", ""},
		{"much collecting", every(result.VitalGoGCPauseTotal, 20e6), "gc", result.Suspect, "200 ms", "95"},
		{"collecting without pauses", collecting(0.26, 2), "gc", result.Valid, "took 13 % of the processors", ""},
		{"collecting in intervals of 100 ms", collecting(0.05, 0.2), "gc", result.Valid, "took 25 % of the processors", ""},
		{"a little collecting in intervals of 3 s on eight processors", collecting(0.48, 24), "", result.Valid, "", ""},
		{"collecting on nobody knows how many processors", every(result.VitalGoCPUGC, 0.26), "", result.Valid, "", ""},
		{"waiting goroutines", vital(result.VitalGoLatencyP99, 1e6), "scheduler", result.Valid, "1.00 ms", ""},
		{"client drops", count(func(c *result.Counters) { c.Dropped = 3 }), "client-drops", result.Valid, "3 messages", ""},
		{"more client drops", count(func(c *result.Counters) { c.Dropped = 15 }), "client-drops", result.Suspect, "15 messages", "99"},
		{"many client drops", count(func(c *result.Counters) { c.Dropped = 300 }), "client-drops", result.Invalid, "300", ""},
		{"negative differences", count(func(c *result.Counters) { c.Negative = 1 }), "negative", result.Suspect, "1 difference ", ""},
		{"out of range", count(func(c *result.Counters) { c.OutOfRange = 4 }), "out-of-range", result.Valid, "4 values", ""},
		{"more out of range", count(func(c *result.Counters) { c.OutOfRange = 40 }), "out-of-range", result.Suspect, "40 values", "99"},
		{"closed loop", mode(result.ModeClosed), "closed-loop", result.Valid, "coordinated omission", ""},
		{"flat out", mode(result.ModeFlatOut), "unpaced", result.Valid, "UNPACED", ""},
		{"one host", func(b *testbed) { b.header.SameHost = true }, "same-host", result.Valid, "shared", ""},
		{"lost after the acknowledgement", count(func(c *result.Counters) { c.Expected, c.Missing, c.LostAcked = 2, 2, 2 }), "lost-acked", result.Valid, "lost 2 messages that it had acknowledged", ""},
		{"still with the broker", count(func(c *result.Counters) { c.Expected, c.Missing, c.Undelivered = 2, 2, 2 }), "undelivered", result.Valid, "2 messages acknowledged but not yet delivered when the run ended", ""},
		{"missing", count(func(c *result.Counters) { c.Expected, c.Missing = 3, 3 }), "missing", result.Valid, "3 messages missing that the broker never acknowledged: no guarantee violated", ""},
		{"corrupted", count(func(c *result.Counters) { c.Expected, c.Corrupted = 1, 1 }), "corrupted", result.Valid, "1 message ", ""},
		{"refused", count(func(c *result.Counters) { c.Scheduled, c.Sent, c.Nacked = 500, 500, 500 }), "refused", result.Suspect, "500 messages of 20,500 refused (500 by the broker)", ""},
		{"refused, a few", count(func(c *result.Counters) { c.Scheduled, c.Rejected = 1, 1 }), "refused", result.Valid, "1 by the client", ""},
		{"duplicates", count(func(c *result.Counters) { c.Duplicated, c.Reordered = 5, 9 }), "deliveries", result.Valid, "5 delivered more than once, 9 out of order", ""},
		{"censored", count(func(c *result.Counters) { c.Censored = 6 }), "censored", result.Valid, "6 messages", ""},
		{"handovers", count(func(c *result.Counters) { c.Takeovers = 1 }), "handovers", result.Valid, "once", ""},
		{"warnings of the driver", func(b *testbed) { b.header.Semantics.Warnings = []string{"any certificate is accepted"} }, "semantics", result.Valid, "certificate", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			tt.change(b)
			v := assessed(verdictOf(b.run(t), Inputs{}))
			want := result.Verdict{Status: tt.status, ValidTo: result.Percentile(tt.to)}
			if tt.to != "" {
				want.Status = result.Valid
			}
			if v.String() != want.String() {
				t.Errorf("%s, want %s: %+v", v, want, v.Reasons)
			}
			for _, r := range v.Reasons {
				if !strings.Contains(r.What(), string(r.Metric)) {
					t.Errorf("%s is about %s, and does not say so: %s", r.Code, r.Metric, r.What())
				}
			}
			if tt.code == "" {
				if len(v.Reasons) != 0 {
					t.Errorf("reasons %+v, want none", v.Reasons)
				}
				return
			}
			r := find(v, tt.code)
			if r == nil {
				t.Fatalf("no reason %q in %+v", tt.code, v.Reasons)
			}
			inPlainWords(t, v)
			if r.Code == "frozen" && r.Brief == "" {
				t.Error("the pause has no headline")
			}
			if r.Status != tt.status || !strings.Contains(r.Text, tt.text) {
				t.Errorf("%s: %q, want %s with %q", r.Status, r.Text, tt.status, tt.text)
			}
		})
	}
}

func TestEventsAndInterruptionAreNoted(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	run.Events = []result.Event{{Kind: "disconnected"}, {Kind: "reconnected"}, {Kind: "disconnected"}}
	v := verdictOf(run, Inputs{Interrupted: true, Aborted: true, End: 4e9})
	if r := find(v, "aborted"); r == nil || r.Status != result.Suspect {
		t.Errorf("aborted: %+v", r)
	}
	if r := find(v, "events"); r == nil || !strings.Contains(r.Text, "disconnected (2), reconnected (1)") {
		t.Errorf("events: %+v", r)
	}
	if r := find(v, "interrupted"); r == nil || !strings.Contains(r.Text, "4.00 s of the 10 s") {
		t.Errorf("interrupted: %+v", r)
	}
}

// stall delays the messages due in [from, from+length): by the broker, so that sends block or
// answers come late, or by the generator.
func stall(ms []msg, from, length int64, delay func(*msg, int64)) {
	for i := range ms {
		if d := from + length - ms[i].intended; ms[i].intended >= from && d > 0 {
			delay(&ms[i], d)
		}
	}
}

// A pause of the broker is measured and does not invalidate the run, whether it blocks sends or
// delays answers.
func TestAStallOfTheBrokerIsValid(t *testing.T) {
	for name, delay := range map[string]func(*msg, int64){
		"answers late":  func(m *msg, d int64) { m.service += d },
		"sends blocked": func(m *msg, d int64) { m.blocked += d },
	} {
		t.Run(name, func(t *testing.T) {
			ms := healthyMessages()
			stall(ms, 2_500e6, 2e9, delay)
			s := Summarise(newTestbed(ms).run(t), Inputs{})
			if s.Verdict.Status != result.Valid {
				t.Errorf("verdict %s: %+v", s.Verdict.Status, s.Verdict.Reasons)
			}
			d := s.Histograms[result.DeliveryResponse]
			for name, want := range map[string]float64{"90": 1e9, "99": 1.9e9, "99.9": 1.99e9} {
				if r := float64(d.Figures[result.Percentile(name)].Value) / want; r < 0.97 || r > 1.03 {
					t.Errorf("p%s is %d, the oracle says %.0f", name, d.Figures[result.Percentile(name)].Value, want)
				}
				if n := d.Figures[result.Percentile(name)].Episodes; name != "90" && n != 1 {
					t.Errorf("p%s: %d episodes, want 1", name, n)
				}
			}
			if name == "sends blocked" && find(s.Verdict, "worst-second-blocked") == nil {
				t.Errorf("the blocked seconds are not told: %+v", s.Verdict.Reasons)
			}
		})
	}
}

// The same pause of the generator makes percentiles invalid, whether the meters saw it or not,
// from the lowest one on beyond which delayed messages are the majority: the fifth of the messages
// that it delayed is three quarters of those beyond p75.
func TestAStallOfTheGeneratorIsInvalid(t *testing.T) {
	ms := healthyMessages()
	stall(ms, 2_500e6, 2e9, func(m *msg, d int64) { m.own += d })
	s := Summarise(newTestbed(ms).run(t), Inputs{})
	l := s.Verdict.Limit(result.DeliveryResponse)
	if s.Verdict.String() != "VALID to p50" || l.InvalidFrom != "75" || l.Of("99") != result.Invalid || l.Of("60") != result.Invalid || l.Of("50") != result.Valid {
		t.Errorf("verdict %s, %+v: %+v", s.Verdict, l, s.Verdict.Reasons)
	}
	if s.Verdict.Limit(result.DeliveryService).Of("99.9") == result.Invalid {
		t.Errorf("service times hold no own lag: %+v", s.Verdict.Limits)
	}
	r := find(s.Verdict, "self-inflicted")
	if r == nil || r.Percentile != "75" || r.Metric != result.DeliveryResponse || !strings.Contains(r.Text, "delayed mostly by the generator itself") {
		t.Errorf("self-inflicted: %+v", r)
	}
	if r := find(s.Verdict, "worst-second"); r == nil || r.Status != result.Suspect {
		t.Errorf("worst second: %+v", r)
	}
	if r := find(s.Verdict, "own-lag"); r == nil || r.Percentile == "50" {
		t.Errorf("own lag: %+v", r)
	}
	if s.Rate.WorstSecond > 0.01 {
		t.Errorf("worst second %v", s.Rate.WorstSecond)
	}
}

// If more than half of all messages are late by the generator, no percentile is valid and the
// run is INVALID.
func TestARunThatIsMostlyOwnLagIsInvalid(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		if i%3 != 0 {
			ms[i].own = 5e6
		}
	}
	v := verdictOf(newTestbed(ms).run(t), Inputs{})
	if r := find(v, "self-inflicted"); v.Status != result.Invalid || r == nil || r.Percentile != "50" {
		t.Errorf("%s: %+v", v, v.Reasons)
	}
}

// If the generator delays one in 150 messages, and they are most of those beyond p99, p99 is
// invalid; with one in 500, p99.9 is. The percentiles below stay valid.
func TestATailOfOwnLagIsInvalidFromItsPercentile(t *testing.T) {
	for every, want := range map[int]struct {
		verdict string
		from    result.Percentile
	}{150: {"VALID to p95", "99"}, 500: {"VALID to p99", "99.9"}} {
		ms := healthyMessages()
		for i := range ms {
			if i%every == every/2 {
				ms[i].own = 5e6
			}
		}
		s := Summarise(newTestbed(ms).run(t), Inputs{})
		l := s.Verdict.Limit(result.DeliveryResponse)
		if s.Verdict.String() != want.verdict || l == nil || l.InvalidFrom != want.from || !strings.Contains(l.InvalidWhy, "own lag") {
			t.Errorf("one in %d: %s, %+v: %+v", every, s.Verdict, l, s.Verdict.Reasons)
		}
	}
}

// Unresolved messages are at or above p99 too: if they are most of the tail, the tail is not the
// generator's.
func TestATailOfUnresolvedMessagesIsNotSelfInflicted(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		ms[i].missing = i%50 == 7 // 400 of 20,000, given up after 5 s
	}
	stall(ms, 2_500e6, 7e9, func(m *msg, d int64) { // p99 ≥ 5 s; 20 messages of more than that
		if d > 6_990e6 {
			m.own += d
		}
	})
	if r := find(verdictOf(newTestbed(ms).run(t), Inputs{}), "self-inflicted"); r != nil {
		t.Errorf("%+v", r)
	}
}

// Own lag that is a large share of a small latency is suspect, not invalid.
func TestOwnLagIsSuspectByPercentile(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		ms[i].own = 30_000
	}
	v := verdictOf(newTestbed(ms).run(t), Inputs{})
	r := find(v, "own-lag")
	if v.Status != result.Suspect || r == nil || r.Percentile != "50" || r.Metric != result.DeliveryResponse {
		t.Errorf("verdict %s: %+v", v.Status, v.Reasons)
	}
	for _, r := range v.Reasons {
		if r.Percentile == "99.9" {
			t.Errorf("the broker's tail is suspect: %+v", r)
		}
	}
	for i := range ms { // the largest part of each latency, but only microseconds
		ms[i].own, ms[i].service = 600_000, 50_000
	}
	if v := verdictOf(newTestbed(ms).run(t), Inputs{}); v.Status != result.Suspect {
		t.Errorf("a tail of microseconds: %s, %+v", v.Status, v.Reasons)
	}
}

func TestSendingLateOverAll(t *testing.T) {
	b := newTestbed(healthyMessages())
	for _, i := range b.intervals[:seconds] {
		i.v.Counters.Sent -= 20 // one in a hundred, made up for after the window
		i.v.Counters.Unknown -= 20
	}
	last := &b.intervals[seconds].v.Counters
	last.Sent += 20 * seconds
	last.Unknown += 20 * seconds
	v := verdictOf(b.run(t), Inputs{})
	if r := find(v, "rate"); v.String() != "VALID to p95" || r == nil || r.Status != result.Suspect || !strings.Contains(r.Text, "99.00 % of the 20,000 messages due") {
		t.Errorf("verdict %s: %+v", v.Status, v.Reasons)
	}
	b.intervals[2].share(result.LagBlocked).add(1e9)
	if v := verdictOf(b.run(t), Inputs{}); v.Status != result.Valid || find(v, "blocked") == nil {
		t.Errorf("blocked: %s: %+v", v.Status, v.Reasons)
	}
}

// assessed returns a verdict without the note that the testbed's ten intervals are
// too few for a steady state.
func assessed(v result.Verdict) result.Verdict {
	v.Reasons = slices.DeleteFunc(v.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonSteadyNotAssessed })
	return v
}

func TestTheWorstFindingDecides(t *testing.T) {
	b := newTestbed(healthyMessages())
	b.header.SameHost = true
	b.intervals[1].v.Vitals[result.VitalHostSwapIn] = 1
	b.intervals[1].v.Vitals[result.VitalHostSuspended] = 1
	v := assessed(verdictOf(b.run(t), Inputs{}))
	if v.Status != result.Invalid || len(v.Reasons) != 3 {
		t.Errorf("%s: %+v", v.Status, v.Reasons)
	}
}

// An empty run, as of a file that ends after its header, has a verdict and causes no
// panic.
func TestAnEmptyRunIsJudged(t *testing.T) {
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}}
	s := Summarise(run, InputsOf(run))
	if find(s.Verdict, "cut-short") == nil || len(s.Histograms) != 0 {
		t.Errorf("%+v", s)
	}
}

// An unpaced run is suspect if consumers still receive messages of the warm-up in the window, 1 %
// of the window's or more.
func TestFlatOutBesideItsWarmUp(t *testing.T) {
	for left, want := range map[int64]result.Status{0: result.Valid, 9: result.Valid, 10: result.Suspect} {
		b := newTestbed(healthyMessages())
		b.header.Mode = result.ModeFlatOut
		v := verdictOf(b.run(t), Inputs{Throughput: &result.Throughput{Received: 1000, WarmUp: left}})
		if v.Status != want {
			t.Errorf("%d of the warm-up: %+v", left, v)
		}
	}
	for want, x := range map[result.Status]result.Throughput{result.Suspect: {WarmUp: 1}, result.Valid: {Messages: 1000, WarmUp: 9}} {
		b := newTestbed(healthyMessages())
		b.header.Mode = result.ModeFlatOut
		if v := verdictOf(b.run(t), Inputs{Throughput: &x}); v.Status != want {
			t.Errorf("nothing of the window was received, %+v: %+v", x, v)
		}
	}
}

// Text joins all parts of a reason. A reason that lowers the verdict says what to do, by the
// table of codes if the gate does not.
func TestReasonsHaveParts(t *testing.T) {
	for _, tt := range []struct {
		reason    result.Reason
		text, try string
	}{
		{result.Reason{Status: result.Valid, Code: result.ReasonSwap, Found: "a"}, "a", ""},
		{result.Reason{Status: result.Suspect, Code: result.ReasonSwap, Found: "a"}, "a; free memory, or disable swap", "free memory, or disable swap"},
		{result.Reason{Status: result.Suspect, Code: result.ReasonSwap, Found: "a", Means: "b", Try: "c"}, "a; b: c", "c"},
		{result.Reason{Status: result.Suspect, Code: "of a later version", Found: "a", Means: "b"}, "a; b", ""},
	} {
		if r := worded(tt.reason); r.Text != tt.text || r.Try != tt.try {
			t.Errorf("%+v: %q, %q", tt.reason, r.Text, r.Try)
		}
	}
	old := result.Reason{Text: "what was found; what to do"}
	if old.What() != old.Text {
		t.Errorf("of an earlier version: %q", old.What())
	}
}
