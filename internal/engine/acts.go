package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// doer returns what does an act to the load; nil: the engine cannot do it.
func (ld *load) doer(a *scenario.Act) actions.Doer {
	switch a.Kind {
	case scenario.ActionPause:
		return ld.receiving.AddPause(a.For, ld.accounts.Hold)
	case scenario.ActionStart:
		return join{ld}
	case scenario.ActionDisconnect:
		return cut{ld, a.Subject}
	}
	return nil
}

// planActs finds what does each act of the load: the caller is asked first, see [Config.Doer]. Errors
// wrap plan.ErrUsage.
func (ld *load) planActs(others func(*scenario.Act) (actions.Doer, error)) error {
	for i := range ld.Acts {
		a := &ld.Acts[i]
		if p := a.Properties(); p.Scheduled || p.Run {
			continue
		}
		s, err := stepOf(a, i+1, ld.Event, others, ld.doer)
		if err != nil {
			return err
		}
		if _, is := s.Doer.(join); is {
			s.Always, s.Told = true, ld.comes()
		}
		ld.steps = append(ld.steps, s)
	}
	if ld.Flow.Consumes && ld.Part.Name != "" { // see ConnectConsumers
		ld.steps = append(ld.steps, &actions.Step{Always: true, Doer: join{ld}, Event: ld.Event, Told: ld.comes()})
	}
	return nil
}

// stepOf returns the step of an act. Those who can do it are asked in order, and return nil for what they
// cannot do. Errors wrap plan.ErrUsage.
func stepOf(a *scenario.Act, number int, event func(result.Event), others func(*scenario.Act) (actions.Doer, error), own func(*scenario.Act) actions.Doer) (*actions.Step, error) {
	s := actions.NewStep(a, number, event)
	var err error
	if others != nil {
		s.Doer, err = others(a)
	}
	if s.Doer == nil && err == nil {
		s.Doer = own(a)
	}
	if s.Doer == nil && err == nil {
		err = errors.New("this program cannot do that")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the action %s: %w", plan.ErrUsage, s.Text, err)
	}
	return s, nil
}

// comes is the event of consumers that connect late.
func (ld *load) comes() result.Event {
	return result.Event{Kind: result.EventConsumers, Detail: "late consumers connect", Count: int64(len(ld.Layout.Consumers))}
}

// startActs has all acts done when they are due. The window is fixed.
func (r *run) startActs() {
	all := slices.Clone(r.steps)
	for _, s := range all {
		s.At = r.Start.Load() + int64(r.runActs[s.Number-1].At.After)
	}
	for _, ld := range r.loads {
		for _, s := range ld.steps {
			if s.Number == 0 {
				s.At = ld.Start.Load()
			} else if a := &ld.Acts[s.Number-1]; a.At.Filled {
				s.Ready = ld.untilFilled
			} else {
				s.At = ld.Start.Load() + int64(a.At.After)
			}
			all = append(all, s)
		}
	}
	r.acts.Start(all)
}

// untilFilled waits until all producers have sent what they were to send and have been
// answered; false: the run is over.
func (ld *load) untilFilled() bool {
	for !ld.sending.IsPast() || !ld.accounts.Answered(ld.accounts.Counts()) {
		if !ld.SleepUntil(clock.Now() + int64(2*time.Millisecond)) {
			return false
		}
		ld.Quiesce(window.OrderLoad)
	}
	return true
}

// join connects the consumers that come late. If one cannot connect, its messages stay
// undelivered, which the accounts show; the event says why, and the run is INVALID.
type join struct{ *load }

// Do has the consumers connect, one after the other, and returns when it began, CLOCK_MONOTONIC. It runs
// on the act's goroutine, and is the only one that adds to Clients meanwhile.
func (j join) Do(ctx context.Context, _ int64) (happened int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	in := j.receiving
	n := len(in.Late.Consumers)
	in.Late.Began.Store(true)
	happened = j.accounts.Hold()
	for i, c := range in.Late.Consumers {
		client, err := j.session.Main.Consumer(ctx, c.Spec, c.Deliver)
		if err != nil {
			if !j.Stopped.Load() { // else the run did not wait for them
				j.Event(result.Event{At: clock.Now(), Kind: result.EventAbsent, Detail: fmt.Sprintf("consumer %d of %d could not connect late: %v", i, n, err), Count: int64(n - i)})
			}
			return happened, nil // it happened, if in part
		}
		in.Clients = append(in.Clients, client) // others read it when the acts have ended
	}
	return happened, nil
}

// cut cuts connections of the load.
type cut struct {
	*load
	whose scenario.Subject
}

// Do cuts them, and returns when, CLOCK_MONOTONIC. It fails if no connection is open, and joins the errors of cutting.
func (c cut) Do(context.Context, int64) (happened int64, err error) {
	open := c.connections()
	if len(open) == 0 {
		return 0, fmt.Errorf("no connection of %s is open, so nothing was cut: earlier connections are lost and not yet open again", c.whose)
	}
	happened = clock.Now()
	for _, conn := range open {
		err = errors.Join(err, conn.Cut())
	}
	return happened, err
}

// connections returns those to cut that are open.
func (c cut) connections() (open []*transport.Conn) {
	dialers := c.session.Dialers
	role := driver.Role("")
	switch {
	case c.whose == scenario.Everybody:
	case c.whose == scenario.Consumers && c.Flow.Replies:
		dialers = dialers[1:2] // the responders' session
	case c.whose == scenario.Consumers:
		role = driver.RoleConsumer
	default:
		role = driver.RoleProducer
	}
	for _, d := range dialers {
		for _, conn := range d.Open() {
			if (role == "" || conn.Role == role) && !conn.Closed() {
				open = append(open, conn)
			}
		}
	}
	return open
}
