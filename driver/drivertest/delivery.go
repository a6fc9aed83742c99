package drivertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

func checkDelivery(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		got, l := newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		const n = 1000
		if err := sendMany(l, p, 0, 0, n, h.size()); err != nil {
			return err
		}
		return errors.Join(l.settled(ctx), got.filled(ctx, n))
	})
}

// connectAndSend connects n producers to each of the topics. All send at the same time,
// each the given number of messages. It returns how many were sent in total.
func connectAndSend(ctx context.Context, r *rig, l *ledger, topics []string, n, messages int) (int, error) {
	errs := make([]error, n*len(topics))
	var sending sync.WaitGroup
	for i := range errs {
		p, err := r.producer(ctx, i, topics[i%len(topics)], r.h.size(), l)
		if err != nil {
			return 0, err
		}
		sending.Go(func() { errs[i] = sendMany(l, p, uint32(i), 0, messages, r.h.size()) })
	}
	sending.Wait()
	return len(errs) * messages, errors.Join(errs...)
}

func checkOrder(ctx context.Context, h *Harness) error {
	t := driver.Topology{Topics: []string{"t0", "t1"}, Producers: 6}
	return with(ctx, h, t, func(r *rig) error {
		got, l := newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", got, t.Topics...); err != nil {
			return err
		}
		n, err := connectAndSend(ctx, r, l, t.Topics, 3, 500)
		if err != nil {
			return err
		}
		return errors.Join(l.settled(ctx), got.filled(ctx, n), got.inOrder())
	})
}

func checkTopics(ctx context.Context, h *Harness) error {
	t := driver.Topology{Topics: []string{"t0", "t1", "t10"}, Producers: 3, Consumers: 2}
	return with(ctx, h, t, func(r *rig) error {
		first, rest, l := newInbox(), newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", first, "t0"); err != nil {
			return err
		}
		if _, err := r.consumer(ctx, 1, "", rest, "t1", "t10"); err != nil {
			return err
		}
		const n = 100
		if _, err := connectAndSend(ctx, r, l, t.Topics, 1, n); err != nil {
			return err
		}
		if err := errors.Join(first.filled(ctx, n), rest.filled(ctx, 2*n), l.settled(ctx)); err != nil {
			return err
		}
		for _, got := range first.got {
			if got.producer != 0 {
				return fmt.Errorf("the subscriber of t0 got a message of %s", t.Topics[got.producer])
			}
		}
		return nil
	})
}

func checkFanOut(ctx context.Context, h *Harness) error {
	const subscribers, n = 4, 300
	t := driver.Topology{Topics: []string{"t0"}, Consumers: subscribers}
	return with(ctx, h, t, func(r *rig) error {
		l := newLedger()
		var boxes []*inbox
		for id := range subscribers {
			b := newInbox()
			boxes = append(boxes, b)
			if _, err := r.consumer(ctx, id, "", b, "t0"); err != nil {
				return err
			}
		}
		if _, err := connectAndSend(ctx, r, l, t.Topics, 1, n); err != nil {
			return err
		}
		errs := []error{l.settled(ctx)}
		for id, b := range boxes {
			if err := b.filled(ctx, n); err != nil {
				errs = append(errs, fmt.Errorf("subscriber %d: %w", id, err))
			}
		}
		return errors.Join(errs...)
	})
}

// group holds the inboxes of the consumers of one group, which share its messages.
type group struct {
	watch // guards total
	total int
	boxes []*inbox
}

