package credit

import (
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/window"
)

// readLate is from when on what was received has lain unread for want of a processor,
// in ns. To be woken takes every program some microseconds.
const readLate = 1_000_000

// freedCredit tells the sender of a lane that is full when it no longer is. A pacer that
// went on looking every 20 µs took the processor from what frees a credit: sixteen of them
// kept two processors busy, and sent a tenth of what a closed loop does.
type freedCredit struct {
	// At is 0 or creditWanted, or the instant at which a credit came free that was wanted.
	At     atomic.Int64
	Waiter atomic.Pointer[window.Sleeper] // whom to wake then
}

// CreditWanted: from now on a credit that comes free is to be told.
const CreditWanted = -1

// Freed is called after a slot or a credit was given back, by any goroutine.
func (f *freedCredit) Freed() { f.FreedBy(0, nil) }

// FreedBy is [freedCredit.freed] by what was received over a connection and called back at
// now; nil: over one that is not known. For as long as it had lain unread in this machine
// the lane waited for nobody else.
func (f *freedCredit) FreedBy(now int64, over *observe.Tap) {
	if f.At.Load() != CreditWanted {
		return
	}
	at := clock.Now()
	if _, late := over.Arrived(now); !late { // what a driver reads late on purpose is its client's
		if lay := over.Received(now); lay >= readLate {
			at -= lay
		}
	}
	if f.At.CompareAndSwap(CreditWanted, at) {
		f.Waiter.Load().Wake()
	}
}

// Want has waiter told of the next credit. What became free before that is not told: look
// once more after it.
func (f *freedCredit) Want(waiter *window.Sleeper) {
	f.Waiter.Store(waiter)
	f.At.Store(CreditWanted)
}
