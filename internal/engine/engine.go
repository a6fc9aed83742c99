// Package engine runs a scenario against a broker: it provisions, connects,
// warms up, measures, drains and closes the accounts. It writes its records while
// the run goes on.
//
// The load is issued on a schedule that the broker cannot slow down. Whatever
// the system under test does, a message is timed from the instant it was due.
package engine

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/plan"
	"sixnines/result"
	"sixnines/scenario"
)

// Run executes c. ctx's end ends the measured window early: the run drains,
// writes and returns a result marked as interrupted. The returned error wraps
// ErrUsage for what the user must change, an error class of package driver, or
// ErrAborted, with which there may be a result. Run may be called concurrently; but a process should run
// one scenario at a time, since two disturb each other.
func Run(ctx context.Context, c Config) (*result.Run, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	return r.execute(ctx)
}

// Check refuses, with an error that wraps ErrUsage, what the driver cannot do
// with the normalised scenario s. Run does it before anything is connected.
func Check(s *scenario.Scenario, e driver.Entry) error {
	for _, p := range s.Parts() {
		if err := check(p.Scenario, e); err != nil {
			return ofWorkload(p.Name, err)
		}
	}
	return nil
}

// check is Check of a scenario with one workload.
func check(s *scenario.Scenario, e driver.Entry) error {
	w, can := &s.Workload, e.With(s.Target.Options)
	refuse := func(format string, a ...any) error {
		return fmt.Errorf("%w: %w", plan.ErrUsage, fmt.Errorf(format, a...))
	}
	switch {
	case w.Pattern == scenario.RequestReply && !can.RequestReply:
		return refuse("driver %s has no request–reply; use pattern roundtrip, where every producer receives its own messages", e.Name)
	case w.Groups > 0 && !can.Groups:
		return refuse("driver %s has no consumer groups; leave workload.groups out", e.Name)
	case w.Groups == 0 && w.Consumers > w.Topics && w.Pattern != scenario.RequestReply && !can.FanOut:
		return refuse("driver %s gives a message to one consumer only; set workload.groups to 1, or as many topics as consumers", e.Name)
	case !w.Keys.IsZero() && !can.Keys:
		return refuse("messages of driver %s have no keys, as records of Kafka have; leave workload.keys out, or use driver kafka", e.Name)
	case !w.Headers.IsZero() && !can.Headers:
		return refuse("messages of driver %s carry no headers; leave workload.headers out, or use a driver of which sixnines drivers show says that it can", e.Name)
	case s.ComesLate() && !can.Keeps:
		return refuse("driver %s keeps nothing for consumers that are not connected, so those that come late would miss what was sent before; leave workload.consumer.from (--consumers-from) or the action start out, or choose a driver of which sixnines drivers show says that it can keep messages", e.Name)
	case (w.Retains() || w.Existing != "") && !can.Keeps:
		return refuse("driver %s keeps no messages for consumers that come later; leave workload.lifetime and workload.existing out, or choose a driver of which sixnines drivers show says that it can keep messages", e.Name)
	case s.Phases.ReadBack > 0 && !can.ReadsBack && !s.CanLose():
		return refuse("the broker of driver %s keeps nothing that could be read back; leave phases.read_back out, or choose a driver of which sixnines drivers show says that it reads back what is kept", e.Name)
	case can.OwnsDialing && len(scenario.OfKind(s.Acts(), scenario.ActionDisconnect)) > 0:
		return refuse("driver %s makes its connections itself, so nobody else can cut them; leave the action disconnect out, or choose a driver or client that connects through sixnines", e.Name)
	case s.Target.TLS != nil && !can.TLS:
		return refuse("driver %s has no TLS; leave target.tls out", e.Name)
	case w.Consumer.Ack != "" && w.Consumer.Ack != "none" && !can.ConsumerAck && w.Pattern != scenario.Publish:
		return refuse("consumers of driver %s acknowledge nothing to the broker; leave workload.consumer.ack out", e.Name)
	case w.Loop == scenario.Closed && w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone:
		return refuse("a closed loop waits for an answer, and a publish through driver %s with these options has none; use pattern deliver, roundtrip or request-reply", e.Name)
	case w.InFlight.Each > 0 && w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone:
		return refuse("workload.in_flight.each has a producer wait for answers, and a publish through driver %s with these options has none; use pattern deliver, roundtrip or request-reply", e.Name)
	}
	if _, err := payload.Load(w.Payload); err != nil {
		return refuse("%w", err)
	}
	return nil
}
