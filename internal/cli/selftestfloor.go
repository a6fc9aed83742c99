package cli

import (
	"math"
	"time"

	"sixnines/internal/schedule"
	"sixnines/internal/selftest"
	"sixnines/result"
	"sixnines/scenario"
)

// noiseFloor returns what this machine was last found to do to a load like the
// scenario's without a broker, nil if that is not known. say is told what is to
// be known of it, and why one that is there does not serve.
//
// A load without a rate of its own – a closed loop, flat out, bursts, ramps –
// has none; nor have the drivers of the tool's own proofs: what never crosses a
// socket has no such floor, and the null broker is the floor.
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
		say(plural(found.Damaged, "damaged line") + " in " + file + "; the next sixnines selftest leaves them out")
	}
	if found.Note != "" {
		say(found.Note)
	}
	return found.Floor
}

// generatorLimit returns the highest rate at which this machine's generator was
// in time under a load of the scenario's size and connections, nil if that is not
// known. A load that is not sent by a schedule has no use for it, nor has one
// that never crosses a socket.
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
