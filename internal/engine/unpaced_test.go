package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/clock"
	"sixnines/result"
)

// rounds is a driver that acknowledges nothing, and whose round trips fail from the
// second on.
type rounds struct {
	stuck
	n atomic.Int64
}

func (d *rounds) Open(context.Context, driver.Target) (driver.Session, error) { return d, nil }
func (d *rounds) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &rounder{of: d, acks: a}, nil
}

type rounder struct {
	closer
	of   *rounds
	acks driver.Acks
}

func (p *rounder) Send(token uint64, _ []byte) error {
	p.acks.Done(token, nil)
	return nil
}

func (p *rounder) Sync(context.Context) error {
	if p.of.n.Add(1) > 2 { // that behind the first messages, and that behind the warm-up
		return driver.ErrNotConnected
	}
	return nil
}

// If the round trip after the last message fails, the clock stops with the sends, and
// not with the round trip after the warm-up.
func TestFloodWithoutItsRoundTrip(t *testing.T) {
	const window = 100 * time.Millisecond
	r := measureReally(t, "phases: {warmup: 20ms, duration: 100ms, drain: 1s}\nworkload: {rate: max, pattern: publish}",
		driver.Entry{Name: "rounds", Driver: &rounds{}, Capabilities: driver.Capabilities{Ack: driver.AckKindNone}})
	if x := r.Summary.Throughput; x.Elapsed < window/2 || x.Until != "the last send returned" {
		t.Errorf("%d messages in %v, until %s", x.Messages, x.Elapsed, x.Until)
	}
}

// The senders' own rate is reported apart from the rate of what gets through. Senders are done
// with the last acknowledgement or, without acknowledgements, when they have handed over the
// last message.
func TestFloodTellsTheSendersRate(t *testing.T) {
	// 100 messages are handed over in far less than the fifth of a second that something takes.
	for options, early := range map[string]bool{
		"ack: none, delay: 200ms":       true,
		"ack: broker, delay: 200ms":     true,
		"ack: broker, ack_delay: 200ms": false,
	} {
		r := measureReally(t, "target: {driver: mem, options: {"+options+"}}\nphases: {warmup: 0s}\nworkload: {rate: max, messages: 100}", mem.Entry())
		x := r.Summary.Throughput
		if x == nil || x.Received != 100 {
			t.Fatalf("%s: %+v", options, x)
		}
		if is := x.SentPerSecond > 2*x.PerSecond; is != early || x.SentPerSecond < x.PerSecond {
			t.Errorf("%s: the sender has %v a second, and %v get through", options, x.SentPerSecond, x.PerSecond)
		}
	}
}

// Consumers that still have messages of the warm-up when the window begins receive fewer of the
// window: those of the warm-up are counted, and the run is suspect. Those received before the
// window are not counted.
func TestFloodTellsWhatTheWarmUpLeft(t *testing.T) {
	for _, tt := range []struct {
		phases, limit string
		left          bool
	}{
		{"{warmup: 100ms, duration: 100ms, drain: 200ms}", "", true},
		{"{warmup: 0s, duration: 100ms, drain: 200ms}", "", false},
		{"{warmup: 100ms, duration: 100ms, drain: 10s}", "in_flight: {each: 50}, ", false},
	} {
		r := measure(t, "target: {driver: mem, options: {queue: 3000}}\nphases: "+tt.phases+"\nworkload: {rate: max, "+tt.limit+"consumer: {work: 1ms}}", mem.Entry(), "")
		x := r.Summary.Throughput
		i := slices.IndexFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == "warm-up-left" })
		if left := x.WarmUp > 0; left != tt.left || left != (i >= 0) {
			t.Errorf("%s %s: %+v, %+v", tt.phases, tt.limit, x, r.Summary.Verdict)
		}
	}
}

// The clock of an unpaced load that is over before the other workloads stops with a round trip of
// its own.
func TestFloodBesideALongerLoad(t *testing.T) {
	t.Parallel()
	const window = time.Second
	r := measureReally(t, `
target: {driver: mem, options: {ack: none}}
phases: {warmup: 0s, duration: 1s}
workloads:
  events: {rate: 200/s}
  bulk: {rate: max, pattern: publish, for: 100ms}
`, mem.Entry())
	for _, w := range r.Workloads {
		if x := w.Summary.Throughput; w.Header.Workload == "bulk" && (x == nil || x.Elapsed > window/2) {
			t.Errorf("an unpaced load of 100ms has %+v", x)
		}
	}
}

