package engine

import (
	"slices"

	"sixnines/internal/engine/actions"
	"sixnines/result"
	"sixnines/scenario"
)

// planRunActs finds what does the acts of the run, which happen once, however many loads there are.
// Each load's plan has them too. Errors wrap plan.ErrUsage.
func (r *run) planRunActs() error {
	r.runActs = slices.DeleteFunc(r.scenario.Acts(), func(a scenario.Act) bool { return !a.Properties().Run })
	for i := range r.runActs {
		a := &r.runActs[i]
		s, err := stepOf(a, i+1, r.toEach(a), r.config.Doer, func(*scenario.Act) actions.Doer { return nil })
		if err != nil {
			return err
		}
		r.steps = append(r.steps, s)
	}
	return nil
}

// toEach returns what writes the events of a run's act: one for each load, with the act's number in that
// load's plan.
func (r *run) toEach(a *scenario.Act) func(result.Event) {
	numbers := make([]int, len(r.loads))
	for i, ld := range r.loads {
		numbers[i] = 1 + slices.IndexFunc(ld.Acts, func(b scenario.Act) bool { return b.Key() == a.Key() && b.Kind == a.Kind })
	}
	return func(e result.Event) {
		for i, ld := range r.loads {
			acted := *e.Action
			acted.Number = numbers[i]
			e.Action = &acted
			ld.Event(e)
		}
	}
}
