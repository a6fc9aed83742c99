package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/window"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/result"
)

// lanesRun returns a load of several lanes, in the window, that sends to a loopback and
// of which nothing comes back.
func lanesRun(t *testing.T, workload string) *load {
	t.Helper()
	return lanesRunOf(t, workload, driver.AckKindNone, flow.Never)
}

// lanesRunOf is lanesRun with what acknowledges and what ends the time in flight.
func lanesRunOf(t *testing.T, workload string, ack driver.AckKind, closes flow.End) *load {
	t.Helper()
	ld, err := newLoadOf(Config{Scenario: parse(t, "phases: {duration: 1h}\nworkload: "+workload),
		Entry: driver.Entry{Name: "loopback"}})
	if err != nil {
		t.Fatal(err)
	}
	ld.Flow = flow.Of(ld.Workload, ack)
	ld.Flow.Closes = closes
	ld.session.Main = fakeSession{}
	ld.session.Dialers = []*transport.Dialer{transport.NewDialer(true)}
	if err := ld.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	ld.Start.Store(clock.Now())
	ld.End.Store(ld.Start.Load() + int64(time.Hour))
	ld.sending.turn = make([]int, ld.Workload.Producers)
	for i, l := range ld.sending.lanes {
		for q := i; q < ld.Workload.Producers; q += len(ld.sending.lanes) {
			l.cursor.producers = append(l.cursor.producers, q)
		}
		l.enter(schedule.Window)
		l.advance()
		l.key = l.cursor.intended
	}
	return ld
}

// A takeover takes the lanes as they are in their schedules, and so is as cheap
// after an hour as at the start.
func TestTakeoverKeepsCursors(t *testing.T) {
	ld := lanesRun(t, "{rate: 50000/s, arrivals: poisson, pattern: publish, producers: 4, size: 64B}")
	for _, l := range ld.sending.lanes {
		for range 200_000 {
			l.advance()
		}
	}
	var want []int64
	for _, l := range ld.sending.lanes {
		want = append(want, l.cursor.intended)
	}
	ld.Stopped.Store(true) // the spare pacer's thread ends at once
	p := &pacer{sending: ld.sending, control: ld.Control, queue: slices.Clone(ld.sending.lanes), current: ld.sending.lanes[2]}
	messages := map[*lane]*schedule.Merged{}
	for _, l := range ld.sending.lanes {
		messages[l] = l.cursor.messages
	}
	ld.sending.takeOver(p)
	ld.sending.senders.Wait()
	if len(p.queue) != 1 || p.queue[0] != ld.sending.lanes[2] || len(ld.sending.pacing.list()) != 1 || len(ld.sending.pacing.list()[0].queue) != 3 {
		t.Fatalf("%d lanes stayed", len(p.queue))
	}
	for i, l := range ld.sending.lanes {
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
	p := &pacer{sending: ld.sending, control: ld.Control, queue: slices.Clone(ld.sending.lanes)}
	now := clock.Now()
	for i, l := range ld.sending.lanes {
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
	for i, l := range ld.sending.lanes {
		if served[l] == 0 {
			t.Errorf("lane %d had no turn", i)
		}
		if n := l.streams[0].Next; n > 3*atOnce {
			t.Errorf("lane %d sent %d messages in its turns", i, n)
		}
	}
}

// written counts the writes that reach a socket.
type written struct{ atomic.Int64 }

func (w *written) Writing()             { w.Add(1) }
func (w *written) HasRead(int64, int64) {}

// connProducer writes each message to a connection by itself.
type connProducer struct {
	closer
	conn net.Conn
	acks driver.Acks
}

func (p *connProducer) Send(token uint64, payload []byte) error {
	_, err := p.conn.Write(payload)
	p.acks.Done(token, nil)
	return err
}

// What is overdue is sent by few system calls, whatever the client is; what is in
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
	c, err := ld.session.Dialers[0].Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	lane := ld.sending.lanes[0]
	lane.conn = c.(*transport.Conn)
	var w written
	lane.conn.Observe(&w)
	lane.gap = 100_000
	ld.sending.streams[0].Producer = &connProducer{conn: c, acks: lane.acks}
	p := &pacer{sending: ld.sending, control: ld.Control, queue: laneQueue{lane}}
	const overdue = 6400
	ld.Start.Store(clock.Now() - overdue*100_000)
	lane.enter(schedule.Window)
	lane.advance()
	for lane.streams[0].Next < overdue {
		p.serve(lane)
	}
	sent := lane.streams[0].Next
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

// slowSend delays the thread in each of some sends: by work, or by waiting for
// something else.
type slowSend struct {
	stuck
	works bool
}

func (s *slowSend) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *slowSend) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &slowSender{owner: s, acks: a}, nil
}

