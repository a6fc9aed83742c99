package drivertest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"sixnines/driver"
)

// letter identifies a payload.
type letter struct {
	producer uint32
	seq      uint64
}

// letterSize is the smallest payload that identifies itself.
const letterSize = 16

// write returns a payload of size bytes, at least letterSize, that contains the letter and
// in which every byte depends on it.
func (l letter) write(size int) []byte {
	p := make([]byte, size)
	binary.LittleEndian.PutUint32(p, l.producer)
	binary.LittleEndian.PutUint64(p[4:], l.seq)
	binary.LittleEndian.PutUint32(p[12:], uint32(size))
	x := l.seq*0x9E3779B97F4A7C15 + uint64(l.producer) + 1
	for i := letterSize; i < size; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		p[i] = byte(x)
	}
	return p
}

// readLetter checks every byte of a payload.
func readLetter(p []byte) (letter, error) {
	if len(p) < letterSize {
		return letter{}, fmt.Errorf("received %d bytes, which were not sent", len(p))
	}
	l := letter{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[4:])}
	if size := binary.LittleEndian.Uint32(p[12:]); int64(size) != int64(len(p)) {
		return l, fmt.Errorf("received %d bytes that were not sent; the first are % x", len(p), p[:letterSize])
	}
	for i, b := range l.write(len(p)) {
		if p[i] != b {
			return l, fmt.Errorf("message %d of producer %d (%d bytes): byte %d is %#02x, sent was %#02x", l.seq, l.producer, len(p), i, p[i], b)
		}
	}
	return l, nil
}

// inbox is a Deliver that checks the contract's clauses.
type inbox struct {
	watch
	got    []letter
	count  map[letter]int
	marked map[letter]int // of count, how many were marked as redelivered
	last   map[line]uint64
	turned error // the first letter that came after a later one
	faults []error
	closed bool // the consumer has been closed

	inside atomic.Int32 // number of Deliver calls now running; decremented with the lock held
	// during, if set, runs within Deliver, before the payload is read again.
	during func(l letter)
}

// line identifies messages that must be in order: those of one producer to one partition.
type line struct {
	producer  uint32
	partition int
}

func newInbox() *inbox {
	return &inbox{count: map[letter]int{}, marked: map[letter]int{}, last: map[line]uint64{}}
}

func (b *inbox) deliver(m driver.Message) {
	overlap := b.inside.Add(1) > 1
	l, err := readLetter(m.Payload)
	if b.during != nil {
		b.during(l)
	}
	if err == nil {
		if _, again := readLetter(m.Payload); again != nil {
			err = fmt.Errorf("the payload changed during Deliver: %w", again)
		}
	}
	b.update(func() {
		b.inside.Add(-1)
		if overlap {
			b.faults = append(b.faults, errors.New("two Deliver of one consumer ran at the same time"))
		}
		if b.closed {
			b.faults = append(b.faults, fmt.Errorf("message %d of producer %d was delivered after Close had returned", l.seq, l.producer))
		}
		if err != nil {
			b.faults = append(b.faults, err)
			return
		}
		b.got = append(b.got, l)
		b.count[l]++
		if m.Redelivered {
			b.marked[l]++
		}
		in := line{l.producer, m.Partition}
		if before, ok := b.last[in]; ok && l.seq <= before && b.turned == nil {
			b.turned = fmt.Errorf("message %d of producer %d was delivered after %d", l.seq, l.producer, before)
		}
		b.last[in] = l.seq
	})
}

// filled waits until n letters have come, and checks that each came once and undamaged.
func (b *inbox) filled(ctx context.Context, n int) error {
	if err := b.wait(ctx, func() bool { return len(b.got) >= n || len(b.faults) > 0 }, func() string {
		return fmt.Sprintf("%d of %d messages were delivered%s", len(b.got), n, b.gaps())
	}); err != nil {
		return err
	}
	return b.kept(n)
}

// gaps returns, for each producer, the last letter and those missing before it. If none are
// missing, deliveries have stopped; else messages were lost. The lock is held.
func (b *inbox) gaps() (text string) {
	last, came := map[uint32]uint64{}, map[uint32]uint64{}
	for l := range b.count {
		last[l.producer] = max(last[l.producer], l.seq)
		came[l.producer]++
	}
	for _, producer := range slices.Sorted(maps.Keys(last)) {
		text += fmt.Sprintf("; message %d was the last of producer %d", last[producer], producer)
		if missing := last[producer] + 1 - came[producer]; missing > 0 {
			first := uint64(0)
			for b.count[letter{producer, first}] > 0 {
				first++
			}
			text += fmt.Sprintf(", without %d before it from %d on", missing, first)
		}
	}
	return text
}

// has waits until l has come.
func (b *inbox) has(ctx context.Context, l letter) error {
	return b.wait(ctx, func() bool { return b.count[l] > 0 || len(b.faults) > 0 }, func() string {
		return fmt.Sprintf("message %d of producer %d was not delivered", l.seq, l.producer)
	})
}

// kept returns what is wrong with the letters so far; n is their expected number, or
// negative if it is not known.
func (b *inbox) kept(n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		return errors.Join(b.faults[:min(3, len(b.faults))]...)
	}
	for l, times := range b.count {
		if times > 1 {
			return fmt.Errorf("message %d of producer %d was delivered %d times, %d of them marked as redelivered", l.seq, l.producer, times, b.marked[l])
		}
	}
	if n >= 0 && len(b.got) != n {
		return fmt.Errorf("%d messages were delivered instead of %d", len(b.got), n)
	}
	return nil
}

// inOrder checks that every producer's letters came in the order of sending, within
// each partition.
func (b *inbox) inOrder() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turned
}

// close records that the consumer has been closed: from now on a delivery is a fault.
func (b *inbox) close() { b.update(func() { b.closed = true }) }
