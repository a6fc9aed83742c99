package engine

import (
	"runtime"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/schedule"
)

// handoverAfter is how long one lane's send may block before the pacer's other
// lanes are given to a spare pacer.
const handoverAfter = 2 * time.Millisecond

// maxPacers bounds the threads that blocked sends may come to.
const maxPacers = 32

// What the supervisor makes of pacer.sending.
const (
	takingOver = -1 // it is splitting the pacer up: hands off
	takenOver  = -2 // done; the pacer goes on with one lane
)

// supervise keeps a blocked send from holding up producers on other
// connections. A pacer announces each send by the instant at which it began; if
// that stands too long the supervisor swaps it for takingOver, from which
// moment the blocked thread will not touch its own pacer before it reads
// takenOver, and gives all lanes but the blocked one to a new pacer.
func (r *run) supervise() {
	for !r.stopped.Load() {
		now := clock.Now()
		r.pacersMu.Lock()
		pacers := slices.Clone(r.pacers)
		r.pacersMu.Unlock()
		divisible := false
		for _, p := range pacers {
			divisible = divisible || p.divisible.Load()
			since := p.sending.Load()
			if since <= 0 || now-since < int64(handoverAfter) || len(pacers) >= maxPacers {
				continue
			}
			if p.sending.CompareAndSwap(since, takingOver) {
				r.takeOver(p, since)
			}
		}
		if !divisible {
			return // every pacer has one lane: nothing to hand over, ever
		}
		time.Sleep(handoverAfter / 4)
	}
}

// takeOver splits the blocked pacer p and starts a spare one with its other
// lanes. p's thread is inside Send.
func (r *run) takeOver(p *pacer, since int64) {
	blocked := p.current
	mine := func(producer int) bool {
		return r.streams[r.layout.byProducer[producer][0]].lane == blocked
	}
	spare := &pacer{run: r, spare: true, turn: p.turn, issued: p.issued, budget: p.budget, margin: p.margin}
	spare.lanes = slices.DeleteFunc(slices.Clone(p.lanes), func(l *lane) bool { return l == blocked })
	spare.producers = slices.DeleteFunc(slices.Clone(p.producers), mine)
	spare.phase = p.phase
	spare.divisible.Store(len(spare.lanes) > 1)
	p.lanes = []*lane{blocked}
	p.producers = slices.DeleteFunc(slices.Clone(p.producers), func(q int) bool { return !mine(q) })
	rest := r.remaining(spare)
	p.feed = r.remaining(p)
	p.divisible.Store(false)
	// Until now the spare's messages waited for the blocked send.
	spare.busy.add(since, clock.Now())
	r.handovers.Add(1)
	r.startPacer(spare, rest)
	p.sending.Store(takenOver)
}

// remaining returns what p's producers have still to send in its phase.
func (r *run) remaining(p *pacer) *schedule.Merged {
	feed := r.plan.Merge(p.producers, p.phase)
	var sent uint64
	for _, q := range p.producers {
		sent += p.issued[q]
	}
	// What was sent is a prefix: a part's order is the whole's.
	for ; sent > 0; sent-- {
		feed.Next()
	}
	return feed
}

// settle waits for the supervisor to be done with a pacer whose send has come
// back meanwhile.
func (p *pacer) settle() {
	for p.sending.Load() != takenOver {
		runtime.Gosched()
	}
	p.sending.Store(0)
}
