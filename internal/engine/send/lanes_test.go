package send

import (
	"context"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// A takeover takes the lanes as they are in their schedules, and so is as cheap
// after an hour as at the start.
func TestTakeoverKeepsCursors(t *testing.T) {
	ld := lanesRun(t, "{rate: 50000/s, arrivals: poisson, pattern: publish, producers: 4, size: 64B}")
	for _, l := range ld.sending.Lanes {
		for range 200_000 {
			l.advance()
		}
	}
	var want []int64
	for _, l := range ld.sending.Lanes {
		want = append(want, l.cursor.intended)
	}
	ld.Stopped.Store(true) // the spare pacer's thread ends at once
	p := &Pacer{sending: ld.sending, control: ld.Control, queue: slices.Clone(ld.sending.Lanes), current: ld.sending.Lanes[2]}
	messages := map[*lane]*schedule.Merged{}
	for _, l := range ld.sending.Lanes {
		messages[l] = l.cursor.messages
	}
	ld.sending.takeOver(p)
	ld.sending.Senders.Wait()
	if len(p.queue) != 1 || p.queue[0] != ld.sending.Lanes[2] || len(ld.sending.Pacing.List()) != 1 || len(ld.sending.Pacing.List()[0].queue) != 3 {
		t.Fatalf("%d lanes stayed", len(p.queue))
	}
	for i, l := range ld.sending.Lanes {
		if l.cursor.intended != want[i] || l.cursor.messages != messages[l] {
			t.Errorf("lane %d is elsewhere in its schedule", i)
		}
		if n := l.blocked.within(0, window.Never); n != 0 {
			t.Errorf("lane %d: %d ns of its wait for another connection are called blocked", i, n)
		}
	}
}

// Lanes that are far behind do not starve those that are in time.
func TestLanesBehindTakeTurns(t *testing.T) {
	ld := lanesRun(t, "{rate: 3000/s, pattern: publish, producers: 3, size: 64B}")
	p := &Pacer{sending: ld.sending, control: ld.Control, queue: slices.Clone(ld.sending.Lanes)}
	now := clock.Now()
	for i, l := range ld.sending.Lanes {
		l.gap = 1_000_000
		if i < 2 {
			l.cursor.intended = now - int64(10*time.Second) // and so are all that follow
			ld.Start.Store(now - int64(10*time.Second))
		} else {
			l.cursor.intended = now
		}
		l.key = l.cursor.intended
	}
	p.queue.order()
	served := map[*lane]int{}
	for range 6 {
		l := p.queue.first()
		served[l]++
		p.serve(l)
		p.queue.sink(0)
	}
	for i, l := range ld.sending.Lanes {
		if served[l] == 0 {
			t.Errorf("lane %d had no turn", i)
		}
		if n := l.Streams[0].Next; n > 3*atOnce {
			t.Errorf("lane %d sent %d messages in its turns", i, n)
		}
	}
}

// connProducer writes each message to a connection by itself.
type connProducer struct {
	idle
	conn net.Conn
	acks driver.Acks
}

// Overdue messages are sent by few system calls, whatever the client is; a message that is in
// time is sent by itself.
func TestOverdueMessagesGoOutTogether(t *testing.T) {
	ld := lanesRun(t, "{rate: 10000/s, pattern: publish, size: 64B}")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan int64, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- 0
			return
		}
		n, _ := io.Copy(io.Discard, c)
		got <- n
	}()
	c, err := transport.NewDialer(true).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	lane := ld.sending.Lanes[0]
	lane.Conn = c.(*transport.Conn)
	var w written
	lane.Conn.Observe(&w)
	lane.gap = 100_000
	ld.sending.Streams[0].Producer = &connProducer{conn: c, acks: lane.Acks}
	p := &Pacer{sending: ld.sending, control: ld.Control, queue: laneQueue{lane}}
	const overdue = 6400
	ld.Start.Store(clock.Now() - overdue*100_000)
	lane.enter(schedule.Window)
	lane.advance()
	for lane.Streams[0].Next < overdue {
		p.serve(lane)
	}
	sent := lane.Streams[0].Next
	if n := w.Load(); n > int64(sent)/20 {
		t.Errorf("%d messages were overdue and took %d writes", sent, n)
	}
	before := w.Load()
	for range 5 {
		lane.cursor.intended = clock.Now()
		lane.takeCredit(clock.Now())
		p.send(lane)
		p.release(lane)
	}
	if n := w.Load() - before; n != 5 {
		t.Errorf("5 messages in time took %d writes", n)
	}
	c.Close()
	if n := <-got; n != int64(sent+5)*64 {
		t.Errorf("%d bytes arrived of %d messages", n, sent+5)
	}
}