// hanging is a driver whose producer's tenth send does not return before its connection is
// closed.
type hanging struct {
	stuck
	peer string
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (d *hanging) Open(_ context.Context, t driver.Target) (driver.Session, error) {
	d.dial = t.Dial
	return d, nil
}

func (d *hanging) Producer(ctx context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	c, err := d.dial(ctx, "tcp", d.peer)
	return &hanger{conn: c, acks: a}, err
}

type hanger struct {
	closer
	conn net.Conn
	acks driver.Acks
	n    int
}

func (p *hanger) Send(token uint64, _ []byte) error {
	if p.n++; p.n > 10 { // the first is no part of the load
		if _, err := p.conn.Read(make([]byte, 1)); err != nil {
			return fmt.Errorf("hanging: send: %w: %w", driver.ErrNotConnected, err)
		}
	}
	p.acks.Done(token, nil)
	return nil
}

// An unpaced load with a send that hangs ends by itself, in the window and in the warm-up.
func TestFloodEndsThoughASendHangs(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // connections are made, and nothing is answered
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	abort := make(chan struct{})
	late := time.AfterFunc(30*time.Second, func() { close(abort) })
	defer late.Stop()
	run := func(warmup string) (*result.Run, error) {
		return Run(t.Context(), Config{Abort: abort, Scenario: parse(t, "phases: {warmup: "+warmup+", duration: 1s, drain: 50ms}\nworkload: {rate: max, pattern: publish}"),
			Entry: driver.Entry{Name: "hanging", Driver: &hanging{peer: l.Addr().String()}, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}})
	}
	r, err := run("0s")
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Counters; c.Acked != 9 || c.Rejected != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := run("50ms"); !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("a warm-up that hangs: %v", err)
	}
}

// quitter acknowledges for a while, and then answers no more, or refuses.
type quitter struct {
	stuck
	after   time.Duration
	refuses bool
	began   atomic.Int64
}

func (d *quitter) Open(context.Context, driver.Target) (driver.Session, error) { return d, nil }
func (d *quitter) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &quitting{of: d, acks: a}, nil
}

type quitting struct {
	closer
	of   *quitter
	acks driver.Acks
}

func (p *quitting) Send(token uint64, _ []byte) error {
	now := clock.Now()
	p.of.began.CompareAndSwap(0, now)
	switch {
	case now-p.of.began.Load() < int64(p.of.after):
		time.Sleep(time.Millisecond)
		p.acks.Done(token, nil)
	case p.of.refuses:
		time.Sleep(time.Millisecond)
		p.acks.Done(token, driver.ErrRejected)
	}
	return nil
}

// A broker that takes no more messages does not stop the clock: its rate is over the whole window.
func TestFloodOfABrokerThatStops(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		r := measure(t, "phases: {warmup: 0s, duration: 1s, drain: 200ms}\nworkload: {rate: max, pattern: publish, in_flight: {each: 1}}",
			driver.Entry{Name: "quitter", Driver: &quitter{after: 100 * time.Millisecond, refuses: refuses},
				Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}, "")
		x := r.Summary.Throughput
		if most := float64(r.Counters.Acked) / 0.9; x.PerSecond > most || x.SentPerSecond > most || x.Until != "the end of the window" {
			t.Errorf("refuses %v: %d acknowledged in 1 s: %.0f/s and %.0f/s until %s", refuses, r.Counters.Acked, x.PerSecond, x.SentPerSecond, x.Until)
		}
	}
}

// serial acknowledges one message after the other, each so long after the one before.
type serial struct {
	stuck
	each time.Duration
}

func (d *serial) Open(context.Context, driver.Target) (driver.Session, error) { return d, nil }
func (d *serial) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	p := &serially{tokens: make(chan uint64, 1<<17), closed: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for {
			select {
			case <-p.closed:
				return
			case token := <-p.tokens:
				time.Sleep(d.each)
				a.Done(token, nil)
			}
		}
	}()
	return p, nil
}

type serially struct {
	tokens       chan uint64
	closed, done chan struct{}
}

func (p *serially) Send(token uint64, _ []byte) error { p.tokens <- token; return nil }
func (p *serially) Close(context.Context) error {
	close(p.closed)
	<-p.done
	return nil
}

// Acknowledgements of the warm-up that come in the window take from the window's time.
func TestFloodTellsWhatTheWarmUpLeftUnacknowledged(t *testing.T) {
	r := measure(t, "phases: {warmup: 100ms, duration: 300ms, drain: 200ms}\nworkload: {rate: max, pattern: publish, timeout: 30s, in_flight: {messages: 5000}}",
		driver.Entry{Name: "serial", Driver: &serial{each: 200 * time.Microsecond}, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}, "")
	told := slices.ContainsFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == "warm-up-left" })
	if r.Summary.Throughput.WarmUp == 0 || !told {
		t.Errorf("%+v, %+v", r.Summary.Throughput, r.Summary.Verdict)
	}
}

// Messages of the warm-up that consumers received before the window do not count as left to it,
// though another load's warm-up comes in between.
func TestFloodBesideAPacedWarmUp(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {queue: 1048576}}
phases: {warmup: 1s, duration: 300ms, drain: 50ms}
workloads:
  bulk: {rate: max, in_flight: {messages: 150}, consumer: {work: 1ms}}
  events: {rate: 200/s}
`, mem.Entry(), "")
	for _, w := range r.Workloads {
		if w.Header.Workload == "bulk" && w.Summary.Throughput.WarmUp > 0 {
			t.Errorf("%d deliveries of the warm-up in the window, and none was left", w.Summary.Throughput.WarmUp)
		}
	}
}
