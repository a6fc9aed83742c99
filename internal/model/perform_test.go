package model

import (
	"context"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/enginetest"
	"sixnines/result"
	"sixnines/scenario"
)

// act is an action of the run that does nothing by itself.
type act struct{}

func (act) Do(context.Context, int64) (int64, error) { return 0, nil }

func (act) Undo(context.Context) (int64, error) { return 0, nil }

func (act) Describe(e *result.Event) {
	if e.Action != nil {
		e.Action.Nodes = []int{0}
	}
}

// perform has a run carry out the actions of a scenario: those that stall do it to the broker, the others do nothing.
func perform(s *scenario.Scenario, l *enginetest.Load) {
	if a := stalls(s); a != nil {
		l.Actions = []enginetest.Action{{At: a.At.After, Do: (*mem.Broker).Freeze}, {At: a.At.After + a.For, Do: (*mem.Broker).Thaw}}
	}
	l.Doer = func(a *scenario.Act) (actions.Doer, error) {
		if a.Properties().Run || a.Kind == scenario.ActionDisconnect {
			return act{}, nil
		}
		return nil, nil
	}
	change := l.Change
	l.Change = func(e *driver.Entry) {
		e.Capabilities.OwnsDialing = false
		if change != nil {
			change(e)
		}
	}
}
