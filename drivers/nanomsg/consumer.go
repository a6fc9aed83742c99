package nanomsg

import (
	"bytes"
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if err := checkConsumer(spec); err != nil {
		return nil, err
	}
	if s.driver.pipeline {
		return consumerOf(s.receive(ctx, wish{role: pulls, keys: mesh.Pushed(spec.Topics...), slow: spec.Slow}, func(body []byte, _ func([]byte) error) {
			deliver(driver.Message{Payload: body})
		}))
	}
	if spec.Group != "" {
		return nil, fmt.Errorf("nanomsg: group %q: %w: every subscriber gets every message; driver nanomsg-pipeline shares them", spec.Group, driver.ErrUnsupported)
	}
	w := wish{role: subscribes, keys: mesh.Published(), slow: spec.Slow}
	wanted := map[string]bool{}
	for _, topic := range spec.Topics {
		w.prefixes = append(w.prefixes, mesh.Prefix(topic))
		wanted[topic] = true
	}
	return consumerOf(s.receive(ctx, w, func(body []byte, _ func([]byte) error) {
		// The protocol filters where messages arrive.
		if i := bytes.IndexByte(body, 0); i > 0 && wanted[string(body[:i])] {
			deliver(driver.Message{Payload: body[i+1:]})
		}
	}))
}

func checkConsumer(spec driver.ConsumerSpec) error {
	for _, topic := range spec.Topics {
		if err := checkTopic(topic); err != nil {
			return err
		}
	}
	if spec.Ack.Mode != driver.AckDefault && spec.Ack.Mode != driver.AckNone {
		return fmt.Errorf("nanomsg: %w: consumers acknowledge nothing", driver.ErrUnsupported)
	}
	return nil
}

// consumerOf makes no interface of no receiver.
func consumerOf(r *receiver, err error) (driver.Consumer, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
