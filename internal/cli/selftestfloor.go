package cli

import (
	"math"
	"time"

	"sixnines/internal/schedule"
	"sixnines/internal/selftest"
	"sixnines/result"
	"sixnines/scenario"
)

// noiseFloor returns this machine's last measured noise floor for a load like the
// scenario's, without a broker; nil if it is not known. It calls say with remarks on the
// floor, and with the reason if a stored floor is not suitable.
//
// A load without a constant rate (closed loop, unpaced, bursts, ramps) has no floor. The
// drivers for the tool's self-tests have none either: messages that never cross a socket
// have no such floor, and the null broker is itself the floor.
func (env *Env) noiseFloor(s *scenario.Scenario, say func(string)) *result.Floor {
	w := &s.Workload
	even := w.Arrivals.Kind == scenario.Constant || w.Arrivals.Kind == scenario.Poisson
	if len(s.Workloads) > 0 || w.Loop == scenario.Closed || w.Rate.IsMax() || !even || s.Target.Driver == "mem" || s.Target.Driver == "null" {
		return nil
	}
	h, err := env.home()
	if err != nil {
		return nil // nothing can have been kept
	}
	file := h.Path(selftest.FloorFile)
	found, err := selftest.FloorStore{Path: file}.Find(selftest.ThisMachine(), string(w.Pattern), w.Rate.Float(), int64(math.Round(schedule.MeanSize(w.Size))), time.Now())
	switch {
	case err != nil:
		say(oneLine(err.Error()))
	case found.Damaged > 0:
		say(plural(found.Damaged, "damaged line") + " in " + file + "; the next sixnines selftest removes them")
	}
	if found.Note != "" {
		say(found.Note)
	}
	return found.Floor
}

// generatorLimit returns the highest rate at which this machine's generator was in time
// under a load with the scenario's size and connections; nil if it is not known. A load
// without a schedule, or one that never crosses a socket, has no such limit.
func (env *Env) generatorLimit(s *scenario.Scenario, say func(string)) *result.GeneratorLimit {
	w := &s.Workload
	if len(s.Workloads) > 0 || w.Loop == scenario.Closed || w.Rate.IsMax() || s.Target.Driver == "mem" {
		return nil
	}
	h, err := env.home()
	if err != nil {
		return nil // nothing can have been kept
	}
	k, err := selftest.LimitStore{Path: h.Path(selftest.LimitFile)}.Find(selftest.ThisMachine(), time.Now())
	if err != nil {
		say(oneLine(err.Error()))
	}
	if k == nil {
		return nil
	}
	return k.For(int64(math.Round(schedule.MeanSize(w.Size))), w.Connections.Producers)
}
