package model

import (
	"fmt"
	"slices"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/scenario"
)

// Moments are the instants of a load that the method does not fix to the nanosecond, as they
// were in a run: ns from the start of the load's window, except Interrupted. Tests also check
// that they are possible.
type Moments struct {
	Interrupted int64     // when the window was interrupted, from the start of the run's window; 0: it was not
	Connected   int64     // when consumers that come late connected; 0: they did not
	Stopped     int64     // when the load stopped; 0: at the end of the wait after the window
	Closed      int64     // when the closing of clients began; 0: at the end of the wait after the window
	Turn        int       // offset of the next member in each group when the window begins
	Shut        int       // bit c: consumer c gets no message at the very instant at which the broker pauses
	Sends       [][]int64 // by stream: when its messages were handed to the client; used for sends after a time limit
	Takes       int       // bit c: consumer c gets messages that come at the very instant at which it is closed
}

// stalls returns the action during which the whole broker does nothing; nil: no such action.
func stalls(s *scenario.Scenario) *scenario.Act {
	all := s.Acts()
	i := slices.IndexFunc(all, func(a scenario.Act) bool { return a.Kind == scenario.ActionStall })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// grace is the time from an interruption to the end of the window, ns.
const grace = 20_000_000

// Predict predicts the run of a normalised scenario, load by load. moments are those of each
// load; nil: no interruption, and clients are closed without delay. It returns an error if the
// driver is not mem, or if its options are invalid or not supported by the model.
func Predict(s *scenario.Scenario, moments []Moments) ([]*Outcome, error) {
	if s.Target.Driver != "mem" {
		return nil, fmt.Errorf("the model knows the driver mem, not %s", s.Target.Driver)
	}
	of := &world{}
	for i, part := range s.Parts() {
		o := mem.DefaultOptions()
		if err := driver.DecodeOptions(part.Scenario.Target.Options, &o); err != nil {
			return nil, err
		}
		var at Moments
		if i < len(moments) {
			at = moments[i]
		}
		p, err := newPlay(of, part, &o, at)
		if err != nil {
			return nil, err
		}
		of.plays = append(of.plays, p)
		if p.end < never {
			of.end = max(of.end, p.from+p.end)
		}
	}
	if a := stalls(s); a != nil {
		of.ice = frost{int64(a.At.After), int64(a.At.After + a.For)}
	}
	if err := of.run(); err != nil {
		return nil, err
	}
	var all []*Outcome
	closed, waited := of.close()
	for i, part := range s.Parts() {
		p := of.plays[i]
		out := p.account(closed-p.from, waited)
		out.Workload = part.Name
		out.judge(p, part.Scenario.Objectives)
		if len(part.Scenario.Acts()) > 0 && len(out.Statuses) > 0 { // what an action explains does not lower a verdict
			out.Statuses = append(out.Statuses, "VALID", "SUSPECT")
		}
		all = append(all, out)
	}
	return all, nil
}
