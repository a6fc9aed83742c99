package mem_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// key identifies a message.
type key struct {
	producer uint32
	seq      uint64
}

const payloadSize = 64

// write returns the message with a checksum over all that is before it.
func (k key) write() []byte {
	p := make([]byte, payloadSize)
	binary.LittleEndian.PutUint32(p, k.producer)
	binary.LittleEndian.PutUint64(p[8:], k.seq)
	binary.LittleEndian.PutUint32(p[payloadSize-4:], crc32.ChecksumIEEE(p[:payloadSize-4]))
	return p
}

func read(p []byte) (k key, whole bool) {
	k = key{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[8:])}
	return k, crc32.ChecksumIEEE(p[:payloadSize-4]) == binary.LittleEndian.Uint32(p[payloadSize-4:])
}

// observer counts what becomes of messages at a delivery group.
type observer struct {
	mu         sync.Mutex
	changed    sync.Cond
	total      int // deliveries
	seen       map[key]int
	corrupted  []key
	reordered  []key
	marked     int // as redelivered
	duplicated int
}

func newObserver() *observer {
	o := &observer{seen: map[key]int{}}
	o.changed.L = &o.mu
	return o
}

// member returns the Deliver of one of the group's consumers.
func (o *observer) member() driver.Deliver {
	highest := map[uint32]uint64{}
	return func(m driver.Message) {
		k, whole := read(m.Payload)
		o.mu.Lock()
		defer o.mu.Unlock()
		defer o.changed.Broadcast()
		o.total++
		if m.Redelivered {
			o.marked++
		}
		if !whole {
			o.corrupted = append(o.corrupted, k)
			return
		}
		if o.seen[k]++; o.seen[k] > 1 {
			o.duplicated++
			return
		}
		if top, any := highest[k.producer]; any && k.seq < top {
			o.reordered = append(o.reordered, k)
		} else {
			highest[k.producer] = k.seq
		}
	}
}

// wait returns when n deliveries have been made.
func (o *observer) wait(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.total < n {
		o.changed.Wait()
	}
}

// verdicts collects what acknowledgements say.
type verdicts struct {
	mu      sync.Mutex
	changed sync.Cond
	calls   int
	of      map[uint64][]error
}

func newVerdicts() *verdicts {
	v := &verdicts{of: map[uint64][]error{}}
	v.changed.L = &v.mu
	return v
}

// Done implements driver.Acks.
func (v *verdicts) Done(token uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	v.of[token] = append(v.of[token], err)
	v.changed.Broadcast()
}

func (v *verdicts) wait(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.calls < n {
		v.changed.Wait()
	}
}

func (v *verdicts) total() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls
}

// count returns how many tokens were answered so often, the last time with an
// error of the class.
func (v *verdicts) count(times int, class error) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, errs := range v.of {
		if len(errs) == times && errors.Is(errs[times-1], class) {
			n++
		}
	}
	return n
}

// open opens a session with the topic t0 and closes it after the test.
func open(t testing.TB, b *mem.Broker, options map[string]any) driver.Session {
	t.Helper()
	options = merged(map[string]any{"begin": "open"}, options) // there is no window here
	s, err := b.Entry().Driver.Open(t.Context(), driver.Target{Run: "r", Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func subscribe(t testing.TB, s driver.Session, id int, group string, deliver driver.Deliver) driver.Consumer {
	t.Helper()
	c, err := s.Consumer(t.Context(), driver.ConsumerSpec{ID: id, Conn: id, Topics: []string{"t0"}, Group: group}, deliver)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func connect(t testing.TB, s driver.Session, id int, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(t.Context(), driver.ProducerSpec{ID: id, Conn: id, Topic: "t0", Size: payloadSize}, acks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func token(k key) uint64 { return uint64(k.producer)<<48 | k.seq }

// send sends n messages of a producer and returns how many were rejected.
func send(p driver.Producer, producer uint32, n int) (rejected int, err error) {
	for seq := range uint64(n) {
		k := key{producer, seq}
		switch err := p.Send(token(k), k.write()); {
		case errors.Is(err, driver.ErrRejected):
			rejected++
		case err != nil:
			return rejected, fmt.Errorf("message %d: %w", seq, err)
		}
	}
	return rejected, nil
}

// discard is an Acks that takes no notice.
type discard struct{}

func (discard) Done(uint64, error) {}
