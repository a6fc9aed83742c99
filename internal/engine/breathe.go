package engine

import "sixnines/internal/clock"

// The collector works for atOnceNs at a time, and then leaves its processor to others for
// giveWayNs. An interval costs it one to three milliseconds, and a low priority does not make
// room for threads that carry messages: one that has just had more than its share of
// a processor waits until the scheduler has made up for it (EEVDF), and beside a thread of low
// priority that takes ten times as long. With 20,000/s over 16 connections to Redis half of the
// slowest hundredth of messages met the collector, and p99 was 2.1 to 2.7 times a C client's.
const (
	atOnceNs  = 50_000
	giveWayNs = 100_000
	// breathMost is how long after its beginning, in ns, work no longer gives way: on a busy
	// machine each pause is long, and the interval is to end in time.
	breathMost = 20_000_000
)

// breath is how a thread that has much to do gives way to others. It is not safe for
// concurrent use.
type breath struct {
	began int64 // when the work began, CLOCK_MONOTONIC
	since int64 // when it last gave way, CLOCK_MONOTONIC
}

// begin is called before the first piece of work.
func (b *breath) begin() {
	b.began = clock.Now()
	b.since = b.began
}

// take is called between two pieces of work, and gives way where the last ones took long.
func (b *breath) take() {
	if now := clock.Now(); now-b.since > atOnceNs && now-b.began < breathMost {
		clock.SleepUntilBlocking(now + giveWayNs)
		b.since = clock.Now()
	}
}
