package engine

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/clock"
)

// lingering is a producer that looks for what timed out before Send returns, as the
// collector does beside a send that blocks, and then refuses the message; or keeps it.
type lingering struct {
	closer
	lane *lane
	err  error
}

func (p *lingering) Send(uint64, []byte) error {
	p.lane.expire(clock.Now() + 1)
	return p.err
}

// A message that timed out while Send blocked, and that Send then refuses, gives its
// place in flight back once: else a producer that waits for each answer would have two
// messages in flight for the rest of the run.
func TestRefusedAfterItsTimeoutGivesOnePlaceBack(t *testing.T) {
	ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, closeOnAck)
	l := ld.sending.lanes[0]
	ld.sending.streams[0].producer = &lingering{lane: l, err: driver.ErrNotConnected}
	p := &pacer{sending: ld.sending, control: ld.control, queue: laneQueue{l}}
	for n := int64(1); n <= 3; n++ {
		if !l.takePlace(clock.Now()) {
			t.Fatal("no place though none is taken")
		}
		l.cursor.intended = clock.Now()
		p.send(l)
		if in, out, refused := l.inFlight.Load(), l.timedOut.Load(), l.rejected.Load(); in != 0 || out != n || refused != n {
			t.Fatalf("%d in flight, %d timed out and %d refused after %d messages", in, out, refused, n)
		}
	}
}

// A probe has no place in flight, and loses none if its acknowledgement takes long.
func TestProbesTakeNoPlace(t *testing.T) {
	ld := lanesRunOf(t, "{rate: 1000/s, pattern: publish, in_flight: {each: 1}}", driver.AckKindBroker, closeOnAck)
	l, st := ld.sending.lanes[0], ld.sending.streams[0]
	st.producer = &lingering{lane: l}
	if err := ld.sending.sendProbe(st); err != nil {
		t.Fatal(err)
	}
	if in, out := l.inFlight.Load(), l.timedOut.Load(); in != 0 || out != 0 {
		t.Errorf("%d in flight, %d timed out", in, out)
	}
}

// Of a producer that waits for each answer there are payloads for two messages, and the
// first may take its time.
func TestFirstMessageMayTakeLong(t *testing.T) {
	r := measure(t, `
phases: {warmup: 0s, duration: 300ms}
target: {driver: mem, options: {ack: broker, delay: 100ms, ack_delay: 100ms}}
workload: {rate: 20/s, in_flight: {each: 1}}
`, mem.Entry(), "")
	if c := r.Counters; c.Sent == 0 || c.Missing != 0 {
		t.Errorf("%+v", c)
	}
}
