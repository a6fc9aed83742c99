package engine

import (
	"sync/atomic"

	"sixnines/internal/engine/payload"
	"sixnines/internal/integrity"
	"sixnines/internal/ring"
)

// slot holds a message from the moment it is built until the client has done with
// its payload. Its fields are written by the pacer before Send and read by
// Done; the state orders the two.
type slot struct {
	// state is generation<<2 | one of the constants below.
	state    atomic.Uint64
	payload  []byte
	sum      uint32 // checksum of the body, where all payloads are alike
	kind     integrity.Kind
	measured atomic.Bool // expire looks at it
	stream   *stream
	seq      uint64
	intended int64
	sent     int64
	own      int64
	sums     []uint32 // of the body's parts, by class of size; nil: all payloads are alike
	key      []byte   // nil: there are no keys
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
	all      []slot
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

func newSlots(n int, rotate bool, b *payload.Bodies) *slots {
	s := &slots{all: make([]slot, n), bodies: b, distinct: b.Distinct(), rotate: rotate}
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
	sl.payload = make([]byte, s.bodies.Size)
	if s.bodies.Key > 0 {
		sl.key = make([]byte, s.bodies.Key)
	}
	if s.made < s.distinct {
		s.bodies.Fill(sl.payload[integrity.EnvelopeSize:], s.made)
		sl.sum, sl.sums = integrity.BodySum(sl.payload), s.bodies.Sums(sl.payload)
	} else {
		from := &s.all[s.made%s.distinct]
		copy(sl.payload[integrity.EnvelopeSize:], from.payload[integrity.EnvelopeSize:])
		sl.sum, sl.sums = from.sum, from.sums
	}
	s.made++
	s.there.Store(int64(s.made))
}

// take returns a free slot and its index, or nil if all are borrowed.
func (s *slots) take() (*slot, uint32) {
	if s.rotate {
		for range s.made {
			i := s.next
			if s.next++; s.next == s.made {
				s.next = 0
			}
			if sl := &s.all[i]; sl.state.Load()&slotMask == slotFree {
				return sl, uint32(i)
			}
		}
		if s.made == len(s.all) {
			return nil, 0
		}
		s.make()
		return &s.all[s.made-1], uint32(s.made - 1)
	}
	if i, ok := s.free.Take(); ok {
		return &s.all[i], i
	}
	if s.made == len(s.all) {
		return nil, 0
	}
	s.make()
	return &s.all[s.made-1], uint32(s.made - 1)
}

// release makes a slot available again after its state was set to free.
func (s *slots) release(i uint32) {
	if !s.rotate {
		s.free.Put(i)
	}
}
