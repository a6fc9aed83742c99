package drivertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
)

// checkConsumerAck consumes with each mode of acknowledgement. If the broker can
// tell, it must have got all acknowledgements: all full batches while the consumer
// is open, and the rest when the consumer closes. In a group, the next consumer
// must not get any of these messages again.
func checkConsumerAck(ctx context.Context, h *Harness) error {
	const n = 100
	for _, ack := range []driver.ConsumerAck{{Mode: driver.AckEach}, {Mode: driver.AckEvery, Every: 7}} {
		t := driver.Topology{Topics: []string{"t0"}, Consumers: 2}
		spec := driver.ConsumerSpec{Topics: t.Topics, Ack: ack}
		if h.can().Groups {
			spec.Group = "g0"
			t.Groups = []string{spec.Group}
		}
		if err := with(ctx, h, t, func(r *rig) error { return acknowledge(ctx, r, spec, n) }); err != nil {
			return fmt.Errorf("with %+v: %w", ack, err)
		}
	}
	return nil
}

func acknowledge(ctx context.Context, r *rig, spec driver.ConsumerSpec, n int) error {
	got, l := newInbox(), newLedger()
	c, err := r.session.Consumer(ctx, spec, got.deliver)
	if err != nil {
		return err
	}
	p, err := r.producer(ctx, 0, "t0", r.h.size(), l)
	if err != nil {
		return err
	}
	if err := sendMany(l, p, 0, 0, n, r.h.size()); err != nil {
		return err
	}
	if err := errors.Join(l.settled(ctx), got.filled(ctx, n)); err != nil {
		return err
	}
	most := 0
	if spec.Ack.Mode == driver.AckEvery {
		most = n % spec.Ack.Every
	}
	if err := r.acknowledged(ctx, most); err != nil {
		return fmt.Errorf("after %d messages were delivered: %w", n, err)
	}
	if err := c.Close(ctx); err != nil {
		return fmt.Errorf("close the consumer: %w", err)
	}
	if err := r.acknowledged(ctx, 0); err != nil {
		return fmt.Errorf("after the consumer of %d messages was closed: %w", n, err)
	}
	if spec.Group == "" {
		return nil
	}
	return r.nextSeesOnlyNew(ctx, spec, p, l, uint64(n))
}

// acknowledged waits until the broker holds at most that many messages as
// delivered and not acknowledged, if it can tell.
func (r *rig) acknowledged(ctx context.Context, most int) error {
	if r.h.Unacked == nil {
		return nil
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	limit := time.After(r.h.patience())
	for {
		n, err := r.h.Unacked(r.run)
		if err != nil {
			return fmt.Errorf("ask how many messages of %s are not acknowledged: %w", r.run, err)
		}
		if n <= most {
			return nil
		}
		select {
		case <-look.C:
		case <-limit:
			return fmt.Errorf("the broker holds %d as not acknowledged, more than %d", n, most)
		case <-ctx.Done():
			return fmt.Errorf("the broker holds %d as not acknowledged, more than %d", n, most)
		}
	}
}

// nextSeesOnlyNew lets another consumer of the group follow the one that has
// closed, and sends messages from first on: they are all that it may get.
func (r *rig) nextSeesOnlyNew(ctx context.Context, spec driver.ConsumerSpec, p driver.Producer, l *ledger, first uint64) error {
	spec.ID, spec.Conn = 1, 1
	next := newInbox()
	if _, err := r.session.Consumer(ctx, spec, next.deliver); err != nil {
		return err
	}
	const fresh = 20 // enough for some in each part, if the broker splits topics
	if err := sendMany(l, p, 0, first, fresh, r.h.size()); err != nil {
		return err
	}
	for seq := first; seq < first+fresh; seq++ {
		if err := next.has(ctx, letter{0, seq}); err != nil {
			return fmt.Errorf("the next consumer of the group: %w", err)
		}
	}
	if err := l.settled(ctx); err != nil {
		return err
	}
	next.mu.Lock()
	defer next.mu.Unlock()
	old := 0
	for _, got := range next.got {
		if got.seq < first {
			old++
		}
	}
	if old > 0 {
		return fmt.Errorf("the next consumer of the group got %d of the %d messages again that the one before had consumed and closed", old, first)
	}
	return errors.Join(next.faults...)
}
