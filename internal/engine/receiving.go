package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/internal/transport"
)

// receiving is the consumers and what their groups have seen.
type receiving struct {
	*plan.Plan
	session   *session
	recording *observe.Recording
	sending   *sending

	credits   []*credit.Credits // by stream: those of its connection
	ack       driver.ConsumerAck
	groups    []*group
	consumers []*consumer
	earlier   earlier // what other runs left
	clients   []driver.Consumer
	late      lateConsumers
	depth     depth

	// pauses is called by a consumer that begins to pause, or whose pause is over; set
	// before consumers connect.
	pauses func(over bool)

	lateReplies atomic.Int64
	warmedUp    int64        // deliveries of the warm-up's messages before a flood's window; see warm
	probeAt     atomic.Int64 // newest probe seen
	probeTook   atomic.Int64 // how long the probe took that settle waits for; 0: not come yet
	firstTook   atomic.Int64 // how long the first probe took, in ns
}

func (r *receiving) connectConsumers(ctx context.Context, lanes int) error {
	var err error
	if r.ack, err = flow.ConsumerAck(r.Workload.Consumer.Ack); err != nil {
		return fmt.Errorf("%w: %w", plan.ErrUsage, err)
	}
	byConn := make([]*transport.Conn, r.conns())
	for i, cp := range r.Layout.Consumers {
		spec := r.spec(i)
		r.depth.add(spec, cp.Group)
		if !r.Workload.Consumer.From.IsZero() || r.Flow.Consumes && r.Part.Name != "" {
			// Beside other loads one that only consumes begins with its window: in their
			// warm-up it would consume much of what is to be measured.
			r.late.consumers = append(r.late.consumers, lateConsumer{spec, r.newConsumer(cp.Group, lanes+i, integrity.Data).deliver})
			continue
		}
		var client driver.Consumer
		if r.Flow.Replies {
			rr, ok := r.session.responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, r.Entry.Name)
			}
			p := &responder{work: r.newWork()}
			client, err = rr.Responder(ctx, spec, p.respond)
		} else {
			c := r.newConsumer(cp.Group, lanes+i, integrity.Data)
			mark := r.session.dialers[0].Mark()
			client, err = r.session.main.Consumer(ctx, spec, c.deliver)
			if c.conn = r.recording.Attribute("consumer", r.session.dialers[0], mark, byConn[spec.Conn] == nil); c.conn != nil {
				byConn[spec.Conn] = c.conn
			}
			if c.conn = byConn[spec.Conn]; r.Workload.Consumer.Interrupted() {
				c.conn = nil // unread messages wait for the consumer, not for the generator
			}
		}
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
		r.clients = append(r.clients, client)
	}
	return nil
}

// conns is how many connections the consumers have.
func (r *receiving) conns() int {
	return max(1, min(r.Workload.Connections.Consumers, r.Workload.Consumers))
}

// spec describes consumer i of the layout to the driver.
func (r *receiving) spec(i int) driver.ConsumerSpec {
	cp := r.Layout.Consumers[i]
	spec := driver.ConsumerSpec{ID: i, Group: cp.Name, Conn: i % r.conns(), Ack: r.ack, Slow: r.Workload.Consumer.Slow()}
	for _, t := range cp.Topics {
		spec.Topics = append(spec.Topics, r.Layout.Topics[t])
	}
	return spec
}

// fullChecks is the fan-out up to which every delivery's checksum is computed.
const fullChecks = 64

func (r *receiving) newConsumer(group, shard int, kind integrity.Kind) *consumer {
	c := &consumer{plan: r.Plan, session: r.session, recording: r.recording, sending: r.sending, receiving: r, group: r.groups[group], index: uint32(len(r.consumers)), shard: r.recording.Rec.Shard(shard), raw: r.recording.RawSink(), rawKind: r.Flow.RawDelivered,
		kind: kind, response: r.Flow.Response, service: r.Flow.Service}
	if kind == integrity.Data { // those who get replies only receive
		c.work = r.newWork()
	}
	if n := r.Layout.MaxFanOut(); n > fullChecks {
		c.sampled = uint32(n / fullChecks)
	}
	c.tail = r.recording.TailOf(c.response).Part(int(c.index), true)
	c.unordered = r.Flow.Replies && r.Workload.Consumers > 1
	c.highest = [][]uint64{make([]uint64, r.groups[group].plan.Streams)}
	r.consumers = append(r.consumers, c)
	return c
}

// warm counts deliveries of the warm-up's messages.
func (r *receiving) warm() (n int64) {
	for _, c := range r.consumers {
		n += c.warm.Load()
	}
	return n
}

// seenEverywhere reports whether each group of a topic has received a probe.
func (r *receiving) seenEverywhere(topic int) bool {
	for _, g := range r.groups {
		for i, t := range g.plan.Topics {
			if t == topic && !g.seen[i].Load() {
				return false
			}
		}
	}
	return true
}

// probed notes a probe.
func (r *receiving) probed(now, sent int64) {
	r.probeTook.CompareAndSwap(0, max(now-sent, 1))
	if r.probeAt.Swap(now) == 0 {
		r.firstTook.Store(now - sent)
	}
}

// stillComing reports whether messages that others have overtaken may still be on
// their way to the group: there is more than one way to it, and measured messages
// came in the second half of the time for which they were waited for, up to now. quiet is
// true where none came then, by however many ways.
func (r *receiving) stillComing(g *group, now int64) (may, quiet bool) {
	waited, ways, coming := now-r.End.Load(), 0, false
	for _, c := range r.consumers {
		if c.group != g {
			continue
		}
		ways += max(1, len(c.highest))
		if c.unordered || !r.Entry.Capabilities.Ordered {
			ways++
		}
		coming = coming || c.newest != 0 && now-c.newest < waited/2
	}
	return coming && ways > 1, !coming
}
