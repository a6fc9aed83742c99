package scenario

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// TestImpossible holds the scenarios that Validate refuses: each value by itself
// could be.
func TestImpossible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"version from the future", "version: 2\n", "x.yaml:1:10: format version 2 is newer than this program, which reads version 1 (use a newer"},
		{"TLS key without certificate", "target: {url: x, tls: {key: k.pem}}\n", "x.yaml:1:29: a TLS key without its certificate (give target.tls.cert)"},
		{"TLS certificate without key", "target: {url: x, tls: {cert: c.pem}}\n", "a TLS certificate without its key (give target.tls.key)"},
		{"TLS to nowhere", "target: {tls: {}}\n", "x.yaml:1:15: TLS without the address of a broker"},
		{"closed loop with a rate", "workload:\n  loop: closed\n  rate: 10/s\n", "x.yaml:3:9: a closed loop has no rate (leave out workload.rate, or choose loop: open)"},
		{"closed loop flat out", "workload: {loop: closed, rate: max}\n", "x.yaml:1:32: rate max is for an open loop"},
		{"closed loop with arrivals", "workload: {loop: closed, arrivals: poisson}\n", "a closed loop has no arrivals"},
		{"think without closed", "workload: {think: 1ms}\n", "think time needs a closed loop (choose loop: closed, or leave it out)"},
		{"outstanding without closed", "workload: {outstanding: 8}\n", "outstanding needs a closed loop"},
		{"messages of a paced loop", "workload: {messages: 100}\n", "a scheduled load ends after a duration, not after a number of messages"},
		{"messages and duration", "workload: {rate: max, messages: 100}\nphases: {duration: 1s}\n", "x.yaml:1:33: both a duration and a number of messages would end the window"},
		{"flat out with a schedule", "workload: {rate: max, arrivals: poisson}\n", "rate max has no schedule, so no poisson arrivals (give a rate, or leave out workload.arrivals)"},
		{"consumers of publish", "workload: {pattern: publish, consumers: 2}\n", "the pattern publish has no consumers"},
		{"delivery to nobody", "workload: {consumers: 0}\n", "x.yaml:1:23: the pattern deliver without consumers (give at least one, or choose pattern: publish)"},
		{"consumer settings of publish", "workload: {pattern: publish, consumer: {work: 1ms}}\n", "x.yaml:1:40: the pattern publish has no consumers to set"},
		{"consumer connections of publish", "workload: {pattern: publish, connections: {consumers: 2}}\n", "2 connections for 0 consumers"},
		{"round trip of strangers", "workload: {pattern: roundtrip, producers: 3, consumers: 2}\n", "a round trip with 3 producers and 2 consumers (every producer consumes its own topic: leave out workload.consumers)"},
		{"round trip of one topic", "workload: {pattern: roundtrip, producers: 3, topics: 1}\n", "a round trip with 3 producers and 1 topics"},
		{"round trip in groups", "workload: {pattern: roundtrip, groups: 1}\n", "a round trip has no groups"},
		{"more groups than consumers", "workload: {groups: 3, consumers: 2}\n", "3 groups for 2 consumers (a group has at least one consumer)"},
		{"streams without number", "workload: {producers: 5000, topics: 4999}\n", "5000 producers on 4999 topics are 24995000 streams; at most 1048576"},
		{"subscriptions without number", "workload: {topics: 2000, consumers: 2000, groups: 1000}\n", "1000 groups on 2000 topics are 2000000 subscriptions; at most 1048576"},
		{"more connections than producers", "workload: {connections: {producers: 2}}\n", "2 connections for 1 producers"},
		{"more connections than consumers", "workload: {connections: {consumers: 2}}\n", "2 connections for 1 consumers"},
		{"a message beyond the limit", "workload: {size: 1MiB, in_flight: {bytes: 1KiB}}\n", "x.yaml:1:43: a message of 1MiB does not fit into 1KiB in flight"},
		{"outstanding beyond the limit", "workload: {loop: closed, outstanding: 8, in_flight: {messages: 7}}\n", "8 outstanding of 1 producers are more than 7 in flight"},
		{"outstanding beyond the bytes", "workload: {loop: closed, outstanding: 800, size: 1MiB}\n", "800 outstanding of 1 producers, of 1MiB each, are more than 256MiB in flight"},
		{"connections held and none opened", "workload: {connections: {hold: 1s}}\n", "x.yaml:1:32: connections that are held open, and none that are opened (give workload.connections.rate (--connection-rate), such as 50/s)"},
		{"what connections are for, and none opened", "workload: {connections: {as: producer}}\n", "what connections are for, and none that are opened"},
		{"connections without a schedule", "workload: {connections: {rate: max}}\n", "connections without a schedule (give a number a second, such as 50/s)"},
		{"too many connections at a time", "workload: {connections: {rate: 10k/s}}\n", "100000 connections would be open at a time (an address has ports for fewer: keep rate × hold at 65536 or less)"},
		{"connections that subscribe to what is another's", "target: {driver: nats, url: 'nats://b', topic: t}\nworkload: {connections: {rate: 1/s}}\n", "connections that subscribe, and only topics that exist"},
		{"an objective of connections that no one opens", "workload: {}\nobjectives: [connection.login p50 < 1s]\n", "no connections come and go"},
		{"an objective of too few connections", "workload: {connections: {rate: 1/s}}\nobjectives: [connection.login p99 < 1s]\n", "1/s for 10s are 10 connections, and p99 needs"},
		{"each in a closed loop", "workload: {loop: closed, in_flight: {each: 1}}\n", "x.yaml:1:44: a limit for each producer needs an open loop (leave out workload.in_flight.each: in a closed loop that is workload.outstanding; or leave out workload.loop)"},
		{"each and all", "workload: {in_flight: {each: 1, messages: 8}}\n", "x.yaml:1:30: both a limit for each producer and one for all of them (leave out workload.in_flight.each or workload.in_flight.messages)"},
		{"each on shared connections", "workload: {producers: 4, connections: {producers: 2}, in_flight: {each: 1}}\n", "x.yaml:1:51: 2 connections for 4 producers, none of which is to wait for another's answer (leave out workload.connections.producers"},
		{"each of too many producers", "workload: {producers: 70000, in_flight: {each: 1}}\n", "65536 connections for 70000 producers"},
		{"each beyond the bytes", "workload: {producers: 100, size: 1MiB, in_flight: {each: 3}}\n", "3 outstanding of 100 producers, of 1MiB each, are more than 256MiB in flight (raise workload.in_flight.bytes or lower workload.in_flight.each)"},
		{"steps and another duration", "workload: {arrivals: step:1/s@10s}\nphases: {duration: 20s}\n", "x.yaml:2:20: the steps last 10s, but the window lasts 20s (leave out phases.duration: the steps give it)"},
		{"steps longer than a week", "workload: {arrivals: \"step:1/s@100h,1/s@100h\"}\n", "x.yaml:1:22: the steps last longer than 168h (a window has at most 168h)"},
		{"too short for a message", "workload: {rate: 1/min}\n", "a window of 10s is too short for a single message at 1/min (make it at least 1m0.001s, or raise the rate)"},
		{"a ramp too short for a message", "workload: {arrivals: ramp:1/min..2/min}\n", "too short for a single message at 1/min to 2/min"},
		{"a rate above the limit", "workload: {rate: 10000001/s}\n", "the rate of 10000001/s is above 10000000/s (schedules go up to 10M/s; rate: max sends as fast as possible)"},
		{"a step above the limit", "workload: {arrivals: step:11M/s@1s}\n", "the rate of a step of 11000000/s is above 10000000/s"},
		{"a ramp above the limit", "workload: {arrivals: ramp:1/s..11M/s}\n", "the rate to which to go of 11000000/s is above 10000000/s"},
		{"a ramp to the maximum", "workload: {arrivals: ramp:1/s..max}\n", "the rate to which to go cannot be max (give a rate; max is for workload.rate)"},
		{"a sine above the limit", "workload: {rate: 6M/s, arrivals: sine:100%@1s}\n", "x.yaml:1:18: the sine rises to 1.2e+07/s, above 10000000/s"},
		{"bursts above the limit", "workload: {arrivals: burst:1000000@1ms}\n", "the mean rate of the bursts of 1000000/ms is above 10000000/s"},
		{"an amplitude of zero", "workload: {arrivals: {kind: sine, amplitude: -0.5, period: 1s}}\n", "an amplitude of -0.5 (a fraction of the rate, above 0 and at most 1)"},
		{"arrivals without kind", "workload: {arrivals: {period: 1s}}\n", "x.yaml:1:22: arrivals without a kind (give workload.arrivals.kind)"},
		{"step without steps", "workload: {arrivals: {kind: step}}\n", "step arrivals without steps (give workload.arrivals.steps, or write such as step:1000/s@10s,2000/s@10s)"},
		{"ramp without an end", "workload: {arrivals: {kind: ramp, from: 1/s}}\n", "ramp arrivals without to"},
		{"sine without period", "workload: {arrivals: {kind: sine, amplitude: 0.1}}\n", "sine arrivals without period"},
		{"burst without count", "workload: {arrivals: {kind: burst, period: 1s}}\n", "burst arrivals without count"},
		{"trace without file", "workload: {arrivals: {kind: trace}}\n", "trace arrivals without file (give workload.arrivals.file, or write such as trace:FILE)"},
		{"a field of another kind", "workload: {arrivals: {kind: poisson, period: 1s}}\n", "x.yaml:1:46: period does not belong to poisson arrivals (leave it out, or change kind)"},
		{"random bursts", "workload: {arrivals: {kind: burst, count: 1, period: 1s, random: true}}\n", "burst arrivals cannot be made random"},
		{"a rate beside steps", "workload: {rate: 1/s, arrivals: step:1/s@10s}\n", "x.yaml:1:18: step arrivals give their own rate (leave out workload.rate)"},
		{"a step without rate", "workload: {arrivals: {kind: step, steps: [{for: 10s}]}}\n", "x.yaml:1:43: a step without its rate"},
		{"a step without length", "workload: {arrivals: {kind: step, steps: [{rate: 1/s}]}}\n", "a step without its length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustParse(t, c.text)
			err := s.Validate()
			wantError(t, err, c.want)
			var all Errors
			errors.As(err, &all)
			for _, e := range all {
				if e.Hint == "" {
					t.Errorf("no hint: %v", e)
				}
			}
		})
	}
}

