package send

import (
	"fmt"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/window"
	"sixnines/internal/transport"
)

// lingering is a producer that looks for what timed out before Send returns, as the
// collector does beside a send that blocks, and then refuses the message; or keeps it.
type lingering struct {
	idle
	lane *lane
	err  error
}

// A message that timed out while Send blocked, and that Send then refuses, gives its
// credit back once: otherwise a producer that waits for each answer would have two
// messages in flight for the rest of the run.
func TestRefusedAfterItsTimeoutGivesOnePlaceBack(t *testing.T) {
	ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, flow.OnAck)
	l := ld.sending.Lanes[0]
	ld.sending.Streams[0].Producer = &lingering{lane: l, err: driver.ErrNotConnected}
	p := &Pacer{sending: ld.sending, control: ld.Control, queue: laneQueue{l}}
	for n := int64(1); n <= 3; n++ {
		if !l.takeCredit(clock.Now()) {
			t.Fatal("no place though none is taken")
		}
		l.cursor.intended = clock.Now()
		p.send(l)
		if in, out, refused := l.Credits.InFlight.Load(), l.Credits.TimedOut.Load(), l.Rejected.Load(); in != 0 || out != n || refused != n {
			t.Fatalf("%d in flight, %d timed out and %d refused after %d messages", in, out, refused, n)
		}
	}
}

// A first message has no credit, and gives none back if its acknowledgement takes long.
func TestProbesTakeNoPlace(t *testing.T) {
	ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, flow.OnAck)
	l, st := ld.sending.Lanes[0], ld.sending.Streams[0]
	st.Producer = &lingering{lane: l}
	if err := ld.sending.SendReadiness(st); err != nil {
		t.Fatal(err)
	}
	if in, out := l.Credits.InFlight.Load(), l.Credits.TimedOut.Load(); in != 0 || out != 0 {
		t.Errorf("%d in flight, %d timed out", in, out)
	}
}

// A pacer looks again for a credit once soon, and after that when one is free: a pacer that went
// on looking would take the processor from what frees it.
func TestPlaceThatBecomesFreeIsTold(t *testing.T) {
	if !clock.CanWake {
		t.Skip("nobody can be woken here")
	}
	for each, polls := range map[int64]int{1: 0, 2: 1} { // with one place there is nothing to gather
		ld := lanesRunOf(t, fmt.Sprintf("{rate: 1000/s, pattern: publish, in_flight: {each: %d}}", each), driver.AckKindBroker, flow.OnAck)
		l := ld.sending.Lanes[0]
		p := &Pacer{sending: ld.sending, control: ld.Control, queue: laneQueue{l}}
		from := clock.Now()
		l.Credits.InFlight.Store(each)
		for n := range polls + 3 {
			now := clock.Now()
			if l.takeCredit(now) {
				t.Fatal("a place though none is free")
			}
			if p.await(l); (l.key-now < creditWait) != (n < polls) {
				t.Errorf("of %d places, after look %d: the next is %d ns later", each, n+1, l.key-now)
			}
		}
		l.Credits.InFlight.Add(-1)
		l.Credits.Free.Freed()
		told := clock.Now()
		if !p.sleeper.Woken() {
			t.Fatal("a place is free, and the pacer not woken")
		}
		if p.creditsFreed(); l.key > told {
			t.Errorf("the lane is looked at %d ns after it was told", l.key-told)
		}
		late := told + int64(time.Second)
		if !l.takeCredit(late) {
			t.Fatal("no place though one is free")
		}
		if blocked := l.blocked.within(from, late); blocked > told+creditPoll-from {
			t.Errorf("%d ns are blocked, and the place was free after %d", blocked, told-from)
		}
		if l.Credits.Free.Freed(); p.sleeper.Woken() {
			t.Error("woken for a place that nobody waits for")
		}
	}
}

// The answer that frees a credit may have lain unread in this machine: for that long the sender
// waited for the generator alone.
func TestUnreadAnswerIsOwn(t *testing.T) {
	if !clock.CanWake {
		t.Skip("nobody can be woken here")
	}
	const ms = int64(time.Millisecond)
	for lay, least := range map[int64]int64{15 * ms: 15 * ms, ms / 2: 0} {
		ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, flow.OnAck)
		l := ld.sending.Lanes[0]
		p := &Pacer{sending: ld.sending, control: ld.Control, queue: laneQueue{l}}
		l.Credits.InFlight.Store(1)
		from := clock.Now()
		if l.takeCredit(from) {
			t.Fatal("a place though none is free")
		}
		p.await(l)
		clock.SleepUntilBlocking(from + 20*ms)
		l.Credits.InFlight.Add(-1)
		now := clock.Now()
		tap := &observe.Tap{Conn: &transport.Conn{}}
		tap.HasRead(now, lay)
		l.Credits.Free.FreedBy(now, tap)
		freed := clock.Now()
		if !l.takeCredit(freed) {
			t.Fatal("no place though one is free")
		}
		if got := l.blocked.within(from, freed); got > freed-least+creditPoll-from || least == 0 && got < now-from {
			t.Errorf("%d of %d ns are blocked, and the answer lay here for %d", got, now-from, lay)
		}
	}
}

// A lane that gets no credit back sends nothing more, and its unpaced loop ends with the window.
func TestFloodEndsWithoutAPlace(t *testing.T) {
	ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, flow.OnAck)
	l := ld.sending.Lanes[0]
	ld.sending.Streams[0].Producer = unanswering{}
	ld.End.Store(clock.Now() + int64(20*time.Millisecond))
	late := time.AfterFunc(10*time.Second, ld.StopAll)
	defer late.Stop()
	l.sendUnpaced(&window.Quota{}, true)
	if ld.Stopped.Load() {
		t.Error("the loop waited for a credit until the run was stopped")
	}
	if n := l.Streams[0].Sent.Load(); n != 1 {
		t.Errorf("%d messages were sent, and one has a place", n)
	}
}

// unanswering takes messages and never answers.
type unanswering struct{ idle }

func (unanswering) Send(uint64, []byte) error { return nil }

func (p *lingering) Send(uint64, []byte) error {
	p.lane.Credits.Expire(clock.Now() + 1)
	return p.err
}
