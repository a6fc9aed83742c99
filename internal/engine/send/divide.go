package send

import (
	"runtime"
	"time"

	"sixnines/internal/engine/window"
)

// A load begins with one pacer for all of its lanes. Several pacers wake each other's readers
// and take the processors from the goroutines that the others have just started, and a
// thread must wake for each message, also if several are due at once. But a single pacer makes a
// lane wait for the sends of the others, and has only one thread's share of a busy machine. So
// a pacer that sends for long, has no time left or is behind gives half of its lanes to another
// one. On two cores, 20,000/s of 512 B over 4 to 16 connections, p50 with one pacer was 0.4
// to 0.9 times what it was with four; with 64 KiB p99 was 1.2 to 1.7 times as much, and
// beside two busy processes up to 9 times (benchmarks/README.md).
const (
	divideEvery = 100 * time.Millisecond // how often a pacer looks whether it should
	divideAfter = 2                      // looks in a row that say so: less is a hiccup
	// noRest is the share of its time from which on a pacer has too little left: the
	// judge calls that the generator's limit.
	noRest = 0.7
	// lateEach is the mean own lag, in ns, above which a pacer gets too little of the machine.
	// Waiting for a processor alone is no reason to divide: the broker waits for one, too.
	lateEach = 1_000_000
	// longEach is the mean time of a send, in ns, above which it is worth a thread of its own,
	// which costs about as much to wake; longShare is the share of its time that a pacer must
	// send for before lanes meet often.
	longEach  = 32_000
	longShare = 0.1
)

// effort is what a pacer has done since it began, in ns and messages.
type effort struct {
	busy  int64 // on a processor, without what it spun, and in sends that waited for something else
	late  int64 // the messages' own lag
	sends int64
}

// since returns what was done after an earlier effort of the same pacer.
func (e effort) since(was effort) effort {
	return effort{e.busy - was.busy, e.late - was.late, e.sends - was.sends}
}

// tooMuch reports whether this is too much for one pacer in a span of ns.
func (e effort) tooMuch(span int64) bool {
	share := float64(e.busy) / float64(span)
	return share > noRest || e.late > e.sends*lateEach || share > longShare && e.busy > e.sends*longEach
}

// division is how a pacer finds that it has too much to do. Instants are CLOCK_MONOTONIC.
type division struct {
	next  int64  // when to look
	asOf  int64  // when it last looked; 0: not yet
	then  effort // what it had done by then
	often int    // looks in a row that found too much to do
}

// effort is what the pacer has done so far, at now. It belongs to the pacer's thread.
func (p *Pacer) effort(now int64) effort {
	ran, _, ok := p.thread.own()
	if !ok { // the kernel does not tell: the thread is taken to run when it does not sleep
		ran = now - p.slept - p.blocked
	}
	return effort{ran - p.spun.Load() + p.blocked, p.late, p.sends}
}

// mayDivide looks at now whether the pacer has too much to do. If it has, and another one is
// allowed, that gets every other lane. The pacer's own thread calls it, outside the client, so the
// supervisor cannot be dividing the pacer at the same time.
func (p *Pacer) mayDivide(now int64) {
	d := &p.division
	if len(p.queue) < 2 {
		d.next = window.Never
		return
	}
	e := p.effort(now)
	if d.asOf != 0 && e.since(d.then).tooMuch(now-d.asOf) {
		d.often++
	} else {
		d.often = 0
	}
	d.asOf, d.then, d.next = now, e, now+int64(divideEvery)
	if d.often < divideAfter || !p.sending.Pacing.another() {
		return
	}
	d.often = 0
	var keep, give laneQueue
	for i, l := range p.queue {
		if i%2 == 0 {
			keep = append(keep, l)
		} else {
			give = append(give, l)
		}
	}
	p.queue = keep
	p.queue.order()
	p.divisible.Store(len(keep) > 1)
	p.sending.startWith(&Pacer{}, p, give)
	runtime.Gosched() // its goroutine waits for the processor that this thread keeps
}