// A pacer that looks late for a credit, since it had no processor or served another lane, counts no
// more time as blocked than the credit was missing.
func TestLateLookForAPlaceIsOwn(t *testing.T) {
	ld := lanesRun(t, "{rate: 1000/s, pattern: publish, size: 64B}")
	l := ld.sending.Lanes[0]
	l.Credits.Limit = 1
	l.Credits.InFlight.Store(1)
	from := clock.Now()
	for i := range int64(3) {
		if l.takeCredit(from + i*creditPoll) {
			t.Fatal("a place though all are taken")
		}
	}
	l.Credits.InFlight.Store(0)
	late := from + int64(50*time.Millisecond)
	if !l.takeCredit(late) {
		t.Fatal("no place though all are free")
	}
	if blocked := l.blocked.within(from, late); blocked != 3*creditPoll {
		t.Errorf("blocked for %v, of which %v is known", time.Duration(blocked), time.Duration(3*creditPoll))
	}
}

// written counts the writes that reach a socket.
type written struct{ atomic.Int64 }

func (w *written) Writing()             { w.Add(1) }
func (w *written) Reading()             {}
func (w *written) HasRead(int64, int64) {}

func (p *connProducer) Send(token uint64, payload []byte) error {
	_, err := p.conn.Write(payload)
	p.acks.Done(token, nil)
	return err
}

// loaded is a load whose lanes send to a client that takes all.
type loaded struct {
	*plan.Plan
	sending *Sending
}

// accepting is a client that takes each message, and is done with it at once.
type accepting struct {
	idle
	acks driver.Acks
}

func (p *accepting) Send(token uint64, _ []byte) error {
	p.acks.Done(token, nil)
	return nil
}

// idle is a client that needs no closing.
type idle struct{}

func (idle) Close(context.Context) error { return nil }

// lanesRun returns a load of several lanes, in the window, to which no answers come.
func lanesRun(t *testing.T, workload string) *loaded {
	t.Helper()
	return lanesRunOf(t, workload, driver.AckKindNone, flow.Never)
}

// lanesRunOf is lanesRun with what acknowledges and what ends the time in flight.
func lanesRunOf(t *testing.T, workload string, ack driver.AckKind, closes flow.End) *loaded {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte("phases: {duration: 1h}\nworkload: "+workload))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	c := plan.NewControl(plan.Settings{Entry: driver.Entry{Name: "loopback", Capabilities: driver.Capabilities{Ack: ack}}}, nil, func(result.Event) {})
	p, err := plan.New(c, scenario.Part{Scenario: s})
	if err != nil {
		t.Fatal(err)
	}
	p.Flow.Closes = closes
	rec := &observe.Recording{Plan: p}
	rec.PlanStages()
	rec.Rec, err = recorder.New(recorder.Config{Metrics: rec.Metrics(), Shards: 4, Digits: s.Record.Digits, Highest: time.Hour, Window: time.Hour, Breathe: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	ld := &loaded{p, NewSending(p, rec)}
	ld.sending.MakeLanes(p.LaneCount(), 0)
	for _, st := range ld.sending.Streams {
		st.Producer = &accepting{acks: ld.sending.LaneOf(st).Acks}
	}
	ld.Start.Store(clock.Now())
	ld.End.Store(ld.Start.Load() + int64(time.Hour))
	ld.sending.turn = make([]int, ld.Workload.Producers)
	for i, l := range ld.sending.Lanes {
		for q := i; q < ld.Workload.Producers; q += len(ld.sending.Lanes) {
			l.cursor.producers = append(l.cursor.producers, q)
		}
		l.enter(schedule.Window)
		l.advance()
		l.key = l.cursor.intended
	}
	return ld
}
