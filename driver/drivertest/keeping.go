package drivertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
)

// session opens a session of the run, provisions t and calls f. Afterwards it
// deprovisions and closes the session.
func session(ctx context.Context, h *Harness, run string, t driver.Topology, f func(r *rig) error) error {
	r, err := openRig(ctx, h, run, false)
	if err != nil {
		return err
	}
	if err := r.provision(ctx, t); err != nil {
		return errors.Join(err, r.close())
	}
	if err := f(r); err != nil {
		r.session.Deprovision(ctx)
		r.close()
		return err
	}
	err = r.session.Deprovision(ctx)
	if err != nil {
		err = fmt.Errorf("deprovision: %w", err)
	}
	return errors.Join(err, r.close())
}

// shareable returns a topology of one topic, with a group if the driver has groups.
func (h *Harness) shareable() (t driver.Topology, group string) {
	t = driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1, MaxSize: 1 << 10}
	if h.can().Groups {
		group = "g0"
		t.Groups = []string{group}
	}
	return t, group
}

// acknowledging returns a consumer of the topic that acknowledges each message, if the
// driver supports that.
func (h *Harness) acknowledging(group string) driver.ConsumerSpec {
	spec := driver.ConsumerSpec{Topics: []string{"t0"}, Group: group}
	if h.can().ConsumerAck {
		spec.Ack.Mode = driver.AckEach
	}
	return spec
}

