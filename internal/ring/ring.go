// Package ring is a bounded queue of numbers with many senders and one receiver,
// which neither locks nor allocates: what the engine gets its payloads back by.
//
// It is Vyukov's bounded queue (D. Vyukov, "Bounded MPMC queue", 1024cores.net), of
// which one receiver makes the half that needs no compare-and-swap. It leaves out
// what a full queue would ask for: there are at most as many numbers as places.
package ring

import "sync/atomic"

// Ring is a queue. Put may be called by any goroutine, Take by one at a time.
type Ring struct {
	cells []cell
	head  uint64 // the receiver's
	tail  atomic.Uint64
}

// cell is a place, on a cache line of its own.
type cell struct {
	turn   atomic.Uint64 // the position for which it is free, or that and one once it is taken
	number uint32
	_      [48]byte
}

// New returns a queue for at most n numbers at a time, which is at least 1.
func New(n int) *Ring {
	size := 1
	for size < n {
		size *= 2
	}
	r := &Ring{cells: make([]cell, size)}
	for i := range r.cells {
		r.cells[i].turn.Store(uint64(i))
	}
	return r
}

// Take returns the number that was put first; ok is false if the ring is empty.
func (r *Ring) Take() (number uint32, ok bool) {
	c := &r.cells[r.head&uint64(len(r.cells)-1)]
	if c.turn.Load() != r.head+1 {
		return 0, false
	}
	number = c.number
	c.turn.Store(r.head + uint64(len(r.cells)))
	r.head++
	return number, true
}

// Put adds a number. The ring must never hold more than New was asked for.
func (r *Ring) Put(number uint32) {
	at := r.tail.Add(1) - 1
	c := &r.cells[at&uint64(len(r.cells)-1)]
	for c.turn.Load() != at { // the receiver is just taking what this place had
	}
	c.number = number
	c.turn.Store(at + 1)
}
