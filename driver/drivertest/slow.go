package drivertest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sixnines/driver"
)

// checkSlow blocks one consumer in its Deliver. Everything else on the same connections
// must continue: other consumers get their messages, and producers get their
// acknowledgements, including those of messages for the slow consumer.
func checkSlow(ctx context.Context, h *Harness) error {
	return holdUp(ctx, h, nil)
}

// checkSlowKeepsConnection blocks a consumer for longer than client or broker tolerate
// a silent connection.
func checkSlowKeepsConnection(ctx context.Context, h *Harness) error {
	patient := *h
	patient.Target = *h.Impatient
	return holdUp(ctx, &patient, func(r *rig) error {
		waiting, cancel := context.WithTimeout(ctx, 3*h.Silence)
		defer cancel()
		if r.events.has(waiting, driver.Disconnected) == nil {
			return errors.New("a connection was lost while a Deliver took long")
		}
		return nil
	})
}

// holdUp blocks consumer 0 while others work, and calls more, if it is not nil, before
// it releases consumer 0.
func holdUp(ctx context.Context, h *Harness, more func(r *rig) error) error {
	const n = 200
	t := driver.Topology{Topics: []string{"t0", "t1", "t2"}, Producers: 3, Consumers: 3, Slow: true}
	return with(ctx, h, t, func(r *rig) error {
		entered, over := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(over) })
		defer release()
		var first sync.Once
		var boxes []*inbox
		for id, topic := range t.Topics {
			b := newInbox()
			if id == 0 {
				b.during = func(letter) {
					first.Do(func() {
						close(entered)
						select {
						case <-over:
						case <-ctx.Done():
						}
					})
				}
			}
			boxes = append(boxes, b)
			// Only the last consumer declares that it is not slow.
			spec := driver.ConsumerSpec{ID: id, Topics: []string{topic}, Slow: id < 2}
			if _, err := r.session.Consumer(ctx, spec, b.deliver); err != nil {
				return fmt.Errorf("consumer of %q: %w", topic, err)
			}
		}
		l := newLedger()
		var producers []driver.Producer
		for id, topic := range t.Topics {
			p, err := r.session.Producer(ctx, driver.ProducerSpec{ID: id, Topic: topic, Size: h.size()}, l)
			if err != nil {
				return fmt.Errorf("producer of %q: %w", topic, err)
			}
			producers = append(producers, p)
		}
		if err := sendMany(l, producers[0], 0, 0, 1, h.size()); err != nil {
			return err
		}
		select {
		case <-entered:
		case <-ctx.Done():
			return errors.New("the first message was not delivered")
		}
		for id, p := range producers {
			if err := sendMany(l, p, uint32(id), 1, n, h.size()); err != nil {
				return err
			}
		}
		beside, cancel := context.WithTimeout(ctx, h.patience())
		defer cancel()
		for id := 1; id < len(boxes); id++ {
			if err := boxes[id].filled(beside, n); err != nil {
				return fmt.Errorf("while another consumer's Deliver takes long: %w", err)
			}
		}
		if err := l.settled(beside); err != nil {
			return fmt.Errorf("while a Deliver takes long: %w", err)
		}
		if more != nil {
			if err := more(r); err != nil {
				return err
			}
		}
		release()
		return errors.Join(boxes[0].filled(ctx, 1+n), l.kept())
	})
}
