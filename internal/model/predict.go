package model

import (
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/scenario"
)

// Moments are those of a load that the method does not fix to the nanosecond, ns from the
// start of its window but for the first. What they can be is compared as well.
type Moments struct {
	Interrupted int64     // when somebody ended the window, from the start of the run's; 0: nobody did
	Connected   int64     // when consumers that come late connected; 0: they did not
	Stopped     int64     // when no more load was sent; 0: when the wait after the window was over
	Closed      int64     // when clients were told to leave; 0: when the wait after the window was over
	Turn        int       // whose turn it is in a group when the window begins: members leave in their order
	Shut        int       // bit c: nothing comes to consumer c at the very instant at which the broker pauses
	Sends       [][]int64 // by stream: when its messages were handed to the client; what is noticed a little late is taken from there
	Takes       int       // bit c: consumer c takes what comes at the very instant at which it is told to leave
}

// grace is how long after an interruption the window ends.
const grace = 20_000_000

// Predict says what a run of a normalised scenario comes to, load by load. moments has
// those of each load; nil: nobody interrupts, and clients are told to leave at once.
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
		all = append(all, out)
	}
	return all, nil
}
