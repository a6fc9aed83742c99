package scenario

import "time"

// The thresholds from which a load has a probe beside it by default. With several
// connections, or at a high rate, a message may wait in the generator or in one of its
// connections, which looks like a delay of the broker.
const (
	probeConnections = 2
	probeRate        = 10_000 // messages a second
	// probeWindow is the shortest window in which a probe has enough messages.
	probeWindow = time.Second
)

// Probed reports whether the normalised scenario has a probe, at an average load of rate
// messages a second. With [ProbeAuto] only schedules and closed loops have one; an unpaced
// load, whose messages wait in the load's own queue, needs [ProbeOn].
func (s *Scenario) Probed(rate float64) bool {
	if s.Record.Probe != ProbeAuto {
		return s.Record.Probe == ProbeOn
	}
	w := &s.Workload
	if w.Pattern == Consume || w.Loop == Open && w.Rate.IsMax() || s.Phases.Duration > 0 && s.Phases.Duration < probeWindow {
		return false
	}
	return rate >= probeRate || w.Connections.Producers >= probeConnections || w.Connections.Consumers >= probeConnections
}
