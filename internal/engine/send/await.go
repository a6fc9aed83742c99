package send

import (
	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
)

const (
	// creditPoll is after how long a sender looks again for a credit, in ns, so that what
	// comes free meanwhile goes out together. With one credit there is nothing to gather,
	// and no such look.
	creditPoll = 20_000
	// creditWait is for how long it then sleeps at most, in ns, if nobody wakes it.
	creditWait = 1_000_000
)

// takeCredit takes a slot and a credit for the lane; false if none is free at now. Other lanes go on meanwhile.
func (l *lane) takeCredit(now int64) bool {
	if !l.Credits.Has() {
		if l.fullSince == 0 {
			l.fullSince = now
		}
		l.fullAt = now
		return false
	}
	if l.fullSince != 0 {
		// A late look finds a credit that may have been free for long: from
		// when a look in time would have been, the wait is the generator's own.
		until := l.fullAt + creditPoll
		switch at := l.Credits.Free.At.Swap(0); {
		case at == credit.CreditWanted: // it became free just now
			until = now
		case at > 0:
			until = at + creditPoll
		}
		l.block(l.fullSince, min(now, until))
		l.fullSince = 0
	}
	return true
}

// await sets when a lane that was found full is looked at again: after creditPoll, and
// from the second time on when a credit is free. In virtual time there is nothing to gather
// by waiting, and a credit is taken at the instant at which it becomes free.
func (p *Pacer) await(l *lane) {
	now := clock.Now()
	l.key = now + creditPoll
	if !p.control.CanWake() ||
		l.fullAt == l.fullSince && l.Credits.Limit != 1 && p.control.Virtual == nil {
		return
	}
	p.wakeable = true
	l.Credits.Free.Want(&p.sleeper)
	if l.Credits.Has() {
		l.key = now // it became free just before it was wanted
	} else {
		l.key = now + creditWait
	}
}

// creditsFreed puts the lanes that were full and no longer are where they are looked at
// next.
func (p *Pacer) creditsFreed() {
	for _, l := range p.queue {
		if l.fullSince != 0 {
			if at := l.Credits.Free.At.Load(); at > 0 {
				l.key = min(l.key, at)
			}
		}
	}
	p.queue.order()
}
