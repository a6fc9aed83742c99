package credit

import (
	"sync/atomic"

	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/ring"
)

// Slot holds a message from the moment it is built until the client has done with
// its payload. Its fields are written by the pacer before Send and read by
// Done; the state orders the two.
type Slot struct {
	// state is generation<<2 | one of the constants below.
	state    atomic.Uint64
	Payload  []byte
	Sum      uint32 // checksum of the body, where all payloads are alike
	Kind     integrity.Kind
	Measured atomic.Bool // expire looks at it
	Stream   *stream.Stream
	Seq      uint64
	Intended int64
	Sent     int64
	Own      int64
	Sums     []uint32 // of the body's parts, by class of size; nil: all payloads are alike
	Key      []byte   // nil: there are no keys
}

const (
	slotFree     = 0
	slotBorrowed = 1 // in flight
	slotExpired  = 2 // timed out: no longer in flight, its payload not back yet
	slotMask     = 3
)

// slots is one lane's supply of slots. take, on the pacer's side,
// belongs to one goroutine; release may come from any.
type slots struct {
	All      []Slot
	made     int          // slots whose payloads exist
	there    atomic.Int64 // made, for others than the pacer
	bodies   *payload.Bodies
	distinct int // bodies; what is made later repeats them

	// rotate: the client is done with a payload when Send returns or soon
	// after, and Done tells nothing else: no queue, take the next in turn.
	rotate bool
	next   int

	// free are the indices of slots that Done gave back, for the pacer; nil: rotate.
	free *ring.Ring
}

func NewSlots(n int, rotate bool, b *payload.Bodies) *slots {
	s := &slots{All: make([]Slot, n), bodies: b, distinct: b.Distinct(), rotate: rotate}
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
	sl := &s.All[s.made]
	sl.Payload = make([]byte, s.bodies.Size)
	if s.bodies.Key > 0 {
		sl.Key = make([]byte, s.bodies.Key)
	}
	if s.made < s.distinct {
		s.bodies.Fill(sl.Payload[integrity.EnvelopeSize:], s.made)
		sl.Sum, sl.Sums = integrity.BodySum(sl.Payload), s.bodies.Sums(sl.Payload)
	} else {
		from := &s.All[s.made%s.distinct]
		copy(sl.Payload[integrity.EnvelopeSize:], from.Payload[integrity.EnvelopeSize:])
		sl.Sum, sl.Sums = from.Sum, from.Sums
	}
	s.made++
	s.there.Store(int64(s.made))
}

// Take returns a free slot and its index, or nil if all are borrowed.
func (s *slots) Take() (*Slot, uint32) {
	if s.rotate {
		for range s.made {
			i := s.next
			if s.next++; s.next == s.made {
				s.next = 0
			}
			if sl := &s.All[i]; sl.state.Load()&slotMask == slotFree {
				return sl, uint32(i)
			}
		}
		if s.made == len(s.All) {
			return nil, 0
		}
		s.make()
		return &s.All[s.made-1], uint32(s.made - 1)
	}
	if i, ok := s.free.Take(); ok {
		return &s.All[i], i
	}
	if s.made == len(s.All) {
		return nil, 0
	}
	s.make()
	return &s.All[s.made-1], uint32(s.made - 1)
}

// release makes a slot available again after its state was set to free.
func (s *slots) release(i uint32) {
	if !s.rotate {
		s.free.Put(i)
	}
}
