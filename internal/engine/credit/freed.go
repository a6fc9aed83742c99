package credit

import (
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/window"
)

// readLate is how long, in ns, what was received must have lain unread to count as unread for want of
// a processor: every program takes some microseconds to be woken.
const readLate = 1_000_000

// freedCredit tells the sender of a lane that is full when it no longer is. A pacer that
// went on looking every 20 µs took the processor from what frees a credit: sixteen of them
// kept two processors busy, and sent a tenth of what a closed loop does.
//
// No lock joins the credits and the wake-up. The sender stores CreditWanted and then looks for a
// credit once more; the goroutine that frees a credit gives it back and then looks for CreditWanted.
// Atomic operations have one order, so at least one of the two sees what the other has done.
type freedCredit struct {
	// At is 0, CreditWanted, or when the wanted credit came free, CLOCK_MONOTONIC. The sender stores the
	// first two. A goroutine that frees a credit swaps the second for the third, and wakes the sender
	// only if the swap succeeds: one wake-up for each Want.
	At     atomic.Int64
	Waiter atomic.Pointer[window.Sleeper] // the sleeper to wake then; the sender stores it, or a pacer's takeover
}

// CreditWanted: the next credit that comes free wakes the waiter.
const CreditWanted = -1

// Freed is called after a slot or a credit was given back, by any goroutine.
func (f *freedCredit) Freed() { f.FreedBy(0, nil) }

// FreedBy is [freedCredit.Freed] because of what was received over a connection (nil: it is not known
// which) and called back at now. The credit counts as free from when that had arrived in this
// machine: while it lay unread, the sender waited for the generator alone.
func (f *freedCredit) FreedBy(now int64, over *observe.Tap) {
	if f.At.Load() != CreditWanted {
		return
	}
	at := clock.Now()
	if _, late := over.Arrived(now); !late { // else the sender waits for the client, which reads late on purpose
		if lay := over.Received(now); lay >= readLate {
			at -= lay
		}
	}
	if f.At.CompareAndSwap(CreditWanted, at) {
		f.Waiter.Load().Wake()
	}
}

// Want has the next credit that comes free wake waiter. One that came free before does not, so the
// caller looks once more after Want. The waiter is stored first: it is loaded after CreditWanted was
// found.
func (f *freedCredit) Want(waiter *window.Sleeper) {
	f.Waiter.Store(waiter)
	f.At.Store(CreditWanted)
}
