// Package prober measures beside a load: one producer and one consumer at a low rate, in a
// process of their own (package probe has its scenario and its process). It does as little
// as it can beside sending and receiving. It does not run the engine: it waits by timers,
// watches neither the process nor the machine, and writes no result. It reports
// service times, which a late wake-up does not change.
package prober

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/payload"
	"sixnines/internal/integrity"
	"sixnines/internal/probe"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

const (
	// openLimit bounds opening a session, setUpLimit all that comes before the first measured
	// message.
	openLimit  = 8 * time.Second
	setUpLimit = 30 * time.Second
	// answerLimit is how long the setup waits for the broker's answer to the first message, where
	// nothing is delivered.
	answerLimit = 2 * time.Second
	// cutAfter is how long a send may last after the end of the window before its connections are
	// closed, and then its session, which ends it.
	cutAfter = time.Second
	// closeLimit bounds disconnecting.
	closeLimit = 10 * time.Second
	// resolvedLook is how often the prober checks whether its last messages are resolved.
	resolvedLook = 2 * time.Millisecond
)

// Run runs the probe's scenario s until ctx ends or the scenario's window is over. When it begins to
// measure it calls report with an empty report, and then with that of each interval, from the calling
// goroutine. It returns an error where it could not set up, or could not disconnect.
func Run(ctx context.Context, s *scenario.Scenario, e driver.Entry, report func(probe.Report)) error {
	p, err := plan(s, e)
	if err != nil {
		return err
	}
	if err := p.setUp(ctx); err != nil {
		_ = p.close() // the error that stopped the setup is the one to return
		return err
	}
	p.measure(ctx, report)
	return p.close()
}

// prober is the probe in its own process. Three kinds of goroutine share it: Run's, which sets up,
// reports and closes; one that sends in the window; and the client's, which call Done, deliver and
// notify.
type prober struct {
	// Fixed by plan. Any goroutine reads.
	scenario *scenario.Scenario
	workload *scenario.Workload
	entry    driver.Entry
	schedule *schedule.Plan
	sizes    *schedule.Sizes // nil: all payloads are alike
	run      uint32          // in every envelope; not 0
	replies  bool            // deliveries are replies
	publish  bool            // nothing is delivered: acknowledgements are timed

	// Set by Run's goroutine in the setup, before the first message.
	dialer     *transport.Dialer // of both sessions
	main       driver.Session    // of producer and consumer
	responders driver.Session    // nil: replies are not timed
	provided   bool              // Provision has succeeded
	acks       driver.AckKind
	producer   driver.Producer
	flusher    driver.Flusher // the producer, if it buffers; nil: it does not
	consumers  []driver.Consumer

	// start and end of the window, CLOCK_MONOTONIC; 0: not known yet. Run's goroutine stores, end first.
	start, end atomic.Int64
	stop       chan struct{}           // closed by Run's goroutine after the last message to send
	refused    context.CancelCauseFunc // ends the setup with an error; safe for concurrent use
	answered   atomic.Bool             // the broker has acknowledged a first message
	seen       atomic.Bool             // a first message was delivered
	messages   []message               // by token
	free       chan uint32             // indices of messages that the client does not have; it has room for all
	next       uint64                  // sequence number of the next message; of the goroutine that sends

	// mu guards what follows: it is counted by the sender and on the client's goroutines, and read by
	// the one that reports. At some ten messages a second they do not wait for each other.
	mu       sync.Mutex
	received *integrity.Ledger // sequence numbers of deliveries in the window
	total    tally             // so far
	reported tally             // total, as of the last report
	values   []int64           // service times since then, ns
}

// tally counts messages of the window.
type tally struct {
	sent     int64
	resolved int64 // delivered, or acknowledged where nothing is delivered
	failed   int64 // refused, or given up by the client
}

// message is the payload of a message that the client has until Done. A goroutine that takes its
// index from free owns it, and writes measured and sent before Send; Done reads them, and gives the
// index back to free. So no lock is needed.
type message struct {
	payload  []byte      // of the largest size; the body is written once
	sum      uint32      // of the body, where all payloads are alike
	sums     []uint32    // by class of size, where they are not
	borrowed atomic.Bool // the client has it; of two calls of Done only the one that resets it counts
	measured bool        // it belongs to the window
	sent     int64       // when it was handed to the client, CLOCK_MONOTONIC
}

