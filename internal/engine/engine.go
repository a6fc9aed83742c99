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
	if err := e.Naming.CheckGiven(e.Name, s.Target.Topics(), s.Target.Groups()); err != nil {
		return refuse("%w", err)
	}
	if err := e.Naming.CheckPrefix(e.Name, s.Target.Prefix); err != nil {
		return refuse("target.prefix: %w", err)
	}
	switch {
	case w.Pattern == scenario.RequestReply && !can.RequestReply:
		return refuse("driver %s has no request–reply; use pattern roundtrip, where every producer receives its own messages", e.Name)
	case w.Groups > 0 && !can.Groups:
		return refuse("driver %s has no consumer groups; leave workload.groups out", e.Name)
	case w.Groups == 0 && w.Consumers > w.Topics && w.Pattern != scenario.RequestReply && !can.FanOut:
		return refuse("driver %s delivers each message to one consumer only; set workload.groups to 1, or use as many topics as consumers", e.Name)
	case !w.Keys.IsZero() && !can.Keys:
		return refuse("messages of driver %s have no keys; leave workload.keys out, or use a driver such as kafka", e.Name)
	case !w.Headers.IsZero() && !can.Headers:
		return refuse("messages of driver %s carry no headers; leave workload.headers out, or choose a driver that can (see sixnines drivers show)", e.Name)
	case s.ComesLate() && !can.Keeps:
		return refuse("driver %s keeps no messages for consumers that are not connected, so late consumers would miss everything sent before; leave workload.consumer.from (--consumers-from) or the action start out, or choose a driver that keeps messages (see sixnines drivers show)", e.Name)
	case (w.Retains() || w.Existing != "") && !can.Keeps:
		return refuse("driver %s keeps no messages for later consumers; leave workload.lifetime and workload.existing out, or choose a driver that keeps messages (see sixnines drivers show)", e.Name)
	case s.Phases.ReadBack > 0 && !can.ReadsBack && !s.CanLose():
		return refuse("the broker of driver %s keeps no messages that could be read back; leave phases.read_back out, or choose a driver that can read back (see sixnines drivers show)", e.Name)
	case can.OwnsDialing && len(scenario.OfKind(s.Acts(), scenario.ActionDisconnect)) > 0:
		return refuse("driver %s opens its connections itself, so sixnines cannot cut them; leave the action disconnect out, or choose a driver or client whose connections sixnines opens", e.Name)
	case w.Connections.Churn() && can.Brokerless:
		return refuse("driver %s has no broker to which connections are opened; leave workload.connections.rate (--connection-rate) out", e.Name)
	case s.Target.TLS != nil && !can.TLS:
		return refuse("driver %s has no TLS; leave target.tls out", e.Name)
	case w.Consumer.Ack != "" && w.Consumer.Ack != "none" && !can.ConsumerAck && w.Pattern != scenario.Publish:
		return refuse("consumers of driver %s send no acknowledgements to the broker; leave workload.consumer.ack out", e.Name)
	case w.Loop == scenario.Closed && w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone:
		return refuse("a closed loop waits for answers, but publishes of driver %s with these options get none; use pattern deliver, roundtrip or request-reply", e.Name)
	case w.InFlight.Each > 0 && w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone:
		return refuse("workload.in_flight.each makes producers wait for answers, but publishes of driver %s with these options get none; use pattern deliver, roundtrip or request-reply", e.Name)
	}
	if _, err := payload.Load(w.Payload); err != nil {
		return refuse("%w", err)
	}
	switch {
	case !s.Fleet.Probed():
	case can.Brokerless:
		return refuse("fleet.probe: driver %s has no broker that the load and the probe could share; leave it out", e.Name)
	case w.Pattern == scenario.Publish && can.Ack == driver.AckKindNone:
		return refuse("fleet.probe: publishes of driver %s with these options get no answer that the probe could time; leave it out, or use pattern deliver", e.Name)
	}
	if s.Fleet.Divided() {
		return plan.CheckRoles(s, e.Name, can)
	}
	return nil
}
