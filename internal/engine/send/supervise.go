package send

import (
	"runtime"
	"slices"
	"time"

	"sixnines/internal/clock"
)

// takeoverAfter is how long one lane's send may block before the pacer's other
// lanes are given to a spare pacer.
const takeoverAfter = 2 * time.Millisecond

// maxPacers bounds the threads that blocked sends may lead to.
const maxPacers = 64

// The values that the supervisor stores in Pacer.began.
const (
	takingOver = -1 // the supervisor owns the pacer's queue; the thread must not touch it
	takenOver  = -2 // done: the pacer goes on with one lane
)

// supervise keeps a blocked send from delaying producers on other connections. A pacer announces each
// send by the instant at which it began. If that is long ago, the supervisor swaps it for takingOver
// and gives all lanes but the blocked one to a new pacer. The compare-and-swap decides between the two:
// a thread that comes back first swaps the announcement for 0, and keeps its lanes; one that comes back
// later finds takingOver and waits for takenOver before it touches its pacer.
//
// The supervisor looks when the longest send in progress will have taken takeoverAfter, or after
// takeoverAfter if no send is in progress. It sleeps in the kernel, because a timer of Go's wakes
// several threads each time: with looks by such a timer, four in takeoverAfter, a run that is
// nearly idle had a quarter more context switches.
func (s *Sending) supervise() {
	for !s.Stopped.Load() {
		now := clock.Now()
		next := now + int64(takeoverAfter)
		pacers := s.Pacing.List()
		divisible := false
		for _, p := range pacers {
			divisible = divisible || p.divisible.Load()
			since := p.began.Load()
			if since <= 0 || len(pacers) >= maxPacers {
				continue
			}
			if due := since + int64(takeoverAfter); now < due {
				next = min(next, due)
				continue
			}
			if p.began.CompareAndSwap(since, takingOver) {
				s.takeOver(p)
			}
		}
		if !divisible {
			return // every pacer has one lane: no takeover is possible any more
		}
		s.SleepHandingOver(next)
	}
}

// takeOver splits the blocked pacer p and starts a spare one with its other lanes, where they are in
// their schedules. p's thread is inside a client, and p.began is takingOver. Storing takenOver comes
// last: it gives the queue back to the thread.
func (s *Sending) takeOver(p *Pacer) {
	blocked := p.current
	others := slices.DeleteFunc(slices.Clone(p.queue), func(l *lane) bool { return l == blocked })
	p.queue = laneQueue{blocked}
	p.divisible.Store(false)
	s.Takeovers.Add(1)
	s.startWith(&Pacer{spare: true}, p, others)
	p.began.Store(takenOver)
}

// awaitTakeover waits until the supervisor has split the pacer, whose send has come back meanwhile.
// It yields instead of sleeping: takeOver only splits a slice and starts a goroutine.
func (p *Pacer) awaitTakeover() {
	for p.began.Load() != takenOver {
		runtime.Gosched()
	}
	p.began.Store(0)
}
