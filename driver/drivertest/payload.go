package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// checkSizes sends payloads from the smallest to the largest and compares those
// received with those sent.
func checkSizes(ctx context.Context, h *Harness) error {
	sizes := []int{max(1, h.can().MinSize)}
	for _, size := range []int{32, 33, 1 << 10, 64<<10 - 1, 64 << 10, h.maxPayload()} {
		if size > sizes[len(sizes)-1] && size <= h.maxPayload() {
			sizes = append(sizes, size)
		}
	}
	t := topics("t0")
	t.MaxSize = h.maxPayload()
	return with(ctx, h, t, func(r *rig) error {
		var w watch
		var got [][]byte
		if _, err := r.session.Consumer(ctx, driver.ConsumerSpec{Topics: t.Topics}, func(m driver.Message) {
			payload := bytes.Clone(m.Payload)
			w.update(func() { got = append(got, payload) })
		}); err != nil {
			return err
		}
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.maxPayload(), l)
		if err != nil {
			return err
		}
		for i, size := range sizes {
			sent := letter{1, uint64(i)}.write(max(size, letterSize))[:size]
			if err := l.send(p, uint64(i), sent); err != nil {
				return fmt.Errorf("send %d bytes: %w", size, err)
			}
			if err := flush(p); err != nil {
				return err
			}
			if err := w.wait(ctx, func() bool { return len(got) > i }, func() string {
				return fmt.Sprintf("a payload of %d bytes was not delivered", size)
			}); err != nil {
				return err
			}
			var came []byte
			w.update(func() { came = got[i] })
			if !bytes.Equal(came, sent) {
				return fmt.Errorf("a payload of %d bytes came as %d bytes, or as other ones", size, len(came))
			}
		}
		return l.settled(ctx)
	})
}

// checkTooLarge checks for the class ErrTooLarge wherever the driver detects the size.
func checkTooLarge(ctx context.Context, h *Harness) error {
	refused := func(where string, err error) error {
		if !errors.Is(err, driver.ErrTooLarge) {
			return fmt.Errorf("%s refuses %d bytes with %q, which does not wrap ErrTooLarge", where, h.TooLarge, err)
		}
		return nil
	}
	t := topics("t0")
	t.MaxSize = h.TooLarge
	r, err := openRig(ctx, h, newRun(), false)
	if err != nil {
		return err
	}
	_, err = r.session.Provision(ctx, t)
	r.session.Deprovision(ctx)
	if closeErr := r.close(); closeErr != nil {
		return closeErr
	}
	if err != nil {
		if err := refused("Provision", err); err != nil {
			return err
		}
	}
	// Without a size in the topology, the refusal comes later.
	return with(ctx, h, topics("t0"), func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", 64, l)
		if err != nil {
			return err
		}
		if err := l.send(p, 1, letter{1, 1}.write(h.TooLarge)); err != nil {
			return errors.Join(refused("Send", err), l.kept())
		}
		if err := flush(p); err != nil {
			return err
		}
		if err := l.settled(ctx); err == nil {
			return fmt.Errorf("a payload of %d bytes was neither refused by Send nor by Done", h.TooLarge)
		} else if err := refused("Done", err); err != nil {
			return err
		}
		return l.kept()
	})
}

// checkBorrowed relies on the ledger, which overwrites each payload in its Done: bytes
// that the client reads after that arrive as garbage.
func checkBorrowed(ctx context.Context, h *Harness) error {
	const n = 300
	for _, batch := range []bool{false, true} {
		if err := withBatch(ctx, h, topics("t0"), batch, func(r *rig) error {
			got, l := newInbox(), newLedger()
			if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
				return err
			}
			p, err := r.producer(ctx, 0, "t0", 8<<10, l)
			if err != nil {
				return err
			}
			for i := range uint64(n) {
				// Sizes near those at which clients switch from copying the
				// payload to passing it on.
				size := h.size() + int(i%4)*2000
				if err := l.send(p, tokenOf(0, i), letter{0, i}.write(size)); err != nil {
					return err
				}
			}
			return errors.Join(flush(p), got.filled(ctx, n), l.settled(ctx))
		}); err != nil {
			return fmt.Errorf("with batch %v: %w", batch, err)
		}
	}
	return nil
}

