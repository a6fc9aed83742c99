package scenario

import "time"

// From where on a load has a probe beside it by default: with several
// connections, or at a high rate, a wait may be in the generator or in one of its
// connections and look like the broker's.
const (
	probeConnections = 2
	probeRate        = 10_000 // messages a second
	// probeWindow is the shortest window that a probe has enough messages in.
	probeWindow = time.Second
)

// Probed reports whether the normalised scenario asks for a probe, at a load of
// rate messages a second on average. By default it does for schedules and closed
// loops; flat out, where each message waits in a queue of the load's own, it must
// be asked for.
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
