package drivertest

import (
	"context"
	"errors"
	"fmt"

	"sixnines/driver"
)

// checkRequestReply keeps many requests outstanding at several requesters; each must get
// exactly the replies to its own requests. Replies are as large as requests.
func checkRequestReply(ctx context.Context, h *Harness) error {
	const requesters, n = 3, 300
	t := driver.Topology{Topics: []string{"t0"}, Producers: requesters, Consumers: 2}
	return with(ctx, h, t, func(r *rig) error {
		rr := r.session.(driver.RequestReplier)
		var answered ledgerOfReplies
		if _, err := rr.Responder(ctx, driver.ConsumerSpec{Topics: t.Topics}, answered.echo); err != nil {
			return fmt.Errorf("responder: %w", err)
		}
		l := newLedger()
		var boxes []*inbox
		var producers []driver.Producer
		for id := range requesters {
			b := newInbox()
			boxes = append(boxes, b)
			p, err := rr.Requester(ctx, driver.ProducerSpec{ID: id, Conn: id % 2, Topic: "t0", Size: h.size()}, l, b.deliver)
			if err != nil {
				return fmt.Errorf("requester: %w", err)
			}
			producers = append(producers, p)
		}
		for id, p := range producers {
			if err := sendMany(l, p, uint32(id), 0, n, h.size()); err != nil {
				return err
			}
		}
		errs := []error{l.settled(ctx)}
		for id, b := range boxes {
			errs = append(errs, b.filled(ctx, n))
			b.mu.Lock()
			for _, got := range b.got {
				if got.producer != uint32(id) {
					errs = append(errs, fmt.Errorf("requester %d got a reply to requester %d", id, got.producer))
					break
				}
			}
			b.mu.Unlock()
		}
		return errors.Join(append(errs, answered.kept(-1))...)
	})
}

// ledgerOfReplies is a responder that checks the requests and returns them.
type ledgerOfReplies struct{ inbox }

func (a *ledgerOfReplies) echo(m driver.Message) []byte {
	if _, err := readLetter(m.Payload); err != nil {
		a.update(func() { a.faults = append(a.faults, fmt.Errorf("request: %w", err)) })
	}
	return m.Payload
}

// checkNoReply answers every second request. When the last reply has come, the unanswered
// requests must not have got any reply.
func checkNoReply(ctx context.Context, h *Harness) error {
	const n = 100
	return with(ctx, h, topics("t0"), func(r *rig) error {
		rr := r.session.(driver.RequestReplier)
		if _, err := rr.Responder(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) []byte {
			if l, err := readLetter(m.Payload); err == nil && l.seq%2 == 0 {
				return nil
			}
			return m.Payload
		}); err != nil {
			return fmt.Errorf("responder: %w", err)
		}
		l, got := newLedger(), newInbox()
		p, err := rr.Requester(ctx, driver.ProducerSpec{Topic: "t0", Size: h.size()}, l, got.deliver)
		if err != nil {
			return fmt.Errorf("requester: %w", err)
		}
		if err := sendMany(l, p, 0, 0, n, h.size()); err != nil {
			return err
		}
		if err := got.has(ctx, letter{0, n - 1}); err != nil {
			return err
		}
		return got.filled(ctx, n/2)
	})
}
