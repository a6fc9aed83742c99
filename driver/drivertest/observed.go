package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"sixnines/driver"
)

// Observed is a message as another client than the driver's sees it.
type Observed struct {
	Payload []byte
	Key     []byte            // nil: the message has no key
	Headers map[string]string // by name
}

// observe takes n messages and returns them by the letters in their payloads.
func observe(next func() (Observed, error), n int) (map[letter]Observed, error) {
	seen := map[letter]Observed{}
	for range n {
		o, err := next()
		if err != nil {
			return nil, fmt.Errorf("after %d of %d messages the observer saw no more: %w", len(seen), n, err)
		}
		l, err := readLetter(o.Payload)
		if err != nil {
			return nil, fmt.Errorf("what the observer saw: %w", err)
		}
		seen[l] = o
	}
	if len(seen) != n {
		return nil, fmt.Errorf("the observer saw %d messages, %d of them twice", n, n-len(seen))
	}
	return seen, nil
}

// ruledOut returns the error of a check whose ability is excluded by options.
func ruledOut(err error, what string) error {
	if errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrOption) {
		return inapplicable("with these options there are no " + what + ": " + err.Error())
	}
	return err
}

// checkHeaders lets producers with headers and one without headers send side by side. Another
// client must see the headers on the messages of the former, and all payloads undamaged.
func checkHeaders(ctx context.Context, h *Harness) error {
	const n = 6
	headers := []driver.Header{{Name: "tenant", Value: "blue"}, {Name: "trace-id", Value: strings.Repeat("4bf92f", 60)}}
	t := topics("t0")
	t.Headers, t.MaxSize, t.Producers = headers, 8<<10, 3
	for _, batch := range []bool{false, true} {
		if err := withBatch(ctx, h, t, batch, func(r *rig) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			next, err := h.Observe(ctx, r.run, "t0")
			if err != nil {
				return err
			}
			got, l := newInbox(), newLedger()
			if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
				return err
			}
			with, err := r.session.Producer(ctx, driver.ProducerSpec{ID: 0, Topic: "t0", Size: t.MaxSize, Headers: headers}, l)
			if err != nil {
				return err
			}
			without, err := r.producer(ctx, 1, "t0", t.MaxSize, l)
			if err != nil {
				return err
			}
			producers := []driver.Producer{with, without}
			if rr, ok := r.session.(driver.RequestReplier); ok && h.can().RequestReply {
				requester, err := rr.Requester(ctx, driver.ProducerSpec{ID: 2, Conn: 2, Topic: "t0", Size: t.MaxSize, Headers: headers}, l, func(driver.Message) {})
				if err != nil {
					return err
				}
				producers = append(producers, requester)
			}
			for i := range uint64(n) {
				for id, p := range producers {
					who := letter{uint32(id), i}
					if err := l.send(p, tokenOf(who.producer, i), who.write(h.size()+int(i%3)*2500)); err != nil {
						return err
					}
					if err := flush(p); err != nil {
						return err
					}
				}
			}
			seen, err := observe(next, n*len(producers))
			if err != nil {
				return err
			}
			for who, o := range seen {
				for _, want := range headers {
					if value, there := o.Headers[want.Name]; there != (who.producer != 1) || there && value != want.Value {
						return fmt.Errorf("message %d of producer %d has the header %s: %q", who.seq, who.producer, want.Name, value)
					}
				}
			}
			return errors.Join(got.filled(ctx, n*len(producers)), l.settled(ctx))
		}); err != nil {
			return fmt.Errorf("with batch %v: %w", batch, ruledOut(err, "headers"))
		}
	}
	return nil
}

// checkKeys sends messages with a few keys. Another client must see each message's own
// key, and a consumer must get equal keys from one partition.
func checkKeys(ctx context.Context, h *Harness) error {
	const n, different = 60, 7
	t := topics("t0")
	t.KeySize = 16
	key := func(seq uint64) []byte { return fmt.Appendf(nil, "key-%012d", seq%different) }
	return ruledOut(with(ctx, h, t, func(r *rig) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, err := h.Observe(ctx, r.run, "t0")
		if err != nil {
			return err
		}
		var w watch
		came, by, strays := 0, map[string]int{}, 0
		if _, err := r.session.Consumer(ctx, driver.ConsumerSpec{Topics: t.Topics}, func(m driver.Message) {
			who, err := readLetter(m.Payload)
			w.update(func() {
				came++
				if partition, known := by[string(key(who.seq))]; err != nil || known && partition != m.Partition {
					strays++
				}
				by[string(key(who.seq))] = m.Partition
			})
		}); err != nil {
			return err
		}
		l := newLedger()
		p, err := r.session.Producer(ctx, driver.ProducerSpec{Topic: "t0", Size: h.size(), KeySize: t.KeySize}, l)
		if err != nil {
			return err
		}
		for i := range uint64(n) {
			if err := l.sendKeyed(p, tokenOf(0, i), letter{0, i}.write(h.size()), key(i)); err != nil {
				return err
			}
		}
		if err := flush(p); err != nil {
			return err
		}
		seen, err := observe(next, n)
		if err != nil {
			return err
		}
		for who, o := range seen {
			if !bytes.Equal(o.Key, key(who.seq)) {
				return fmt.Errorf("message %d was sent with the key %q and has %q", who.seq, key(who.seq), o.Key)
			}
		}
		if err := w.wait(ctx, func() bool { return came >= n }, func() string {
			return fmt.Sprintf("%d of %d messages were delivered", came, n)
		}); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if strays > 0 {
			return fmt.Errorf("%d messages came by another partition than those before them with the same key", strays)
		}
		return l.settled(ctx)
	}), "keys")
}
