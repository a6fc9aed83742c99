package model

import (
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/scenario"
)

// Predict says what a run of a normalised scenario comes to, load by load. interrupted is
// when somebody ends the window, ns from its start; 0: nobody does.
func Predict(s *scenario.Scenario, interrupted int64) ([]*Outcome, error) {
	if s.Target.Driver != "mem" {
		return nil, fmt.Errorf("the model knows the driver mem, not %s", s.Target.Driver)
	}
	var all []*Outcome
	for _, part := range s.Parts() {
		o := mem.DefaultOptions()
		if err := driver.DecodeOptions(part.Scenario.Target.Options, &o); err != nil {
			return nil, err
		}
		p, err := newPlay(part.Scenario, &part.Scenario.Workload, &o, interrupted)
		if err != nil {
			return nil, err
		}
		p.run()
		out := p.account()
		out.Workload = part.Name
		out.judge(p, part.Scenario.Objectives)
		all = append(all, out)
	}
	return all, nil
}
