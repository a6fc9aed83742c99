package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sixnines/driver"
	"sixnines/semantics"
)

// checkSemantics provisions topologies that change how a driver sends and consumes. Every
// check also checks that all semantics are stated, see [rig.provision].
func checkSemantics(ctx context.Context, h *Harness) error {
	var errs []error
	grouped, _ := h.shareable()
	for _, t := range []driver.Topology{topics("t0"), {Topics: []string{"t0"}, Slow: true}, grouped} {
		for _, batch := range []bool{false, true} {
			errs = append(errs, withBatch(ctx, h, t, batch, func(*rig) error { return nil }))
		}
	}
	return errors.Join(errs...)
}

// provision provisions t, and checks that the session states all semantics that every broker
// has: programs compare them, and "not known" is a statement too.
func (r *rig) provision(ctx context.Context, t driver.Topology) error {
	s, err := r.session.Provision(ctx, t)
	if err != nil {
		return fmt.Errorf("provision: %w", err)
	}
	r.semantics = s
	var empty []string
	for name, value := range map[string]string{
		"Durability": s.Durability, "Replication": s.Replication, "Acknowledgment": s.Acknowledgment,
		"Ordering": s.Ordering, "Delivery": s.Delivery, "Batching": s.Batching,
		"Consumption": s.Consumption, "Transport": s.Transport,
	} {
		if value == "" {
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 {
		slices.Sort(empty)
		err = fmt.Errorf("the semantics say nothing of %v", empty)
	}
	if wrong := s.Levels.Validate(); wrong != nil {
		err = errors.Join(err, fmt.Errorf("the semantics' levels: %w", wrong))
	}
	switch c := s.Client; c.Kind {
	case semantics.Direct:
	case semantics.Library:
		if c.Name == "" || c.Version == "" {
			err = errors.Join(err, fmt.Errorf("the semantics' client library is %q of version %q", c.Name, c.Version))
		}
	default:
		err = errors.Join(err, fmt.Errorf("the semantics' client is %q, neither direct nor a library", c.Kind))
	}
	if s.Server.Product == "" && s.Server.Protocol == "" {
		err = errors.Join(err, errors.New("the semantics say neither which product the server is nor which protocol is spoken with it"))
	}
	if refusals := []driver.Refusals{"", driver.RefusalsAnswered, driver.RefusalsReported, driver.RefusalsSilent}; !slices.Contains(refusals, s.Refusals) {
		err = errors.Join(err, fmt.Errorf("the semantics say %q of refusals", s.Refusals))
	}
	if kind := r.h.can().Ack; (kind == driver.AckKindNone) != (s.Acknowledgment == "none") {
		err = errors.Join(err, fmt.Errorf("the semantics call the acknowledgement %q, the capabilities %q", s.Acknowledgment, kind))
	}
	if err != nil {
		err = errors.Join(err, r.session.Deprovision(ctx))
	}
	return err
}
