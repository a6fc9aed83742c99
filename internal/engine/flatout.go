package engine

import (
	"runtime"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/integrity"
)

// quota is the number of messages that a window of fixed size still has. The
// zero value has no end.
type quota struct {
	limited bool
	left    atomic.Int64
}

// take reports whether one more message belongs to the window.
func (q *quota) take() bool { return !q.limited || q.left.Add(-1) >= 0 }

// claim takes up to n messages at once.
func (q *quota) claim(n int64) int64 {
	if !q.limited {
		return n
	}
	left := q.left.Add(-n)
	return max(0, min(n, left+n))
}

// claimAtOnce is how many messages of a quota a flat-out loop takes at a time.
const claimAtOnce = 256

// flood sends on one lane as fast as the client takes it: intended is sent,
// there is no schedule, and so no response time. It ends at end, when the
// quota is used up, or when the run is stopped.
func (l *lane) flood(limit *quota, measured bool) {
	r := l.run
	if measured {
		for _, st := range l.streams {
			st.begin()
		}
	}
	turn := 0
	var left int64
	for {
		if left == 0 {
			if left = limit.claim(claimAtOnce); left == 0 || r.stopped.Load() {
				break
			}
		}
		sl, index := l.slots.take()
		if sl == nil || l.limit > 0 && l.inFlight.Load() >= l.limit {
			if sl, index = l.waitForRoom(sl, index); sl == nil {
				return
			}
		}
		now := clock.Now()
		if now >= r.end.Load() {
			l.slots.release(index)
			break
		}
		left--
		st := l.streams[turn]
		if turn++; turn == len(l.streams) {
			turn = 0
		}
		if err := l.transmit(st, sl, index, integrity.Data, now, now, 0, measured, nil); err != nil {
			runtime.Gosched() // refused: let the client come to itself
		}
	}
	l.flush()
}

// roomSpins is how often waitForRoom looks again at once: about as long as an
// answer of a fast broker takes. After that it sleeps: the processor that it
// would burn is the one that the client or the broker needs to make room.
const roomSpins = 64

// waitForRoom waits until the lane has a slot and room in flight; sl is a slot
// already taken, or nil. What the client holds back goes out first: nothing else
// would make room. It returns nil if the run ends before.
func (l *lane) waitForRoom(sl *slot, index uint32) (*slot, uint32) {
	l.flush()
	for n := 0; ; n++ {
		if sl == nil {
			sl, index = l.slots.take()
		}
		if sl != nil && (l.limit == 0 || l.inFlight.Load() < l.limit) {
			return sl, index
		}
		if l.run.stopped.Load() {
			return nil, 0
		}
		if n < roomSpins {
			runtime.Gosched()
		} else {
			clock.SleepUntilBlocking(clock.Now() + placePoll)
		}
	}
}

// flush pushes out what the clients of the lane's streams hold back.
func (l *lane) flush() {
	for _, st := range l.streams {
		if st.flusher != nil {
			if err := st.flusher.Flush(); err != nil {
				l.fail(err)
			}
		}
	}
}