type slowSender struct {
	closer
	owner *slowSend
	acks  driver.Acks
	n     int
}

func (p *slowSender) Send(token uint64, _ []byte) error {
	if p.n++; p.n%100 == 0 {
		until := clock.Now() + int64(p.owner.Duration)
		if !p.owner.works {
			clock.SleepUntilBlocking(until)
		}
		for clock.Now() < until {
		}
	}
	p.acks.Done(token, nil)
	return nil
}

// Of a send that takes long, only the time counts as blocked in which the thread neither
// ran nor waited for a processor.
func TestBlockedIsWaitingForOthers(t *testing.T) {
	judgesFigures(t)
	share := func(works bool) float64 {
		d := &slowSend{works: works}
		d.Duration = 40 * time.Millisecond
		r := measureReally(t, "phases: {warmup: 100ms, duration: 1s}\nworkload: {pattern: publish, rate: 1000/s}",
			driver.Entry{Name: "slow", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}})
		_, blocked := total(r.Metrics[result.LagBlocked])
		_, own := total(r.Metrics[result.LagOwn])
		return blocked / (blocked + own)
	}
	var off string
	for range 4 { // a busy machine makes the generator late by itself
		works, waits := share(true), share(false)
		if off = fmt.Sprintf("of the lag %.2f is blocked where the send works, and %.2f where it waits", works, waits); works < 0.3 && waits > 0.7 {
			return
		}
		t.Log(off)
	}
	t.Error(off)
}

// silent acknowledges nothing on one connection for a while.
type silent struct{ stuck }

func (s *silent) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *silent) Producer(_ context.Context, p driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &silentProducer{owner: s, acks: a, silent: p.Conn == s.conn}, nil
}

type silentProducer struct {
	closer
	owner  *silent
	acks   driver.Acks
	silent bool
	n      int
	held   []uint64
}

func (p *silentProducer) Send(token uint64, _ []byte) error {
	p.n++
	if p.silent && p.n >= p.owner.after {
		if p.held = append(p.held, token); len(p.held) == 1 {
			time.AfterFunc(p.owner.Duration, func() { p.acks.Done(token, nil) })
			return nil
		}
	}
	p.acks.Done(token, nil)
	return nil
}

