//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"
)

// The envelope is natslat's, byte for byte: the checksum covers the body
// first, then the envelope up to itself.
const (
	offSequence  = 0  // u64
	offIntended  = 8  // i64
	offSent      = 16 // i64
	offRun       = 24 // u32
	offChecksum  = 28 // u32
	envelopeSize = 32
)

const (
	lead  = 100 * time.Millisecond // from the last preparation to the start
	drain = 5 * time.Second        // for what is outstanding after the last message
)

// trial is one measurement. The subscription's goroutine alone writes the
// arrays and counts until finished is closed or the subscription is drained.
type trial struct {
	load
	castagnoli *crc32.Table
	id         uint32
	clock      clock
	start      int64 // CLOCK_MONOTONIC ns

	// By sequence number; received 0 is "not yet".
	intended, sent, received []int64

	arrived                                   atomic.Uint64 // also read by the waiting goroutine
	expected                                  uint64
	corrupted, duplicated, reordered, foreign uint64
	finished                                  chan struct{}
	handed                                    uint64 // messages the library took
}

// clock reads CLOCK_MONOTONIC without a system call: the runtime's monotonic
// reading, shifted once.
type clock struct {
	base   time.Time
	offset int64
}

func newClock() (clock, error) {
	// The narrowest of some brackets: the first ones meet cold caches.
	best, width := clock{}, int64(-1)
	for range 16 {
		var t unix.Timespec
		before := time.Now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
			return clock{}, fmt.Errorf("read CLOCK_MONOTONIC: %w", err)
		}
		w := int64(time.Since(before))
		if width < 0 || w < width {
			best, width = clock{base: before, offset: t.Nano() - w/2}, w
		}
	}
	return best, nil
}

func (c clock) now() int64 { return c.offset + int64(time.Since(c.base)) }

// measure runs the load once.
func measure(l load) (*trial, error) {
	c, err := newClock()
	if err != nil {
		return nil, err
	}
	t := &trial{
		load: l, clock: c, id: rand.Uint32(), castagnoli: crc32.MakeTable(crc32.Castagnoli),
		intended: touched(l.total()), sent: touched(l.total()), received: touched(l.total()),
		finished: make(chan struct{}),
	}
	options := []nats.Option{nats.NoReconnect()}
	if l.writeBuffer > 0 {
		options = append(options, nats.WriteBufferSize(l.writeBuffer))
	}
	consumer, err := nats.Connect(l.url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect the subscriber: %w", err)
	}
	defer consumer.Close()
	producer, err := nats.Connect(l.url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect the publisher: %w", err)
	}
	defer producer.Close()
	if limit := producer.MaxPayload(); int64(l.size) > limit {
		return nil, fmt.Errorf("-size %d: this server takes at most %d bytes", l.size, limit)
	}

	subscription, err := consumer.Subscribe(l.subject, func(m *nats.Msg) { t.record(m.Data, t.clock.now()) })
	if err == nil {
		err = subscription.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = consumer.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("subscribe to %q: %w", l.subject, err)
	}

	runtime.GC()
	t.start = t.clock.now() + int64(lead)
	published := make(chan error, 1)
	go func() { published <- t.publish(producer) }()
	if err := <-published; err != nil {
		return nil, err
	}
	deadline := time.NewTimer(drain)
	defer deadline.Stop()
	select {
	case <-t.finished:
	case <-deadline.C:
	}
	// Drain ends the callback's goroutine behind what was delivered, so the
	// arrays may be read, and second copies were counted.
	closed := subscription.StatusChanged(nats.SubscriptionClosed)
	if err := subscription.Drain(); err != nil {
		return nil, fmt.Errorf("drain the subscription: %w", err)
	}
	select {
	case <-closed:
	case <-time.After(drain):
		return nil, errors.New("the subscription does not end")
	}
	return t, nil
}

// touched returns n zeros whose pages are there already.
func touched(n uint64) []int64 {
	a := make([]int64, n)
	for i := range a {
		a[i] = -1
	}
	clear(a)
	return a
}

// publish sends everything on a thread of its own, which ends with it.
func (t *trial) publish(connection *nats.Conn) error {
	runtime.LockOSThread() // never unlocked: the thread's timer slack is ours
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack: %w", err)
	}
	payload := make([]byte, t.size)
	envelope, body := payload[:envelopeSize], payload[envelopeSize:]
	for i := range body {
		body[i] = byte(i*131 + 7)
	}
	binary.LittleEndian.PutUint32(envelope[offRun:], t.id)
	bodySum := crc32.Checksum(body, t.castagnoli)
	for n, total := uint64(0), t.total(); n < total; n++ {
		intended := t.start + t.due(n)
		if err := sleepUntil(intended); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(envelope[offSequence:], n)
		binary.LittleEndian.PutUint64(envelope[offIntended:], uint64(intended))
		binary.LittleEndian.PutUint64(envelope[offSent:], uint64(t.clock.now()))
		if t.checksum {
			sum := crc32.Update(bodySum, t.castagnoli, envelope[:offChecksum])
			binary.LittleEndian.PutUint32(envelope[offChecksum:], sum)
		}
		if err := connection.Publish(t.subject, payload); err != nil {
			return fmt.Errorf("publish message %d: %w", n, err)
		}
		t.handed = n + 1
	}
	if err := connection.Flush(); err != nil {
		return fmt.Errorf("flush the publisher: %w", err)
	}
	return nil
}

// sleepUntil sleeps to an absolute CLOCK_MONOTONIC instant, in nanoseconds.
func sleepUntil(instant int64) error {
	due := unix.NsecToTimespec(instant)
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &due, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// record accounts for one message that was stamped with received.
func (t *trial) record(payload []byte, received int64) {
	if len(payload) != t.size {
		t.foreign++
		return
	}
	if t.checksum {
		sum := crc32.Checksum(payload[envelopeSize:], t.castagnoli)
		sum = crc32.Update(sum, t.castagnoli, payload[:offChecksum])
		if sum != binary.LittleEndian.Uint32(payload[offChecksum:]) {
			t.corrupted++
			return
		}
	}
	if binary.LittleEndian.Uint32(payload[offRun:]) != t.id {
		t.foreign++
		return
	}
	n := binary.LittleEndian.Uint64(payload[offSequence:])
	intended := int64(binary.LittleEndian.Uint64(payload[offIntended:]))
	switch {
	case n >= uint64(len(t.received)) || intended != t.start+t.due(n):
		t.corrupted++
		return
	case t.received[n] != 0:
		t.duplicated++
		return
	case n < t.expected: // RFC 4737
		t.reordered++
	default:
		t.expected = n + 1
	}
	t.intended[n] = intended
	t.sent[n] = int64(binary.LittleEndian.Uint64(payload[offSent:]))
	t.received[n] = received
	if t.arrived.Add(1) == uint64(len(t.received)) {
		close(t.finished)
	}
}
