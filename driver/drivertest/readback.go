package drivertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
)

// checkReadBack sends messages that no consumer receives, and has another session read back
// what the broker keeps: each of them, twice, and what is left when a group has consumed them.
func checkReadBack(ctx context.Context, h *Harness) error {
	const n, many = 40, 1200 // many are more than a queue without consumers may keep
	t, group := h.shareable()
	t.Topics, t.ReadBack = []string{"t0", "t1"}, true
	if t.Late = h.can().Keeps; !t.Late {
		group = "" // which would get nothing that was sent before
	}
	err := readBackOf(ctx, h, t, group, n)
	if errors.Is(err, driver.ErrUnsupported) {
		return inapplicable(err.Error())
	}
	if err != nil {
		return err
	}
	t.Consumers, t.Groups, t.Late = 0, nil, false
	if err := readBackOf(ctx, h, t, "", many); err != nil && !errors.Is(err, driver.ErrUnsupported) {
		return fmt.Errorf("of a run without consumers: %w", err)
	}
	return nil
}

// readBackOf sends n messages to the first topic of t and none to the second.
func readBackOf(ctx context.Context, h *Harness, t driver.Topology, group string, n int) error {
	return session(ctx, h, newRun(), t, func(r *rig) error {
		reader, err := openRig(ctx, h, r.run, false)
		if err != nil {
			return err
		}
		defer reader.close()
		back, ok := reader.session.(driver.BackReader)
		if !ok {
			return errors.New("sessions are no BackReader, which the driver claims")
		}
		places, err := back.Places(t)
		if err != nil {
			return err
		}
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := errors.Join(sendMany(l, p, 0, 0, n, h.size()), l.settled(ctx), p.Close(ctx)); err != nil {
			return err
		}
		for range 2 { // reading removes nothing
			if err := readPlaces(ctx, back, places, n, false); err != nil {
				return err
			}
		}
		if group == "" {
			return nil
		}
		got := newInbox()
		c, err := r.session.Consumer(ctx, h.acknowledging(group), got.deliver)
		if err != nil {
			return err
		}
		if err := errors.Join(got.filled(ctx, n), c.Close(ctx)); err != nil {
			return err
		}
		// What a consumer has acknowledged before it closed may be removed a moment later.
		if err := r.until(ctx, func() error { return readPlaces(ctx, back, places, n, true) }); err != nil {
			return fmt.Errorf("after a group has consumed them: %w", err)
		}
		never, err := openRig(ctx, h, newRun(), false)
		if err != nil {
			return err
		}
		_, err = never.session.(driver.BackReader).Places(t)
		if err == nil {
			_, err = never.session.(driver.BackReader).ReadBack(ctx, places[0], func(driver.Kept) {})
		}
		if !errors.Is(err, driver.ErrNoTopic) {
			return errors.Join(fmt.Errorf("a place that no run has made was read back: %v, which wraps no ErrNoTopic", err), never.close())
		}
		return never.close()
	})
}

// readPlaces reads all places back and compares them with the n messages that were sent to the first
// topic, which a group has consumed or has not.
func readPlaces(ctx context.Context, back driver.BackReader, places []driver.Place, n int, consumed bool) error {
	covered := map[string]bool{}
	for _, p := range places {
		covered[p.Topic] = true
		want := 0
		if p.Topic == "t0" && (!consumed || p.Log) {
			want = n
		}
		got := newInbox()
		found, err := back.ReadBack(ctx, p, func(k driver.Kept) { got.deliver(driver.Message{Payload: k.Payload, Partition: k.Partition}) })
		if err != nil {
			return fmt.Errorf("read %+v back: %w", p, err)
		}
		if total := len(got.got); total != want || found.Messages != int64(total) {
			return fmt.Errorf("%+v has %d messages, %d were delivered, and the reading says %+v", p, want, total, found)
		}
		if err := got.filled(ctx, want); err != nil { // each once, and undamaged
			return fmt.Errorf("read %+v back: %w", p, err)
		}
		switch found.Until {
		case driver.ReadToPosition, driver.ReadToCount, driver.ReadToSilence:
		default:
			return fmt.Errorf("the reading of %+v does not say what its end was: %+v", p, found)
		}
	}
	if !covered["t0"] || !covered["t1"] {
		return fmt.Errorf("the places %+v are not those of both topics", places)
	}
	return nil
}

// until calls f until it returns nil, and returns its last error if that takes too long.
func (r *rig) until(ctx context.Context, f func() error) error {
	patience, cancel := context.WithTimeout(ctx, r.h.patience())
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-patience.Done():
			return err
		case <-time.After(deepLook):
		}
	}
}
