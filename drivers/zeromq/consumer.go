//go:build zeromq && cgo && !windows

package zeromq

import (
	"bytes"
	"context"
	"fmt"

	"sixnines/driver"
)

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if err := s.checkConsumer(spec); err != nil {
		return nil, err
	}
	var keys []string
	if s.driver.pipeline {
		for _, topic := range spec.Topics {
			keys = append(keys, meetPushers(topic))
		}
		return consumerOf(s.receive(ctx, pulls, keys, nil, func(_ *receiver, _ int, message []byte) {
			deliver(driver.Message{Payload: message})
		}))
	}
	if spec.Group != "" {
		return nil, fmt.Errorf("zeromq: group %q: %w: every subscriber gets every message; driver zeromq-pipeline shares them", spec.Group, driver.ErrUnsupported)
	}
	for _, topic := range spec.Topics {
		keys = append(keys, prefix(topic))
	}
	return consumerOf(s.receive(ctx, subscribes, []string{meetPublishers}, keys, func(_ *receiver, _ int, message []byte) {
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
