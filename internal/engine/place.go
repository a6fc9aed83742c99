package engine

import (
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
)

const (
	// placePoll is after how long a sender looks again for a place in flight, in ns, so
	// that what becomes free meanwhile goes out together. With one place there is nothing
	// to gather, and no such look.
	placePoll = 20_000
	// placeWait is for how long it then sleeps at most, in ns, if nobody wakes it.
	placeWait = 1_000_000
	// readLate is from when on what was received has lain unread for want of a processor,
	// in ns. To be woken takes every program some microseconds.
	readLate = 1_000_000
)

// freedPlace tells the sender of a lane that is full when it no longer is. A pacer that
// went on looking every 20 µs took the processor from what frees a place: sixteen of them
// kept two processors busy, and sent a tenth of what a closed loop does.
type freedPlace struct {
	// at is 0 or placeWanted, or the instant at which a place became free that was wanted.
	at     atomic.Int64
	waiter atomic.Pointer[window.Sleeper] // whom to wake then
}

// placeWanted: from now on a place that becomes free is to be told.
const placeWanted = -1

// freed is called after a slot or a place in flight was given back, by any goroutine.
func (f *freedPlace) freed() { f.freedBy(0, nil) }

// freedBy is [freedPlace.freed] by what was received over a connection and called back at
// now; nil: over one that is not known. For as long as it had lain unread in this machine
// the lane waited for nobody else.
func (f *freedPlace) freedBy(now int64, over *tap) {
	if f.at.Load() != placeWanted {
		return
	}
	at := clock.Now()
	if _, late := over.arrived(now); !late { // what a driver reads late on purpose is its client's
		if lay := over.received(now); lay >= readLate {
			at -= lay
		}
	}
	if f.at.CompareAndSwap(placeWanted, at) {
		f.waiter.Load().Wake()
	}
}

// want has waiter told of the next place. What became free before that is not told: look
// once more after it.
func (f *freedPlace) want(waiter *window.Sleeper) {
	f.waiter.Store(waiter)
	f.at.Store(placeWanted)
}

// hasPlace reports whether the lane has a slot, which it takes, and a place in flight.
func (l *lane) hasPlace() bool {
	if l.next == nil {
		l.next, l.nextIndex = l.slots.take()
	}
	return l.next != nil && (l.limit == 0 || l.inFlight.Load() < l.limit)
}

// takePlace takes a slot and a place in flight for the lane; false: there is
// none at now. Other lanes go on meanwhile.
func (l *lane) takePlace(now int64) bool {
	if !l.hasPlace() {
		if l.fullSince == 0 {
			l.fullSince = now
		}
		l.fullAt = now
		return false
	}
	if l.fullSince != 0 {
		// A late look finds a place that may have been free for long: from
		// when a look in time would have been, the wait is the generator's own.
		until := l.fullAt + placePoll
		switch at := l.free.at.Swap(0); {
		case at == placeWanted: // it became free just now
			until = now
		case at > 0:
			until = at + placePoll
		}
		l.block(l.fullSince, min(now, until))
		l.fullSince = 0
	}
	return true
}

// await sets when a lane that was found full is looked at again: after placePoll, and
// from the second time on when a place is free. In virtual time there is nothing to gather
// by waiting, and a place is taken at the instant at which it becomes free.
func (p *pacer) await(l *lane) {
	now := clock.Now()
	l.key = now + placePoll
	if !p.control.CanWake() ||
		l.fullAt == l.fullSince && l.limit != 1 && p.control.Virtual == nil {
		return
	}
	p.wakeable = true
	l.free.want(&p.sleeper)
	if l.hasPlace() {
		l.key = now // it became free just before it was wanted
	} else {
		l.key = now + placeWait
	}
}

// placesFreed puts the lanes that were full and no longer are where they are looked at
// next.
func (p *pacer) placesFreed() {
	for _, l := range p.queue {
		if l.fullSince != 0 {
			if at := l.free.at.Load(); at > 0 {
				l.key = min(l.key, at)
			}
		}
	}
	p.queue.order()
}
