package send

import (
	"math/rand/v2"
	"testing"
)

// A message counts the part of a wait that comes after it is due, whichever message the wait was for.
func TestBlockedLog(t *testing.T) {
	var b blockedLog
	b.add(1_000_000, 2_000_000)
	b.add(2_000_500, 3_000_000) // hardly anything lies between
	b.add(5_000_000, 6_000_000)
	b.add(5_500_000, 6_500_000) // of which half is known
	for _, tt := range []struct{ intended, sent, want int64 }{
		{0, 7_000_000, 3_500_000},
		{1_500_000, 7_000_000, 3_000_000},
		{4_000_000, 7_000_000, 1_500_000},
		{5_250_000, 7_000_000, 1_250_000},
		{6_400_000, 6_450_000, 50_000},
		{6_500_000, 7_000_000, 0},
	} {
		if got := b.within(tt.intended, tt.sent); got != tt.want {
			t.Errorf("from %d to %d: %d ns blocked, want %d", tt.intended, tt.sent, got, tt.want)
		}
	}
}

// If a client makes every message wait, for as long as the run goes on, no wait is forgotten: the
// blocked time is right to within a hundredth of a message's lag.
func TestBlockedLogOfALongBacklog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	type wait struct{ start, end int64 }
	var b blockedLog
	var all []wait
	var total []int64 // blocked before each wait
	var now, sum int64
	due := 0 // the wait in whose beginning the next message is due
	for n := range 200_000 {
		now += 2_000 + random.Int64N(100_000) // of our own
		w := wait{now, now + 100_000 + random.Int64N(1_000_000)}
		now = w.end
		b.add(w.start, w.end)
		all, total = append(all, w), append(total, sum)
		sum += w.end - w.start
		if n%3 > 0 {
			continue // it falls behind
		}
		from := all[due].start
		got, want := b.within(from, now), sum-total[due]
		if off := got - want; max(off, -off) > (now-from)/100+1 {
			t.Fatalf("after %d waits: %d ns of %d are blocked, want %d", n+1, got, now-from, want)
		}
		due++
	}
	if b.n > blockedSpans || len(b.spans) != blockedSpans {
		t.Errorf("%d spans", len(b.spans))
	}
}

// While this process is frozen, a client that waits does so because of that: the process may have
// been stopped within a send, or with messages in flight.
func TestFreezeWithinAWaitIsOwn(t *testing.T) {
	ld := lanesRun(t, "{rate: 1000/s, pattern: publish, size: 64B}")
	l := ld.sending.Lanes[0]
	const ms = 1_000_000
	ld.Frozen = func(from, to int64, each func(start, end int64)) { each(200*ms, 900*ms) }
	l.block(100*ms, 950*ms)
	if got := l.blocked.within(0, 1000*ms); got != 150*ms {
		t.Errorf("%d ms are blocked, and the process was frozen for 700 of 850", got/ms)
	}
	l.block(960*ms, 964*ms) // too short to be asked
	if got := l.blocked.within(0, 1000*ms); got != 154*ms {
		t.Errorf("%d ms are blocked", got/ms)
	}
	if got := l.blocked.within(300*ms, 1000*ms); got != 54*ms {
		t.Errorf("of a message that was due in the freeze %d ms are blocked, and it was over at 900", got/ms)
	}
}
