package fleetrun

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"sixnines/driver"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/window"
	"sixnines/internal/fleet/wire"
	"sixnines/result"
	"sixnines/scenario"
)

// Acts carries out what of a run's plan happens to more than the clients: once, by the coordinator, at instants of the common
// schedule. Its methods are safe for concurrent use.
type Acts struct {
	life     *window.Life
	executor *actions.Executor
	scenario *scenario.Scenario
	acts     []scenario.Act
	steps    []*actions.Step
	start    int64 // the common one, clock.Now

	mu     sync.Mutex
	events []result.Event // since the start of the run's window
}

// NewActs returns the acts of a scenario's run, which doer does; nil: it has none.
func NewActs(s *scenario.Scenario, doer func(*scenario.Act) (actions.Doer, error)) (*Acts, error) {
	a := &Acts{life: window.NewLife(nil), scenario: s}
	a.executor = actions.New(a.life)
	a.acts = slices.DeleteFunc(s.Acts(), func(x scenario.Act) bool { return !x.Properties().Run })
	for i := range a.acts {
		x := &a.acts[i]
		step := actions.NewStep(x, i+1, func(e result.Event) { a.note(x, e) })
		var err error
		if step.Doer, err = doer(x); err != nil {
			return nil, fmt.Errorf("the action %s: %w", step.Text, err)
		}
		a.steps = append(a.steps, step)
	}
	if a.steps == nil {
		return nil, nil
	}
	return a, nil
}

// note keeps an event of an act for each workload, with the act's number in that workload's plan.
func (a *Acts) note(x *scenario.Act, e result.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.scenario.Parts() {
		acted := *e.Action
		acted.Number = 1 + slices.IndexFunc(p.Scenario.Acts(), func(y scenario.Act) bool { return y.Key() == x.Key() && y.Kind == x.Kind })
		of := e
		of.Workload, of.Action = p.Name, &acted
		a.events = append(a.events, of.Since(a.start))
	}
}

// Start has them done from a common start on, CLOCK_MONOTONIC.
func (a *Acts) Start(at int64) {
	a.start = at
	for i, s := range a.steps {
		s.At = at + int64(a.acts[i].At.After)
	}
	a.executor.Start(a.steps)
}

// Interrupt undoes those that last. None is done from then on.
func (a *Acts) Interrupt() { a.executor.Interrupt() }

// End undoes those that last, and returns what happened. It may be called again.
func (a *Acts) End() []result.Event {
	a.executor.End()
	a.life.StopAll()
	a.executor.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.events)
}

// led names what an agent made, of which the broker has a leader.
type led wire.Destination

// Destinations implements [driver.DestinationNamer].
func (l led) Destinations() []driver.Destination {
	return []driver.Destination{{Name: l.Name, Partition: l.Partition}}
}

// leading notes what an agent makes of which the broker has a leader.
type leading struct {
	mu     sync.Mutex
	namers []driver.DestinationNamer // in the order of the workloads
}

// provisioned is an engine.Config.Provisioned.
func (l *leading) provisioned(_ string, d driver.DestinationNamer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.namers = append(l.namers, d)
}

// first returns the first destination of the first workload that has any; nil: none has.
func (l *leading) first() *wire.Destination {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.namers {
		if all := n.Destinations(); len(all) > 0 {
			return &wire.Destination{Name: all[0].Name, Partition: all[0].Partition}
		}
	}
	return nil
}

// elsewhere returns what does, on an agent, the acts that its coordinator carries out: nothing. The engine does the others.
func elsewhere(a *scenario.Act) (actions.Doer, error) {
	if !a.Properties().Run {
		return nil, nil
	}
	return absent{}, nil
}

// absent is an act that does not happen here.
type absent struct{}

// Do implements [actions.Doer].
func (absent) Do(ctx context.Context, _ int64) (int64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}
