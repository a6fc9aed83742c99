package credit

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/stream"
)

// Expire looks for timed-out messages while the sender makes more payloads.
func TestExpireWhileSlotsAreMade(t *testing.T) {
	l := &Credits{counted: true, slots: newSlots(1<<16, false, &payload.Bodies{Size: 64, RNG: rand.NewChaCha8([32]byte{}), Lanes: 1})}
	var looking sync.WaitGroup
	looking.Go(func() {
		for l.slots.there.Load() < 1<<16 {
			l.oldestInFlight = 0 // or it would look once
			l.Expire(1)
		}
	})
	for range 1 << 16 {
		sl := l.slots.take()
		sl.Sent = 2
		sl.state.Store(slotBorrowed)
	}
	looking.Wait()
	if n := l.TimedOut.Load(); n != 0 {
		t.Errorf("%d have timed out", n)
	}
}

// Expire finds each message at its time, whatever it found before.
func TestExpireFindsEachAtItsTime(t *testing.T) {
	l := &Credits{counted: true, slots: newSlots(8, false, &payload.Bodies{Size: 64, RNG: rand.NewChaCha8([32]byte{}), Lanes: 1})}
	send := func(at int64) *Slot {
		sl := l.slots.take()
		sl.Sent = at
		sl.Measured.Store(true)
		sl.state.Store(slotBorrowed)
		return sl
	}
	answered := send(100)
	send(200)
	send(400)
	for _, step := range []struct{ horizon, timedOut int64 }{{100, 0}, {101, 0}, {200, 0}, {201, 1}, {300, 1}, {400, 1}, {401, 2}, {451, 3}} {
		if step.horizon == 101 {
			answered.state.Store(slotFree) // just in time
		}
		if step.horizon == 300 {
			send(450)
		}
		l.Expire(step.horizon)
		if n := l.TimedOut.Load(); n != step.timedOut {
			t.Errorf("%d sent before %d have timed out, want %d", n, step.horizon, step.timedOut)
		}
	}
	// With nothing in flight what is found is what is sent later.
	l.Expire(clock.Now())
	later := clock.Now()
	send(later)
	if l.Expire(later + 1); l.TimedOut.Load() != 4 {
		t.Errorf("what was sent after a look has not timed out")
	}
}

// A message that is delivered long after its time limit gives no credit back.
func TestLateReplyTakesNoPlace(t *testing.T) {
	e := newExpiry(100 * time.Millisecond)
	first := 5000 * e.length
	again := first + int64(len(e.buckets))*e.length // the same bucket
	e.opened(first, true)
	if n, measured := e.sweep(first + 2*e.length); n != 1 || measured != 1 {
		t.Fatalf("%d messages timed out", n)
	}
	e.opened(again, false)
	if e.closed(first, true) {
		t.Error("a late reply ends the time in flight of another message")
	}
	if !e.closed(again, false) || e.closed(again, false) {
		t.Error("a message has another number of places than one")
	}
}

// A message that is refused after its delivery has no credit any more, and takes none from the message
// that is in flight beside it. A refused message that was not delivered gives its own back.
func TestRefusedAfterItsDeliveryTakesNoCredit(t *testing.T) {
	const sent = 100
	c := &Credits{counted: true, expiry: newExpiry(time.Minute)}
	for range 2 {
		c.expiry.opened(sent, true)
		c.InFlight.Add(1)
	}
	var delivered, other Slot
	for _, sl := range []*Slot{&delivered, &other} {
		sl.Sent = sent
		sl.Measured.Store(true)
	}
	st := &stream.Stream{}
	if !c.Delivered(st, 0, sent, sent+1, true, nil) {
		t.Error("a delivery found no credit")
	}
	came := func(sl *Slot) func(*stream.Stream, uint64) bool {
		return func(*stream.Stream, uint64) bool { return sl == &delivered }
	}
	for i, sl := range []*Slot{&delivered, &other} {
		c.Refused(sl, came(sl))
		if n := c.InFlight.Load(); n != int64(1-i) {
			t.Errorf("after refusal %d of 2, %d are in flight, want %d", i+1, n, 1-i)
		}
	}
}

// The first sweep, and one after a long pause, leave messages under way alone.
func TestSweepLeavesWhatIsUnderWay(t *testing.T) {
	const timeout = 10 * time.Second
	e := newExpiry(timeout)
	for _, now := range []int64{int64(time.Hour), int64(2 * time.Hour)} {
		for age := int64(0); age < int64(timeout); age += e.length {
			e.opened(now-age, true)
		}
		if n, _ := e.sweep(now - int64(timeout)); n != 0 {
			t.Errorf("%d messages timed out too soon", n)
		}
		for age := int64(0); age < int64(timeout); age += e.length {
			if !e.closed(now-age, true) {
				t.Errorf("one that was sent %v ago has no place", time.Duration(age))
			}
		}
	}
}

// What times out of the warm-up, or of the load after the window, gives its credit back and is not
// counted.
func TestTimedOutAreThoseOfTheWindow(t *testing.T) {
	l := &Credits{counted: true, slots: newSlots(8, false, &payload.Bodies{Size: 64, RNG: rand.NewChaCha8([32]byte{}), Lanes: 1})}
	for _, measured := range []bool{false, true, false} {
		sl := l.slots.take()
		sl.Sent = 100
		sl.Measured.Store(measured)
		sl.state.Store(slotBorrowed)
	}
	if l.Expire(101); l.TimedOut.Load() != 1 || l.InFlight.Load() != -3 {
		t.Errorf("%d have timed out, %d are in flight", l.TimedOut.Load(), l.InFlight.Load())
	}
}