// plan makes what can be made before anything is connected: it reads files only.
func plan(s *scenario.Scenario, e driver.Entry) (*prober, error) {
	w := &s.Workload
	p := &prober{scenario: s, workload: w, entry: e, sizes: schedule.NewSizes(w.Size, s.Seed), run: rand.Uint32() | 1,
		replies: w.Pattern == scenario.RequestReply, publish: w.Pattern == scenario.Publish,
		stop: make(chan struct{}), received: integrity.NewLedger(0), refused: func(error) {}}
	var err error
	if p.schedule, err = schedule.New(w, s.Phases.Duration, s.Seed); err != nil {
		return nil, err
	}
	material, err := payload.Load(w.Payload)
	if err != nil {
		return nil, err
	}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], s.Seed)
	bodies := payload.Bodies{Size: int(w.Size.Largest()), Payload: w.Payload, Material: material, Sizes: p.sizes, RNG: rand.NewChaCha8(seed), Lanes: 1}
	n := w.Limit()
	if bytes := int(w.InFlight.Bytes / w.Size.Largest()); bytes > 0 {
		n = min(n, bytes)
	}
	p.messages, p.free = make([]message, max(1, n)), make(chan uint32, max(1, n))
	for i := range p.messages {
		m := &p.messages[i]
		m.payload = make([]byte, w.Size.Largest())
		bodies.Fill(m.payload[integrity.EnvelopeSize:], i)
		m.sum, m.sums = integrity.BodySum(m.payload), bodies.Sums(m.payload)
		p.free <- uint32(i)
	}
	return p, nil
}

// measure sends until the end of the window or of ctx, and reports interval by interval. Then it waits
// for what is unresolved, for the drain limit at most.
func (p *prober) measure(ctx context.Context, report func(probe.Report)) {
	report(probe.Report{})
	start := clock.Now()
	p.end.Store(start + int64(p.scenario.Phases.Duration))
	p.start.Store(start)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		p.send(start)
	}()
	interval := p.scenario.Record.Interval
	from, over := start, false
	for next := start + int64(interval); !over; next += int64(interval) {
		timer := time.NewTimer(time.Duration(next - clock.Now()))
		select {
		case <-timer.C:
		case <-ctx.Done():
			over = true
		case <-sent: // the window is over
			over = true
		}
		timer.Stop()
		if !over {
			from = p.tell(report, from)
		}
	}
	p.end.Store(clock.Now())
	close(p.stop)
	p.await(sent)
	for limit := clock.Now() + int64(p.scenario.Phases.Drain); !p.isResolved() && clock.Now() < limit; {
		time.Sleep(resolvedLook)
	}
	p.tell(report, from)
}

// await waits until the sending goroutine has closed sent. A send that the broker blocks ends when
// its connection is closed or, where the client has made that itself, its session.
func (p *prober) await(sent <-chan struct{}) {
	for _, cut := range []func(){p.dialer.CloseAll, func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		_ = p.main.Close(ctx) // close reports the error of the second time
	}} {
		select {
		case <-sent:
			return
		case <-time.After(cutAfter):
			cut()
		}
	}
	<-sent
}

// tell reports what was sent and resolved since from, and returns up to when, both CLOCK_MONOTONIC.
// report is called without the lock.
func (p *prober) tell(report func(probe.Report), from int64) (to int64) {
	to = max(clock.Now(), from+1)
	cpu, _ := vitals.ProcessorTime()
	p.mu.Lock()
	x := probe.Report{From: from, To: to, CPU: cpu, Sent: p.total.sent - p.reported.sent, Resolved: p.total.resolved - p.reported.resolved, Values: p.values}
	p.reported, p.values = p.total, nil
	p.mu.Unlock()
	report(x)
	return to
}

// isResolved reports whether every message sent was delivered or answered, or has failed.
func (p *prober) isResolved() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total.resolved+p.total.failed >= p.total.sent
}