// join connects n consumers of the group, with IDs from first on.
func join(ctx context.Context, r *rig, name string, first, n int, topics ...string) (*group, error) {
	g := &group{}
	for id := first; id < first+n; id++ {
		b := newInbox()
		b.during = func(letter) { g.update(func() { g.total++ }) }
		g.boxes = append(g.boxes, b)
		if _, err := r.consumer(ctx, id, name, b, topics...); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// surplusAfter is how long a check watches a group for surplus messages.
const surplusAfter = 100 * time.Millisecond

// shared waits until n letters have come to the group, each to one of its
// consumers.
func (g *group) shared(ctx context.Context, n int) error {
	if err := g.wait(ctx, func() bool { return g.total >= n }, func() string {
		return fmt.Sprintf("%d of %d messages were delivered to the group", g.total, n)
	}); err != nil {
		return err
	}
	// One consumer may have received all messages before the others wrongly get them too.
	late, cancel := context.WithTimeout(ctx, surplusAfter)
	defer cancel()
	_ = g.wait(late, func() bool { return g.total > n }, func() string { return "" })
	count := map[letter]int{}
	for _, b := range g.boxes {
		// The last Deliver may still be running.
		if err := b.wait(ctx, func() bool { return b.inside.Load() == 0 }, func() string { return "a Deliver does not end" }); err != nil {
			return err
		}
		if err := b.kept(-1); err != nil {
			return err
		}
		b.mu.Lock()
		for _, l := range b.got {
			count[l]++
		}
		b.mu.Unlock()
	}
	for l, times := range count {
		if times > 1 {
			return fmt.Errorf("message %d of producer %d went to %d consumers of one group", l.seq, l.producer, times)
		}
	}
	if len(count) != n {
		return fmt.Errorf("%d different messages were delivered to the group instead of %d", len(count), n)
	}
	return nil
}

func checkGroups(ctx context.Context, h *Harness) error {
	const n = 600
	t := driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 3}
	return with(ctx, h, t, func(r *rig) error {
		l := newLedger()
		g, err := join(ctx, r, "g0", 0, 3, "t0")
		if err != nil {
			return err
		}
		if _, err := connectAndSend(ctx, r, l, t.Topics, 1, n); err != nil {
			return err
		}
		return errors.Join(l.settled(ctx), g.shared(ctx, n))
	})
}

func checkGroupsApart(ctx context.Context, h *Harness) error {
	const n = 300
	t := driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0", "g1"}, Consumers: 5}
	return with(ctx, h, t, func(r *rig) error {
		l, alone := newLedger(), newInbox()
		if _, err := r.consumer(ctx, 0, "", alone, "t0"); err != nil {
			return err
		}
		var all []*group
		for i, name := range t.Groups {
			g, err := join(ctx, r, name, 1+2*i, 2, "t0")
			if err != nil {
				return err
			}
			all = append(all, g)
		}
		if _, err := connectAndSend(ctx, r, l, t.Topics, 1, n); err != nil {
			return err
		}
		errs := []error{l.settled(ctx), alone.filled(ctx, n)}
		for i, g := range all {
			if err := g.shared(ctx, n); err != nil {
				errs = append(errs, fmt.Errorf("group %s: %w", t.Groups[i], err))
			}
		}
		return errors.Join(errs...)
	})
}

// checkBatch sends with a client that is configured for batching, and sends nothing
// after Flush: no message may wait for the next one.
func checkBatch(ctx context.Context, h *Harness) error {
	return withBatch(ctx, h, topics("t0"), true, func(r *rig) error {
		got, l := newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		total := 0
		for _, n := range []int{1, 10, 5000} {
			if err := sendMany(l, p, 0, uint64(total), n, h.size()); err != nil {
				return err
			}
			total += n
			if err := errors.Join(got.filled(ctx, total), l.settled(ctx)); err != nil {
				return fmt.Errorf("after a batch of %d: %w", n, err)
			}
		}
		return nil
	})
}

// checkSync cuts the producer's connection right after Sync: the broker must then have
// everything that was sent before.
func checkSync(ctx context.Context, h *Harness) error {
	var absent error // that one of the two has no Sync
	for _, batch := range []bool{false, true} {
		err := withBatch(ctx, h, topics("t0"), batch, func(r *rig) error { return syncs(ctx, r, batch) })
		var not inapplicable
		switch {
		case errors.As(err, &not):
			absent = inapplicable(fmt.Sprintf("with batch %v: %v", batch, not))
		case err != nil:
			return fmt.Errorf("with batch %v: %w", batch, err)
		}
	}
	return absent
}

func syncs(ctx context.Context, r *rig, batch bool) error {
	h := r.h
	got, l := newInbox(), newLedger()
	if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
		return err
	}
	sender, err := openRig(ctx, h, r.run, batch)
	if err != nil {
		return err
	}
	defer sender.close()
	p, err := sender.producer(ctx, 1, "t0", h.size(), l)
	if err != nil {
		return err
	}
	syncer, ok := p.(driver.Syncer)
	if !ok {
		return inapplicable("producers are no Syncer")
	}
	const n = 2000
	if err := sendMany(l, p, 1, 0, n, h.size()); err != nil {
		return err
	}
	if err := syncer.Sync(ctx); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	sender.network.cut()
	if err := sender.close(); err != nil {
		return err
	}
	return errors.Join(got.filled(ctx, n), l.kept())
}

func checkCapabilities(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		var errs []error
		_, replies := r.session.(driver.RequestReplier)
		if h.can().RequestReply && !replies {
			errs = append(errs, errors.New("Capabilities.RequestReply is claimed, but sessions are no RequestReplier"))
		}
		if h.Entry.With(nil) != h.Entry.Capabilities {
			errs = append(errs, errors.New("the entry's Capabilities are not those of the default options"))
		}
		switch kind := h.can().Ack; kind {
		case driver.AckKindNone, driver.AckKindBroker, driver.AckKindReply:
		default:
			errs = append(errs, fmt.Errorf("the kind of acknowledgement is %q, which the contract does not have", kind))
		}
		if h.Entry.Options != nil {
			driver.DescribeOptions(h.Entry.Options) // panics if the struct is unsuitable
		}
		return errors.Join(errs...)
	})
}

// checkLogin checks that who asks for a connection learns when it was made, and when the broker has accepted its login.
func checkLogin(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		var logins atomic.Int32
		asked := driver.OnLogin(ofCall(ctx), func() { logins.Add(1) })
		if _, err := r.consumer(asked, 0, "", newInbox(), "t0"); err != nil {
			return err
		}
		switch {
		case r.network.byCall() == 0:
			return errors.New("a consumer made its connection through Target.Dial with a context that does not have the values of its own")
		case logins.Load() == 0:
			return errors.New("a consumer was returned, and nothing called driver.LoggedIn with its context")
		}
		return nil
	})
}

// checkDialling checks that all connections are made through Target.Dial, and are closed
// with the session.
func checkDialling(ctx context.Context, h *Harness) error {
	var r *rig
	if err := with(ctx, h, topics("t0"), func(opened *rig) error {
		r = opened
		got, l := newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		if r.network.of(driver.RoleConsumer) == 0 {
			return errors.New("a consumer's connection was made through Target.Dial with a context that does not say so, see WithRole")
		}
		before := r.network.count()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if r.network.count() == before {
			return errors.New("a producer's connection was not made through Target.Dial (a client that dials by itself needs Capabilities.OwnsDialing), or is shared with a consumer")
		}
		if r.network.of(driver.RoleProducer) == 0 {
			return errors.New("a producer's connection was made through Target.Dial with a context that does not say so, see WithRole")
		}
		return sendMany(l, p, 0, 0, 1, h.size())
	}); err != nil {
		return err
	}
	if n := r.network.left(); n > 0 {
		return fmt.Errorf("%d connections are open after the session has closed", n)
	}
	return nil
}