// checkKept fills a topic without consumers and keeps it; the run's next sessions consume its
// messages. A group must not get messages again that it has consumed.
func checkKept(ctx context.Context, h *Harness) error {
	const n = 40
	if err := late(ctx, h, n); errors.Is(err, driver.ErrUnsupported) {
		return inapplicable(err.Error())
	} else if err != nil {
		return fmt.Errorf("consumers that come late: %w", err)
	}
	run := newRun()
	t, group := h.shareable()
	t.Keep = true
	filling := t
	filling.Producers, filling.Consumers = 1, 0
	if err := session(ctx, h, run, filling, func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		return errors.Join(sendMany(l, p, 0, 0, n, h.size()), l.settled(ctx), p.Close(ctx))
	}); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	t.Existing = true
	alone := t
	alone.Producers, alone.Groups = 0, nil
	came := false
	if err := session(ctx, h, run, alone, func(r *rig) error {
		got := newInbox()
		if _, err := r.consumer(ctx, 1, "", got, "t0"); err != nil {
			return err
		}
		came = true
		if err := got.filled(ctx, n); err != nil {
			return err
		}
		// Another session reads from the beginning while this session is still open.
		return session(ctx, h, run, alone, func(r *rig) error {
			again := newInbox()
			if _, err := r.consumer(ctx, 1, "", again, "t0"); err != nil {
				return fmt.Errorf("beside another session: %w", err)
			}
			return again.filled(ctx, n)
		})
	}); err != nil && (came || group == "" || !errors.Is(err, driver.ErrUnsupported)) { // it is allowed that only groups have messages
		return fmt.Errorf("a consumer on its own of what was kept: %w", err)
	}
	// A session drains the topic, fills it again and keeps it.
	err := session(ctx, h, run, t, func(r *rig) error {
		got, l := newInbox(), newLedger()
		c, err := r.session.Consumer(ctx, h.acknowledging(group), got.deliver)
		if err != nil {
			return err
		}
		if err := errors.Join(got.filled(ctx, n), c.Close(ctx)); err != nil {
			return err
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		return errors.Join(sendMany(l, p, 1, 0, n, h.size()), l.settled(ctx), p.Close(ctx))
	})
	left, taken := n, group != ""
	switch {
	case taken && errors.Is(err, driver.ErrUnsupported):
		taken = false // with these options groups keep no position; the next session gets all
	case err != nil:
		return fmt.Errorf("drain what was kept, and keep it: %w", err)
	case !taken:
		left = 2 * n // a consumer without a group begins with the oldest message
	}
	t.Keep = false
	if err := session(ctx, h, run, t, func(r *rig) error {
		got, l := newInbox(), newLedger()
		again := false
		got.during = func(who letter) { again = again || taken && who.producer == 0 }
		c, err := r.session.Consumer(ctx, h.acknowledging(group), got.deliver)
		if err != nil {
			return err
		}
		if err := got.filled(ctx, left); err != nil {
			return err
		}
		// Messages sent now come after the kept ones.
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := errors.Join(sendMany(l, p, 2, 0, n, h.size()), l.settled(ctx), got.filled(ctx, left+n), p.Close(ctx), c.Close(ctx)); err != nil {
			return err
		}
		if again {
			return fmt.Errorf("group %q got again what it had taken before", group)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("drain what was kept: %w", err)
	}
	if h.Leftovers != nil {
		if err := h.gone(ctx, run); err != nil {
			return fmt.Errorf("after a session that was not to keep it: %w", err)
		}
	}
	never, err := openRig(ctx, h, newRun(), false)
	if err != nil {
		return err
	}
	if _, err = never.session.Provision(ctx, t); !errors.Is(err, driver.ErrNoTopic) {
		err = fmt.Errorf("what no run has left was asked for: %v, which wraps no ErrNoTopic", err)
	} else {
		err = nil
	}
	return errors.Join(err, never.close())
}

// late sends before any consumer connects.
func late(ctx context.Context, h *Harness, n int) error {
	t, group := h.shareable()
	t.Late, t.Consumers = true, 2
	return session(ctx, h, newRun(), t, func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := errors.Join(sendMany(l, p, 0, 0, n, h.size()), l.settled(ctx)); err != nil {
			return err
		}
		names := []string{group}
		if group != "" && h.lateAlone(ctx) {
			names = append(names, "")
		}
		for id, name := range names {
			got := newInbox()
			if _, err := r.consumer(ctx, id, name, got, "t0"); err != nil {
				return err
			}
			if err := got.filled(ctx, n); err != nil {
				return fmt.Errorf("group %q: %w", name, err)
			}
		}
		return nil
	})
}

// lateAlone reports whether consumers without a group may connect late; if not, Provision
// refuses them.
func (h *Harness) lateAlone(ctx context.Context) bool {
	t, _ := h.shareable()
	t.Late, t.Groups = true, nil
	err := session(ctx, h, newRun(), t, func(*rig) error { return nil })
	return !errors.Is(err, driver.ErrUnsupported)
}

// checkDepth checks that the depth is the number of messages sent while none is consumed, and
// 0 when all are consumed: for a group, if the driver has groups, and for a consumer without
// a group.
func checkDepth(ctx context.Context, h *Harness) error {
	t, group := h.shareable()
	err := depthFor(ctx, h, t, group)
	if err != nil || group == "" {
		return err
	}
	t.Groups = nil
	var no inapplicable
	if err := depthFor(ctx, h, t, ""); err != nil && !errors.As(err, &no) {
		return fmt.Errorf("of a consumer on its own: %w", err)
	}
	return nil
}

func depthFor(ctx context.Context, h *Harness, t driver.Topology, group string) error {
	const n = 50
	spec := h.acknowledging(group)
	return session(ctx, h, newRun(), t, func(r *rig) error {
		teller, ok := r.session.(driver.DepthTeller)
		if !ok {
			return inapplicable("sessions are no DepthTeller")
		}
		got, l := newInbox(), newLedger()
		inside, hold := make(chan struct{}, n+1), make(chan struct{})
		got.during = func(letter) { inside <- struct{}{}; <-hold }
		take := sync.OnceFunc(func() { close(hold) })
		defer take()
		consume := func() error {
			_, err := r.session.Consumer(ctx, spec, got.deliver)
			return err
		}
		// If the depth is unknown before the consumer connects, it connects first and is blocked.
		_, err := teller.Depth(ctx, "t0", spec)
		early := err != nil
		if errors.Is(err, driver.ErrUnsupported) {
			return inapplicable(err.Error())
		}
		if early {
			if err := consume(); err != nil {
				return err
			}
		}
		told, err := r.deep(ctx, teller, spec, 0)
		if err != nil {
			return err
		}
		if early && !told.Unacknowledged && h.can().Groups {
			return inapplicable("a queue of the consumer's own hands out at once what is not told then")
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := errors.Join(sendMany(l, p, 0, 0, n, h.size()), l.settled(ctx)); err != nil {
			return err
		}
		if told, err = r.deep(ctx, teller, spec, n); err != nil {
			return err
		}
		come := make(chan error, 1) // a driver may deliver before Consumer returns
		if early {
			come <- nil
		} else {
			go func() {
				err := consume()
				if err != nil {
					inside <- struct{}{} // the consumer failed, and will receive nothing
				}
				come <- err
			}()
		}
		select {
		case <-inside: // the broker has handed out at least one
		case <-ctx.Done():
			return fmt.Errorf("no message was delivered: %w", ctx.Err())
		}
		if told.Unacknowledged {
			if _, err := r.deep(ctx, teller, spec, n); err != nil {
				return fmt.Errorf("while none is acknowledged: %w", err)
			}
		}
		take()
		if err := errors.Join(<-come, got.filled(ctx, n)); err != nil {
			return err
		}
		_, err = r.deep(ctx, teller, spec, 0)
		return err
	})
}

// deepLook is how often a broker is asked again that does not yet say what it should.
const deepLook = 20 * time.Millisecond

// deep waits until the depth is n, and returns the last depth.
func (r *rig) deep(ctx context.Context, teller driver.DepthTeller, spec driver.ConsumerSpec, n int64) (d driver.Depth, err error) {
	err = r.until(ctx, func() (err error) {
		if d, err = teller.Depth(ctx, spec.Topics[0], spec); err != nil || d.Messages != n {
			return fmt.Errorf("the depth is given as %d (%v); it is %d", d.Messages, err, n)
		}
		return nil
	})
	return d, err
}
