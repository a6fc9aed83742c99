package engine

import (
	"sync/atomic"

	"sixnines/internal/integrity"
)

// slot holds a message from the moment it is built until the client lets go of
// its payload. Its fields are written by the pacer before Send and read by
// Done; the state orders the two.
type slot struct {
	// state is generation<<2 | one of the constants below.
	state    atomic.Uint64
	payload  []byte
	sum      uint32 // checksum of the body, where all payloads are alike
	kind     integrity.Kind
	measured bool
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

// slots is one lane's supply of slots. take and giveBack on the pacer's side
// belong to one goroutine; release may come from any.
type slots struct {
	all      []slot
	made     int // slots whose payloads exist
	bodies   *bodies
	distinct int // bodies; what is made later repeats them

	// rotate: the client is done with a payload when Send returns or soon
	// after, and Done tells nothing else: no queue, take the next in turn.
	rotate bool
	next   int

	// free is a bounded queue of many producers (Done) and one consumer (the
	// pacer): each cell holds its turn and an index.
	free []freeCell
	head uint64 // pacer's
	tail atomic.Uint64
}

type freeCell struct {
	turn  atomic.Uint64
	index uint32
	_     [48]byte
}

func newSlots(n int, rotate bool, b *bodies) *slots {
	s := &slots{all: make([]slot, n), bodies: b, distinct: b.distinct(), rotate: rotate}
	if !rotate {
		cells := 1
		for cells < n {
			cells *= 2
		}
		s.free = make([]freeCell, cells)
		for i := range s.free {
			s.free[i].turn.Store(uint64(i))
		}
	}
	first := min(n, max(64, min(4096, bodiesAtOnce/b.size)), max(2, bodiesAtOnce/b.size))
	for range first {
		s.make()
	}
	if !rotate {
		for i := range s.made {
			s.push(uint32(i))
		}
	}
	return s
}

// make gives the next slot its payload.
func (s *slots) make() {
	sl := &s.all[s.made]
	sl.payload = make([]byte, s.bodies.size)
	if s.bodies.key > 0 {
		sl.key = make([]byte, s.bodies.key)
	}
	if s.made < s.distinct {
		s.bodies.fill(sl.payload[integrity.EnvelopeSize:], s.made)
		sl.sum, sl.sums = integrity.BodySum(sl.payload), s.bodies.sums(sl.payload)
	} else {
		from := &s.all[s.made%s.distinct]
		copy(sl.payload[integrity.EnvelopeSize:], from.payload[integrity.EnvelopeSize:])
		sl.sum, sl.sums = from.sum, from.sums
	}
	s.made++
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
	c := &s.free[s.head&uint64(len(s.free)-1)]
	if c.turn.Load() == s.head+1 {
		i := c.index
		c.turn.Store(s.head + uint64(len(s.free)))
		s.head++
		return &s.all[i], i
	}
	if s.made == len(s.all) {
		return nil, 0
	}
	s.make()
	return &s.all[s.made-1], uint32(s.made - 1)
}

// push puts a slot back into the queue. There are at least as many cells as
// slots, so a cell is always free.
func (s *slots) push(i uint32) {
	pos := s.tail.Add(1) - 1
	c := &s.free[pos&uint64(len(s.free)-1)]
	for c.turn.Load() != pos { // the pacer is just taking this cell's last content
	}
	c.index = i
	c.turn.Store(pos + 1)
}

// release makes a slot takeable again after its state was set to free.
func (s *slots) release(i uint32) {
	if !s.rotate {
		s.push(i)
	}
}
