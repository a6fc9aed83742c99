//go:build zeromq && cgo && !windows

package zeromq

import (
	"bytes"
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if err := s.checkConsumer(spec); err != nil {
		return nil, err
	}
	if s.driver.pipeline {
		return consumerOf(s.receive(ctx, pulls, mesh.Pushed(spec.Topics...), nil, func(_ *receiver, _ int, message []byte) {
			deliver(driver.Message{Payload: message})
		}))
	}
	if spec.Group != "" {
		return nil, fmt.Errorf("zeromq: group %q: %w: every subscriber gets every message; driver zeromq-pipeline shares them", spec.Group, driver.ErrUnsupported)
	}
	var subscriptions []string
	for _, topic := range spec.Topics {
		subscriptions = append(subscriptions, mesh.Prefix(topic))
	}
	return consumerOf(s.receive(ctx, subscribes, mesh.Published(), subscriptions, func(_ *receiver, _ int, message []byte) {
		// Always there, or the subscription would not have matched.
		i := bytes.IndexByte(message, 0)
		deliver(driver.Message{Payload: message[i+1:]})
	}))
}

func (s *session) checkConsumer(spec driver.ConsumerSpec) error {
	for _, topic := range spec.Topics {
		if err := checkTopic(topic); err != nil {
			return err
		}
	}
	if spec.Ack.Mode != driver.AckDefault && spec.Ack.Mode != driver.AckNone {
		return fmt.Errorf("zeromq: %w: consumers acknowledge nothing", driver.ErrUnsupported)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("receive")
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
