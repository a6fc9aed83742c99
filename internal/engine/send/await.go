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
	// creditWait bounds the sleep after that, in ns, in case a wake-up is lost.
	creditWait = 1_000_000
)

// takeCredit reports whether the lane has a slot and a credit at now, and takes the slot. Where it
// has none it notes since when, and other lanes go on; where it has one again, the time in between
// counts as blocked. It belongs to the lane's pacer.
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

// await sets when a lane that was found full is looked at again: after creditPoll and, if it is
// still full then, as soon as a credit is free, by a wake-up. In virtual time nothing is gathered by
// waiting, and a credit is taken at the instant at which it becomes free.
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

// creditsFreed brings forward the lanes for which a credit came free, after a wake-up. It belongs to
// the pacer's thread; the goroutine that freed the credit has stored when in At.
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
