package credit

import (
	"sync/atomic"

	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/ring"
)

// Slot holds a message from the moment it is built until the client has done with its payload.
// The sending goroutine writes it before [Credits.Open]; from then on it is read only, by the
// goroutine that calls Done and by Expire. The atomic store and load of state order the two.
type Slot struct {
	// state is generation<<2 | one of the constants below. The generation is also the upper half
	// of the token, so that a second Done of an earlier message is recognised.
	state    atomic.Uint64
	index    uint32 // of the slot: the lower half of the token
	Payload  []byte // envelope and body; its body is written once, when the slot is made
	Sum      uint32 // checksum of the body, where all payloads are alike
	Kind     integrity.Kind
	Measured atomic.Bool    // the message is of the window; atomic, since Expire reads it without an order
	Stream   *stream.Stream // of the message
	Seq      uint64         // its number in the stream
	Intended int64          // when it was due, CLOCK_MONOTONIC
	Sent     int64          // when it was handed to the client, likewise; Expire reads it, so it is stored atomically where that looks
	Own      int64          // ns by which the generator itself was late
	Sums     []uint32       // checksums of the body's beginnings, by class of size; nil: all payloads are alike
	Key      []byte         // memory for the message's key; nil: there are no keys
}

// The states of a slot. Open makes a free slot borrowed; for a driver without acknowledgements Returned
// makes it free again. With acknowledgements Expire, or the answer, swaps borrowed for expired: the one
// that succeeds has the credit to give back. An answer that finds expired swaps it for slotMask, and
// Release makes the slot free. PutBack and TakeBack do so where the client was not given the message.
const (
	slotFree     = 0
	slotBorrowed = 1 // the client has it; in flight
	slotExpired  = 2 // timed out, or being answered: no longer in flight, its payload not back yet
	slotMask     = 3 // the bits of the state; as a state: timed out, and being answered
)

// slots is one connection's supply of slots. Payloads are made as they are needed, since most runs
// need few. take belongs to the sending goroutine; release may come from any.
type slots struct {
	all      []Slot       // does not move; slots from made on have no payload yet
	made     int          // slots whose payloads exist; the sending goroutine's
	there    atomic.Int64 // the same, for Expire and Lent, which other goroutines call
	bodies   *payload.Bodies
	distinct int // how many different bodies are made before they repeat

	// rotate: the client is done with a payload when Send returns or soon after, so the slots are
	// taken in turn, without a queue.
	rotate bool
	next   int // the slot to try first; the sending goroutine's

	// free are the indices of slots that Done gave back, for the pacer; nil: rotate.
	free *ring.Ring
}

func newSlots(n int, rotate bool, b *payload.Bodies) *slots {
	s := &slots{all: make([]Slot, n), bodies: b, distinct: b.Distinct(), rotate: rotate}
	if !rotate {
		s.free = ring.New(n)
	}
	first := min(n, max(64, min(4096, payload.BodiesAtOnce/b.Size)), max(2, payload.BodiesAtOnce/b.Size))
	for range first {
		s.make()
	}
	if !rotate {
		for i := range s.made {
			s.free.Put(uint32(i))
		}
	}
	return s
}

// make gives the next slot its payload.
func (s *slots) make() {
	sl := &s.all[s.made]
	sl.Payload = make([]byte, s.bodies.Size)
	if s.bodies.Key > 0 {
		sl.Key = make([]byte, s.bodies.Key)
	}
	if s.made < s.distinct {
		s.bodies.Fill(sl.Payload[integrity.EnvelopeSize:], s.made)
		sl.Sum, sl.Sums = integrity.BodySum(sl.Payload), s.bodies.Sums(sl.Payload)
	} else {
		from := &s.all[s.made%s.distinct]
		copy(sl.Payload[integrity.EnvelopeSize:], from.Payload[integrity.EnvelopeSize:])
		sl.Sum, sl.Sums = from.Sum, from.Sums
	}
	sl.index = uint32(s.made)
	s.made++
	s.there.Store(int64(s.made))
}

// take returns a free slot, or nil if all are borrowed. One goroutine at a time calls it: the ring has
// one receiver.
func (s *slots) take() *Slot {
	if s.rotate {
		for range s.made {
			i := s.next
			if s.next++; s.next == s.made {
				s.next = 0
			}
			if sl := &s.all[i]; sl.state.Load()&slotMask == slotFree {
				return sl
			}
		}
	} else if i, ok := s.free.Take(); ok {
		return &s.all[i]
	}
	if s.made == len(s.all) {
		return nil
	}
	s.make()
	return &s.all[s.made-1]
}

// release makes a slot available again after its state was set to free. It is safe for concurrent use.
func (s *slots) release(sl *Slot) {
	if !s.rotate {
		s.free.Put(sl.index)
	}
}