func TestPossible(t *testing.T) {
	for _, text := range []string{
		"{}",
		"workload: {rate: max, arrivals: constant}",
		"workload: {rate: max, messages: 1000}",
		"workload: {loop: closed, outstanding: 10, think: 1ms}",
		"workload: {loop: closed, messages: 10}",
		"workload: {pattern: publish}",
		"workload: {pattern: publish, consumers: 0}",
		"workload: {pattern: roundtrip, producers: 700}",
		"workload: {pattern: request-reply, consumers: 3, groups: 1}",
		"workload: {producers: 700, topics: 700, consumers: 1000, rate: 700/s}",
		"workload: {rate: 10M/s}",
		"workload: {rate: 5M/s, arrivals: sine:100%@1s}",
		"workload:\n  arrivals: step:1000/s@10s,2000/s@10s\n",
		"workload: {arrivals: step:1000/s@10s}\nphases: {duration: 10s}",
		"workload: {arrivals: \"trace:x\"}",
		"workload: {arrivals: \"burst:1@1h\"}",
		"target: {url: x, tls: {}}",
	} {
		if err := mustParse(t, text).Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := new(Scenario).Validate(); err != nil {
		t.Errorf("the zero scenario: %v", err)
	}
}

func TestImpossibleInGo(t *testing.T) {
	for _, c := range []struct {
		s    Scenario
		want string
	}{
		{Scenario{Workload: Workload{Size: FixedSize(5)}}, "workload.size: 5B is too small for size (32B to 1GiB)"},
		{Scenario{Workload: Workload{Pattern: "fan"}}, "workload.pattern: \"fan\" is not allowed for pattern"},
		{Scenario{Workload: Workload{Producers: -1}}, "workload.producers: -1 is too small for producers"},
		{Scenario{Workload: Workload{Rate: Rate{5, 0}}}, "workload.rate: the rate counts over 0s (a rate counts over a time above 0 and at most 24h0m0s)"},
		{Scenario{Workload: Workload{Rate: Rate{5, 48 * time.Hour}}}, "workload.rate: the rate counts over 48h0m0s"},
		{Scenario{Phases: Phases{Warmup: -5}}, "phases.warmup: -5ns is too small for warmup (0s to 168h)"},
		{Scenario{Description: "\xff"}, "description: \"\\xff\" is not UTF-8"},
		{Scenario{Target: Target{Options: map[string]any{"a": []any{"\xff"}}}}, "target.options.a[0]: \"target.options.a[0]\" is not UTF-8"},
		{Scenario{Target: Target{Options: map[string]any{"a": math.NaN()}}}, "target.options.a: the number of target.options.a is not understood"},
		{Scenario{Workload: Workload{Think: 1}}, "workload.think: think time needs a closed loop"},
	} {
		if err := c.s.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	var s Scenario
	s.Normalise()
	w := &s.Workload
	check("version", s.Version, 1)
	check("seed", s.Seed, uint64(1))
	check("driver", s.Target.Driver, "nats")
	check("pattern", w.Pattern, Deliver)
	check("loop", w.Loop, Open)
	check("rate", w.Rate, PerSecond(1000))
	check("arrivals", w.Arrivals.Kind, Constant)
	check("size", w.Size, FixedSize(256*Byte))
	check("producers", w.Producers, 1)
	check("consumers", w.Consumers, 1)
	check("topics", w.Topics, 1)
	check("groups", w.Groups, 0)
	check("connections", w.Connections, Connections{Producers: 1, Consumers: 1})
	check("in flight", w.InFlight, InFlight{Bytes: 256 * MiB})
	check("timeout", w.Timeout, 10*time.Second)
	check("phases", s.Phases, Phases{Warmup: 2 * time.Second, Duration: 10 * time.Second, Drain: 10 * time.Second})
	check("record", s.Record, Record{100 * time.Millisecond, 3, false, ProbeAuto})

	s = Scenario{Workload: Workload{Pattern: RoundTrip, Producers: 700}, Phases: Phases{NoWarmup: true, Drain: time.Second}}
	s.Normalise()
	s.Normalise() // and again: nothing changes
	check("round trip's consumers", w.Consumers, 700)
	check("round trip's topics", w.Topics, 700)
	check("round trip's connections", w.Connections, Connections{Producers: 16, Consumers: 16})
	check("no warm-up", s.Phases.Warmup, time.Duration(0))
	check("timeout", w.Timeout, time.Second)

	s = *mustParse(t, "workload: {producers: 700, in_flight: {each: 1}}")
	s.Normalise()
	check("connections of producers that wait for their own answers", w.Connections, Connections{Producers: 700, Consumers: 1})
	check("limit over all of them", w.Limit(), 700)

	s = *mustParse(t, "workload: {pattern: publish}\nphases: {warmup: 0s}")
	s.Normalise()
	check("publish's consumers", w.Consumers, 0)
	check("publish's connections", w.Connections, Connections{Producers: 1})
	check("no warm-up", s.Phases.Warmup, time.Duration(0))

	s = *mustParse(t, "workload:\n  arrivals: step:10/s@10s,20/s@1m\n")
	s.Normalise()
	check("steps' duration", s.Phases.Duration, 70*time.Second)
	check("steps' rate", w.Rate, Rate{})

	s = *mustParse(t, "workload: {loop: closed, messages: 5}")
	s.Normalise()
	check("closed loop's rate", w.Rate, Rate{})
	check("closed loop's arrivals", w.Arrivals.Kind, ArrivalsKind(""))
	check("closed loop's outstanding", w.Outstanding, 1)
	check("duration of so many messages", s.Phases.Duration, time.Duration(0))
	check("interval of an unknown window", s.Record.Interval, time.Second)
	for window, want := range map[time.Duration]time.Duration{
		time.Millisecond: 5 * time.Millisecond, time.Second: 10 * time.Millisecond, 1555 * time.Millisecond: 15 * time.Millisecond,
		5 * time.Second: 50 * time.Millisecond, 10 * time.Second: 100 * time.Millisecond, 12 * time.Second: 120 * time.Millisecond,
		37123 * time.Millisecond: 370 * time.Millisecond, time.Minute: 600 * time.Millisecond, time.Hour: time.Second,
		10_000 * time.Second: time.Second, 24 * time.Hour: 9 * time.Second, MaxDuration: time.Minute,
	} {
		s := Scenario{Phases: Phases{Duration: window}}
		s.Normalise()
		check("interval of "+window.String(), s.Record.Interval, want)
		if err := s.Validate(); err != nil && window >= time.Second {
			t.Errorf("%v: %v", window, err)
		}
	}
}