// checkBorrowedWhenLost cuts the connection of a producer whose payloads are so large
// that it is copying one most of the time. The loss must not resolve the message that
// Send still reads: the race detector notices that.
func checkBorrowedWhenLost(ctx context.Context, h *Harness) error {
	const cuts = 12
	size := min(h.maxPayload(), 64<<10)
	t := topics("t0")
	t.MaxSize = size
	return with(ctx, h, t, func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", size, l)
		if err != nil {
			return err
		}
		var sent atomic.Int64
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			pause := time.NewTicker(time.Millisecond)
			defer pause.Stop()
			payload := letter{0, 0}.write(size)
			for seq := uint64(0); ; seq++ {
				err := l.send(p, tokenOf(0, seq), payload)
				if err == nil {
					err = flush(p)
				}
				if err == nil {
					sent.Add(1)
				} else { // until the connection is back
					<-pause.C
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
		look := time.NewTicker(100 * time.Microsecond)
		defer look.Stop()
		for range cuts {
			for more := sent.Load() + 5; sent.Load() < more && err == nil; {
				select {
				case <-look.C:
				case <-ctx.Done():
					err = errors.New("after the connection was lost no message can be sent any more")
				}
			}
			r.network.cut()
		}
		close(stop)
		select {
		case <-ended:
		case <-ctx.Done():
			err = errors.Join(err, errors.New("hangs in Send"))
		}
		return errors.Join(err, l.kept())
	})
}

func checkValidDuringDeliver(ctx context.Context, h *Harness) error {
	return holdFirst(ctx, h, "t0")
}

func checkSerial(ctx context.Context, h *Harness) error {
	return holdFirst(ctx, h, "t0", "t1", "t2")
}

// holdFirst blocks the first Deliver of a consumer until a second consumer has received
// many more messages of all its topics. The payload must still be the same then, and no
// other Deliver of the first consumer may have begun.
func holdFirst(ctx context.Context, h *Harness, names ...string) error {
	const n = 200
	t := driver.Topology{Topics: names, Producers: len(names), Consumers: 2}
	return with(ctx, h, t, func(r *rig) error {
		got, l := newInbox(), newLedger()
		entered, sent := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(sent) })
		defer release()
		var once atomic.Bool
		got.during = func(letter) {
			if once.CompareAndSwap(false, true) {
				close(entered)
				select {
				case <-sent:
				case <-ctx.Done():
				}
			}
		}
		if _, err := r.consumer(ctx, 0, "", got, names...); err != nil {
			return err
		}
		observer := newInbox()
		if h.can().FanOut {
			if _, err := r.consumer(ctx, 1, "", observer, names...); err != nil {
				return err
			}
		}
		var producers []driver.Producer
		for id, name := range names {
			p, err := r.producer(ctx, id, name, h.size(), l)
			if err != nil {
				return err
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
			if s, ok := p.(driver.Syncer); ok {
				if err := s.Sync(ctx); err != nil {
					return err
				}
			}
		}
		if h.can().FanOut {
			if err := observer.filled(ctx, 1+n*len(names)); err != nil {
				return err
			}
		}
		release()
		return errors.Join(got.filled(ctx, 1+n*len(names)), l.settled(ctx))
	})
}

// checkTokens sends from several goroutines and looks for tokens that are done twice,
// never, or too late, until the session has closed.
func checkTokens(ctx context.Context, h *Harness) error {
	const producers, n = 4, 2000
	l := newLedger()
	t := driver.Topology{Topics: []string{"t0"}, Producers: producers}
	if err := with(ctx, h, t, func(r *rig) error {
		got := newInbox()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		sent, err := connectAndSend(ctx, r, l, t.Topics, producers, n)
		if err != nil {
			return err
		}
		return errors.Join(l.settled(ctx), got.filled(ctx, sent))
	}); err != nil {
		return err
	}
	return l.kept()
}
