package send

import (
	"math"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
)

// A client that waits for something else is blocked for as long after thousands of short sleeps as
// after one: what each of them takes to wake up does not add up.
func TestBlockedTimeDoesNotDriftWithSleeps(t *testing.T) {
	const (
		sleeps = 8000
		each   = 50_000     // ns
		wait   = 20_000_000 // ns
	)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := &Pacer{control: &plan.Control{Life: &window.Life{}}, thread: openThread(threadID())}
	defer p.thread.close()
	if _, _, ok := p.thread.own(); !ok {
		t.Skip("the kernel does not tell how long a thread ran and waited for a processor")
	}
	l := &lane{}
	p.queue, p.division.next = laneQueue{l}, math.MaxInt64
	p.look(clock.Now())
	began := clock.Now()
	for range sleeps {
		l.key = clock.Now() + each
		if !p.wait() {
			t.Fatal("the run is over")
		}
	}
	slept := clock.Now() - began
	start := clock.Now()
	if _, err := unix.Poll(nil, wait/1_000_000); err != nil && err != unix.EINTR {
		t.Fatal(err)
	}
	now := clock.Now()
	if blocked := p.blockedOf(start, now); blocked < wait/2 || blocked > now-start {
		t.Errorf("blocked for %d of %d ns after %d ns of sleeps", blocked, now-start, slept)
	}
}
