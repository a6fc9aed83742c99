package drivertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
)

// checkReconnect restarts the broker of an open session. The driver must report that the
// connection was lost and made again, and messages must flow again by themselves.
func checkReconnect(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		l, got := newLedger(), newInbox()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := sendMany(l, p, 0, 0, 10, h.size()); err != nil {
			return err
		}
		if err := got.has(ctx, letter{0, 9}); err != nil {
			return err
		}
		h.Restart()
		if err := r.events.has(ctx, driver.Disconnected); err != nil {
			return err
		}
		if err := r.events.has(ctx, driver.Reconnected); err != nil {
			return err
		}
		// The producer and the consumer reconnect one after the other, and messages
		// sent in between may be lost: send until one arrives.
		arrived := make(chan error, 1)
		go func() {
			arrived <- got.wait(ctx, func() bool { return len(got.got) > 10 }, func() string {
				return "no message arrives after the broker's restart"
			})
		}()
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		var last error
		for seq := uint64(10); ; seq++ {
			if last = l.send(p, tokenOf(0, seq), letter{0, seq}.write(h.size())); last == nil {
				last = flush(p)
			}
			select {
			case err := <-arrived:
				if err != nil && last != nil {
					return fmt.Errorf("%w; the last Send said %w", err, last)
				}
				return errors.Join(err, l.kept())
			case <-pace.C:
			}
		}
	})
}

// checkLeftovers looks at the broker before and after Deprovision. Deprovision must not
// remove anything of another run's session.
func checkLeftovers(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(other *rig) error {
		var run string
		t := driver.Topology{Topics: []string{"t0", "t1"}, Consumers: 2}
		if h.can().Groups {
			t.Groups = []string{"g0"}
		}
		if err := with(ctx, h, t, func(r *rig) error {
			run = r.run
			l, got := newLedger(), newInbox()
			if _, err := r.consumer(ctx, 0, "", got, t.Topics...); err != nil {
				return err
			}
			n, err := connectAndSend(ctx, r, l, t.Topics, 1, 10)
			if err != nil {
				return err
			}
			return errors.Join(l.settled(ctx), got.filled(ctx, n))
		}); err != nil {
			return err
		}
		if err := h.gone(ctx, run); err != nil {
			return err
		}
		l, got := newLedger(), newInbox()
		if _, err := other.consumer(ctx, 0, "", got, "t0"); err != nil {
			return fmt.Errorf("after another run's Deprovision: %w", err)
		}
		p, err := other.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := sendMany(l, p, 0, 0, 10, h.size()); err != nil {
			return err
		}
		return errors.Join(l.settled(ctx), got.filled(ctx, 10))
	})
}

// gone waits until the broker has nothing left of run: it may need a moment to notice
// that connections have closed.
func (h *Harness) gone(ctx context.Context, run string) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	limit := time.After(h.patience())
	for {
		left, err := h.Leftovers(run)
		if err != nil {
			return fmt.Errorf("list what is left of %s: %w", run, err)
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-limit:
			return fmt.Errorf("a Deprovision leaves %q", left)
		case <-ctx.Done():
			return fmt.Errorf("a Deprovision leaves %q", left)
		}
	}
}
