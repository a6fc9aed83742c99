package selftest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/histograms"
	"sixnines/result"
)

// The load of the trial: eight connections on one thread. Six of them block once
// each, three early in the schedule and three after some million messages. The
// other two send all the time.
const (
	takeoverConns = 8
	takeoverRate  = 8000 // a second, around the stalls
	takeoverStall = 50 * time.Millisecond
	// takeoverApart is how many messages are sent between two stalls.
	takeoverApart = 3 * takeoverRate / 20
	// A late stall may delay the others by takeoverRatio times as much as an early one,
	// plus takeoverSlack for a thread that wakes late.
	takeoverRatio = 2
	takeoverSlack = 2 * time.Millisecond
)

// takeover compares how long a blocked connection delays the others of its thread
// early and late in a long schedule.
func takeover(ctx context.Context, b *Bench) (*Outcome, error) {
	between, settle := int64(2_000_000), 4*time.Second
	if b.Short {
		between, settle = 1_000_000, 2*time.Second
	}
	const first = 600 * time.Millisecond
	d := newBlocker(takeoverRate/10, int64(first.Seconds()*takeoverRate)+between+int64(settle.Seconds()*takeoverRate))
	b.Say("%d connections on one thread, six of which block once, before and after %s messages", takeoverConns, grouped(between))
	run, err := b.RunText(ctx, fmt.Sprintf("target: {driver: mem}\nphases: {warmup: 100ms, drain: 1s}\nworkload: {pattern: publish, producers: %d, size: 64B, arrivals: \"step:%d/s@%s,%d/s@1s,%d/s@%s,random\"}",
		takeoverConns, takeoverRate, first, between, takeoverRate, settle+800*time.Millisecond), func(c *engine.Config) {
		c.Entry = driver.Entry{Name: "blocker", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}
		c.Pacers = 1
	})
	if err != nil {
		return nil, err
	}
	early, late := d.costs()
	return Conclude(fmt.Sprintf("when a connection blocks, another thread takes over the others of its thread at their place in the schedule; after %s messages this takes no longer, and the wait of the others is not called blocked", grouped(between)),
		judgeTakeover(run, early, late)...), nil
}

// judgeTakeover judges a run in which connections blocked; early and late are the
// waits of the other connections in each stall.
func judgeTakeover(run *result.Run, early, late []time.Duration) []Figure {
	c := run.Counters
	figures := []Figure{Exactly("messages due that were sent and acknowledged", c.Scheduled, c.Acked)}
	stalls := len(early) + len(late)
	n := Figure{What: "blocked sends whose thread's other connections were taken over", Expected: fmt.Sprintf("at least %d", stalls), Found: grouped(c.Takeovers), Verdict: Passed}
	if c.Takeovers < int64(stalls) {
		n.Verdict = Failed
	}
	before, after := slices.Min(early), slices.Min(late)
	limit := takeoverRatio*before + takeoverSlack
	cost := Figure{What: "how long the others waited, the least of three late stalls", Expected: "at most " + Time(limit),
		Tolerance: fmt.Sprintf("%d times the early %s, and %s", takeoverRatio, Time(before), Time(takeoverSlack)), Found: Time(after), Verdict: Passed}
	if after > limit {
		cost.Verdict = Failed
	}
	// Three quarters of the messages due on a connection in a stall wait for more
	// than a quarter of it.
	due := int64(stalls) * takeoverRate / takeoverConns * int64(takeoverStall) * 3 / 4 / 1e9
	blocked := Figure{What: "messages called blocked for more than a quarter of a stall", Expected: grouped(due) + ", those due on the connections that blocked",
		Tolerance: "−40 to +20 %", Found: "none", Verdict: Failed}
	if x := run.Metrics[result.LagBlocked]; x != nil {
		found := histograms.RanksOf(x.Hist).CountAbove(int64(takeoverStall) / 4)
		blocked.Found = grouped(found)
		if found >= due*6/10 && found <= due*12/10 {
			blocked.Verdict = Passed
		}
	}
	return append(figures, n, cost, blocked)
}

// blocker is a driver that acknowledges each message at once, except that some of its
// connections block once. Its methods are safe for concurrent use.
type blocker struct {
	sent   atomic.Int64
	stalls []*blockedSend // ascending by at
}

// blockedSend is one send that blocks.
type blockedSend struct {
	conn  int
	at    int64        // number of messages, over all connections, after which it blocks
	began atomic.Int64 // instant, ns; 0: not yet; the blocking connection sets it
	cost  atomic.Int64 // ns until a connection that never blocks sent again; 0: not yet; the first such send sets it
}

// newBlocker returns a blocker with three stalls from early messages on, and three
// more from late messages on.
func newBlocker(early, late int64) *blocker {
	b := &blocker{}
	for i, conn := range []int{0, 1, 2, 4, 5, 6} { // not 3 and 7
		at := early + int64(i)*takeoverApart
		if i >= 3 {
			at = late + int64(i-3)*takeoverApart
		}
		b.stalls = append(b.stalls, &blockedSend{conn: conn, at: at})
	}
	return b
}

// costs returns how long the other connections waited in the early and the late
// stalls, at most the length of a stall.
func (b *blocker) costs() (early, late []time.Duration) {
	var all []time.Duration
	for _, s := range b.stalls {
		cost := time.Duration(s.cost.Load())
		if cost == 0 || cost > takeoverStall {
			cost = takeoverStall
		}
		all = append(all, cost)
	}
	return all[:len(all)/2], all[len(all)/2:]
}

// Open implements driver.Driver.
func (b *blocker) Open(context.Context, driver.Target) (driver.Session, error) { return b, nil }

// Provision implements driver.Session.
func (b *blocker) Provision(context.Context, driver.Topology) (driver.Semantics, error) {
	return driver.Semantics{Transport: "none"}, nil
}

// Producer implements driver.Session.
func (b *blocker) Producer(_ context.Context, s driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p := &blockerProducer{owner: b, acks: acks}
	for _, x := range b.stalls {
		if x.conn == s.Conn {
			p.stall = x
		}
	}
	return p, nil
}

// Consumer implements driver.Session: nothing is delivered.
func (b *blocker) Consumer(context.Context, driver.ConsumerSpec, driver.Deliver) (driver.Consumer, error) {
	return &blockerProducer{}, nil
}

// Deprovision implements driver.Session.
func (b *blocker) Deprovision(context.Context) error { return nil }

// Close implements driver.Session.
func (b *blocker) Close(context.Context) error { return nil }

type blockerProducer struct {
	owner *blocker
	acks  driver.Acks
	stall *blockedSend // nil: it never blocks
}

// Send implements driver.Producer.
func (p *blockerProducer) Send(token uint64, _ []byte) error {
	n := p.owner.sent.Add(1)
	switch {
	case p.stall == nil:
		p.owner.goesOn()
	case n >= p.stall.at && p.stall.began.Load() == 0:
		from := clock.Now()
		p.stall.began.Store(from)
		clock.SleepUntilBlocking(from + int64(takeoverStall))
	}
	p.acks.Done(token, nil)
	return nil
}

// goesOn records the cost of the latest stall when a connection that never blocks sends.
func (b *blocker) goesOn() {
	for _, s := range slices.Backward(b.stalls) {
		if began := s.began.Load(); began != 0 {
			if s.cost.Load() == 0 {
				s.cost.CompareAndSwap(0, max(1, clock.Now()-began))
			}
			return
		}
	}
}

// Close implements driver.Producer and driver.Consumer.
func (p *blockerProducer) Close(context.Context) error { return nil }