// A connection that may have no more in flight leaves the others of its pacer
// alone: no other messages are late.
func TestFullConnectionDoesNotHoldUpOthers(t *testing.T) {
	const stall = 400 * time.Millisecond
	d := &silent{stuck: stuck{conn: 2, after: 60, Duration: stall}}
	r := measureConfig(t, Config{Pacers: 1, Scenario: parse(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {pattern: publish, rate: 1000/s, producers: 4, in_flight: {messages: 4}}"),
		Entry: driver.Entry{Name: "silent", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}})
	if c := r.Counters; c.Sent != 2000 || c.Acked != 2000 {
		t.Fatalf("%+v", c)
	}
	late := int64(0)
	for v := range buckets(r.Metrics[result.PublishResponse]) {
		if v.value > int64(stall)/4 {
			late += v.count
		}
	}
	// 100 messages come due on the full connection meanwhile.
	if due := int64(stall.Seconds() * 250 * 3 / 4); late != due {
		t.Errorf("%d messages waited for more than a quarter of the stall, and %d were due on the full connection then\n%s", late, due, show(r))
	}
	if blocked := r.Summary.Histograms[result.LagBlocked]; blocked == nil || blocked.Max < int64(stall)*9/10 {
		t.Error("the wait for a place is not blocked")
	}
}

// A pacer that looks late for a place, since it had no processor or another lane
// had it, calls no more blocked than was.
func TestLateLookForAPlaceIsOwn(t *testing.T) {
	ld := lanesRun(t, "{rate: 1000/s, pattern: publish, size: 64B}")
	l := ld.sending.lanes[0]
	l.credits.Limit = 1
	l.credits.InFlight.Store(1)
	from := clock.Now()
	for i := range int64(3) {
		if l.takeCredit(from + i*creditPoll) {
			t.Fatal("a place though all are taken")
		}
	}
	l.credits.InFlight.Store(0)
	late := from + int64(50*time.Millisecond)
	if !l.takeCredit(late) {
		t.Fatal("no place though all are free")
	}
	if blocked := l.blocked.within(from, late); blocked != 3*creditPoll {
		t.Errorf("blocked for %v, of which %v is known", time.Duration(blocked), time.Duration(3*creditPoll))
	}
}

// The time that bytes are unread in this machine is the receiving side's own lag, in its
// histogram, its stage and its share of the percentiles, and not the broker's.
func TestReceiveLagIsTheGenerators(t *testing.T) {
	judgesFigures(t)
	if !stampsReceived(t) {
		t.Skip("the system gives no receive time stamps")
	}
	// Ten at a time, each of which keeps the reader for 3 ms.
	d := &relay{callback: 3 * time.Millisecond}
	r, _ := staged(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {arrivals: {kind: burst, count: 10, period: 100ms}, size: 64B}", Config{Entry: startRelay(t, d), URL: "relay"})
	lag, whole := r.Summary.Histograms[result.LagReceive], r.Summary.Histograms[result.DeliveryResponse]
	if lag == nil || lag.Count < whole.Count*9/10 {
		t.Fatalf("of %d deliveries the receive lag is known of %+v", whole.Count, lag)
	}
	// The tenth waits for nine.
	if lag.Max < int64(20*time.Millisecond) || lag.Max > whole.Max {
		t.Errorf("at most %v of %v", time.Duration(lag.Max), time.Duration(whole.Max))
	}
	if s := whole.ReceiveShare["90"]; s < 0.5 {
		t.Errorf("a share of %.2f of p90: %s", s, show(r))
	}
	stage := r.Summary.Histograms[result.StageReceive]
	if stage == nil || stage.Max < int64(10*time.Millisecond) {
		t.Errorf("the stage says %+v", stage)
	}
	if f := factOf(r, "receive lag"); f.Value != "known" {
		t.Errorf("%+v", f)
	}
}

// stampsReceived reports whether connections tell how long bytes were unread.
func stampsReceived(t *testing.T) bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := transport.NewDialer(true).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.(*transport.Conn).Stamped()
}

// The busiest pacer's share is that of its thread.
func TestPacerBusy(t *testing.T) {
	judgesFigures(t)
	busy := func(rate string) float64 {
		d := &slowSend{works: true}
		d.Duration = 4 * time.Millisecond // at each hundredth message
		r := measureReally(t, "phases: {warmup: 100ms, duration: 1s}\nworkload: {pattern: publish, rate: "+rate+"}",
			driver.Entry{Name: "slow", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}})
		var shares []float64 // of single intervals, in some of which others have the processors
		for _, p := range r.Series {
			if v, ok := p.Vitals[vitalPacerBusy]; ok && p.Phase == result.PhaseMeasure {
				shares = append(shares, v)
			}
		}
		if len(shares) == 0 {
			t.Fatal("no interval says how busy the pacers were")
		}
		slices.Sort(shares)
		return shares[len(shares)/2]
	}
	// 0.4 of a thread against a hundredth of that.
	if idle, full := busy("100/s"), busy("10000/s"); full < 0.3 || full > 1 || idle > full/2 {
		t.Errorf("%.2f and %.2f", idle, full)
	}
}
