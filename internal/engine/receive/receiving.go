// Package receive goes from the driver to the ledgers: consumers and their delivery groups,
// responders, what earlier runs left, and how much the broker holds. It knows no sender: what a
// delivery ends in flight it gives back to the credits of the stream.
package receive

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/transport"
)

// Receiving is the consumers and what their groups have seen.
type Receiving struct {
	*plan.Plan
	Session   *session.Session
	Recording *observe.Recording
	Streams   []*stream.Stream // of the load; set before consumers connect

	Credits   []*credit.Credits // by stream: those of its connection
	ack       driver.ConsumerAck
	Groups    []*Group
	Consumers []*Consumer
	Earlier   Earlier // what other runs left
	Clients   []driver.Consumer
	Late      lateConsumers
	Depth     depth

	// Pauses is called by a consumer that begins to pause, or whose pause is over; set
	// before consumers connect.
	Pauses func(over bool)

	LateReplies atomic.Int64
	WarmedUp    int64        // deliveries of the warm-up's messages before a flood's window; see warm
	ProbeAt     atomic.Int64 // newest probe seen
	ProbeTook   atomic.Int64 // how long the probe took that settle waits for; 0: not come yet
	FirstTook   atomic.Int64 // how long the first probe took, in ns
}

func (r *Receiving) ConnectConsumers(ctx context.Context, lanes int) error {
	var err error
	if r.ack, err = flow.ConsumerAck(r.Workload.Consumer.Ack); err != nil {
		return fmt.Errorf("%w: %w", plan.ErrUsage, err)
	}
	byConn := make([]*transport.Conn, r.conns())
	for i, cp := range r.Layout.Consumers {
		spec := r.spec(i)
		r.Depth.add(spec, cp.Group)
		if !r.Workload.Consumer.From.IsZero() || r.Flow.Consumes && r.Part.Name != "" {
			// Beside other loads one that only consumes begins with its window: in their
			// warm-up it would consume much of what is to be measured.
			r.Late.Consumers = append(r.Late.Consumers, LateConsumer{spec, r.NewConsumer(cp.Group, lanes+i, integrity.Data).Deliver})
			continue
		}
		var client driver.Consumer
		if r.Flow.Replies {
			rr, ok := r.Session.Responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, r.Entry.Name)
			}
			p := &responder{work: r.NewWork()}
			client, err = rr.Responder(ctx, spec, p.respond)
		} else {
			c := r.NewConsumer(cp.Group, lanes+i, integrity.Data)
			mark := r.Session.Dialers[0].Mark()
			client, err = r.Session.Main.Consumer(ctx, spec, c.Deliver)
			if c.Conn = r.Recording.Attribute("consumer", r.Session.Dialers[0], mark, byConn[spec.Conn] == nil); c.Conn != nil {
				byConn[spec.Conn] = c.Conn
			}
			if c.Conn = byConn[spec.Conn]; r.Workload.Consumer.Interrupted() {
				c.Conn = nil // unread messages wait for the consumer, not for the generator
			}
		}
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
		r.Clients = append(r.Clients, client)
	}
	return nil
}

// conns is how many connections the consumers have.
func (r *Receiving) conns() int {
	return max(1, min(r.Workload.Connections.Consumers, r.Workload.Consumers))
}

// spec describes consumer i of the layout to the driver.
func (r *Receiving) spec(i int) driver.ConsumerSpec {
	cp := r.Layout.Consumers[i]
	spec := driver.ConsumerSpec{ID: i, Group: cp.Name, Conn: i % r.conns(), Ack: r.ack, Slow: r.Workload.Consumer.Slow()}
	for _, t := range cp.Topics {
		spec.Topics = append(spec.Topics, r.Layout.Topics[t])
	}
	return spec
}

// FullChecks is the fan-out up to which every delivery's checksum is computed.
const FullChecks = 64

func (r *Receiving) NewConsumer(group, shard int, kind integrity.Kind) *Consumer {
	c := &Consumer{plan: r.Plan, session: r.Session, recording: r.Recording, streams: r.Streams, receiving: r, group: r.Groups[group], index: uint32(len(r.Consumers)), shard: r.Recording.Rec.Shard(shard), raw: r.Recording.RawSink(), rawKind: r.Flow.RawDelivered,
		kind: kind, response: r.Flow.Response, service: r.Flow.Service}
	if kind == integrity.Data { // those who get replies only receive
		c.work = r.NewWork()
	}
	if n := r.Layout.MaxFanOut(); n > FullChecks {
		c.sampled = uint32(n / FullChecks)
	}
	c.tail = r.Recording.TailOf(c.response).Part(int(c.index), true)
	c.unordered = r.Flow.Replies && r.Workload.Consumers > 1
	c.Highest = [][]uint64{make([]uint64, r.Groups[group].Plan.Streams)}
	r.Consumers = append(r.Consumers, c)
	return c
}

// MarkWarm notes how much of the warm-up has been delivered.
func (r *Receiving) MarkWarm() { r.WarmedUp = r.Warm() }

// Warm counts deliveries of the warm-up's messages.
func (r *Receiving) Warm() (n int64) {
	for _, c := range r.Consumers {
		n += c.warm.Load()
	}
	return n
}

// SeenEverywhere reports whether each group of a topic has received a probe.
func (r *Receiving) SeenEverywhere(topic int) bool {
	for _, g := range r.Groups {
		for i, t := range g.Plan.Topics {
			if t == topic && !g.Seen[i].Load() {
				return false
			}
		}
	}
	return true
}

// Has reports whether any group has a message.
func (r *Receiving) Has(st *stream.Stream, seq uint64) bool {
	return slices.ContainsFunc(r.Groups, func(g *Group) bool {
		place, bound := g.Place(st)
		return bound && g.Ledger(place).Has(seq)
	})
}

// probed notes a probe.
func (r *Receiving) probed(now, sent int64) {
	r.ProbeTook.CompareAndSwap(0, max(now-sent, 1))
	if r.ProbeAt.Swap(now) == 0 {
		r.FirstTook.Store(now - sent)
	}
}

// StillComing reports whether messages that others have overtaken may still be on
// their way to the group: there is more than one way to it, and measured messages
// came in the second half of the time for which they were waited for, up to now. quiet is
// true where none came then, by however many ways. Replies come to the one producer that asked,
// and take as many ways as there are responders.
func (r *Receiving) StillComing(g *Group, now int64) (may, quiet bool) {
	waited, ways, coming := now-r.End.Load(), 0, false
	for _, c := range r.Consumers {
		if c.group != g {
			continue
		}
		own := max(1, len(c.Highest))
		if c.unordered || !r.Entry.Capabilities.Ordered {
			own++
		}
		if ways += own; r.Flow.Replies {
			ways = own
		}
		coming = coming || c.Newest != 0 && now-c.Newest < waited/2
	}
	return coming && ways > 1, !coming
}

// lateConsumers are the consumers of a load that connect during it, or after it.
type lateConsumers struct {
	Consumers []LateConsumer
	Began     atomic.Bool // they were told to connect
	// What stalled has found: how many deliveries there were at its last look, and
	// when that number had changed.
	Received, At int64
}

// LateConsumer is a consumer that has not connected yet.
type LateConsumer struct {
	Spec    driver.ConsumerSpec
	Deliver driver.Deliver
}
