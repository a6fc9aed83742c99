// Package probe is what runs beside a load: one producer and one consumer at a
// low rate, in a process and on a topic of their own, which measure the same
// broker at the same time. What the load waits for and the probe does not is in
// the load's own connections, queues or client.
//
// The process is this program again ([Serve]), and measures by package
// internal/engine/prober. It gets its scenario, in which passwords
// may be, through its standard input, and ends when that is closed, so that it
// deletes its topic even if its starter was killed. It reports what it measured
// on its standard output, an interval at a time ([Report]).
package probe

import (
	"maps"
	"time"

	"sixnines/driver"
	"sixnines/scenario"
)

// Command makes the program sixnines a probe: it is no command for users.
const Command = "__probe"

const (
	// Rate is the probe's, messages a second: low enough to cost nothing and to
	// wait for no message of its own, high enough for a p99 from ten seconds. It
	// divides none of the rates that scenarios usually have, so that the probe's messages
	// do not always meet the load's in the same way.
	Rate = 47
	// inFlight is how many of its messages may be unanswered: some seconds'.
	inFlight = 256
	// inFlightBytes bounds the memory that they take.
	inFlightBytes = 16 * scenario.MiB
	// drain is how long the probe waits for its last messages.
	drain = time.Second
	// spare is how much longer than planned the load may last, by a long
	// warm-up or a drain.
	spare = 10 * time.Minute
	// counted is the longest window that a number of messages should end.
	counted = time.Hour
)

// The lengths of the probe's intervals. One that crosses an end of the
// load's window is not counted, so that in a short window they are short.
const (
	shortest  = 500 * time.Millisecond // each costs the probe half a millisecond
	longest   = time.Second
	intervals = 20 // of a window, where that is between the two
)

// Report is what the probe writes: that it began, and then what each of its
// intervals had.
type Report struct {
	// Domain names the clock that instants are of; in the first report only, which
	// has nothing else.
	Domain string `json:"domain,omitempty"`
	// From and To are the interval's ends, CLOCK_MONOTONIC ns.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// CPU is what the process has used since it started, user and system.
	CPU time.Duration `json:"cpu,omitempty"`
	// Sent counts messages sent in the interval, Resolved those that were
	// delivered, or acknowledged where nothing is delivered.
	Sent     int64 `json:"sent,omitempty"`
	Resolved int64 `json:"resolved,omitempty"`
	// Values are the service times in ns that ended in the interval.
	Values []int64 `json:"values,omitempty"`
}

// Scenario returns what a probe runs beside a load of the normalised scenario s
// at the broker at url: with the options of s and those that only the load's
// caller knew.
func Scenario(s *scenario.Scenario, e driver.Entry, url string, options map[string]any) *scenario.Scenario {
	w := &s.Workload
	p := &scenario.Scenario{
		Seed:   s.Seed,
		Target: scenario.Target{Driver: e.Name, URL: url, Prefix: s.Target.Prefix, TLS: s.Target.TLS},
		Workload: scenario.Workload{Pattern: w.Pattern, Rate: scenario.PerSecond(Rate), Size: w.Size, Payload: w.Payload, Groups: min(w.Groups, 1),
			Consumer: scenario.Consumer{Ack: w.Consumer.Ack}, InFlight: scenario.InFlight{Messages: inFlight, Bytes: max(inFlightBytes, w.Size.Largest())}},
		Record: scenario.Record{Digits: s.Record.Digits, Probe: scenario.ProbeOff},
	}
	p.Target.Options = maps.Clone(options)
	if p.Target.Options == nil {
		p.Target.Options = map[string]any{}
	}
	maps.Copy(p.Target.Options, s.Target.Options)
	for name, value := range e.ProbeOptions {
		if _, given := p.Target.Options[name]; !given {
			continue
		}
		if delete(p.Target.Options, name); value != nil {
			p.Target.Options[name] = value
		}
	}
	window := s.Phases.Longest()
	p.Record.Interval = min(max(window/intervals, shortest), longest)
	if w.Messages > 0 {
		window, p.Record.Interval = counted, shortest
	}
	p.Phases = scenario.Phases{NoWarmup: true, Drain: drain,
		Duration: min(s.Phases.Warmup+window+s.Phases.Drain+spare, scenario.MaxDuration)}
	p.Normalise()
	return p
}
