// Package receive goes from the driver to the ledgers: consumers and their delivery groups,
// responders, what earlier runs left, and how much the broker holds. It knows no sender: what a
// delivery ends in flight it gives back to the credits of the stream.
package receive

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/transport"
	"sixnines/semantics"
)

// Receiving is the consumers of a load and what their groups have received. Its slices are made
// while the load connects, by the run's goroutine, and do not change until it has disconnected; but
// Clients, to which late consumers are added.
type Receiving struct {
	*plan.Plan
	Session   *session.Session
	Recording *observe.Recording

	streams   []*stream.Stream  // of the load, by their numbers
	credits   []*credit.Credits // by stream: those of its connection
	ack       driver.ConsumerAck
	Groups    []*Group          // in the layout's order
	Consumers []*Consumer       // those of the layout, late ones included; with request–reply one for each stream instead
	Clients   []driver.Consumer // to be closed
	Late      lateConsumers
	Earlier   Earlier // what earlier runs left
	Depth     depth

	// Pauses are those of the load's consumers, in order; set before consumers connect.
	Pauses []*Pause

	// LateReplies counts measured replies that came after their time limit. Any consumer adds.
	LateReplies atomic.Int64
	// WarmedUp is how many of the warm-up's messages were delivered before the window of an unpaced
	// load. The sender's goroutine writes it; it is read when that has ended.
	WarmedUp int64

	// Of the messages before the load, on CLOCK_MONOTONIC; consumers store, the run's goroutine reads.

	ReadyAt   atomic.Int64 // when the newest came
	ReadyTook atomic.Int64 // ns that the newest took since the run's goroutine stored 0
	FirstTook atomic.Int64 // ns that the first took
}

// AddPause adds a pause of the load's consumers, which must begin after those before it; hold
// reads how much was sent and has come. Consumers have not connected yet.
func (r *Receiving) AddPause(length time.Duration, hold func() int64) *Pause {
	p := newPause(length, hold)
	r.Pauses = append(r.Pauses, p)
	return p
}

// Bind has the load's streams, and by stream the credits of its connection, before consumers
// connect. A group's ledger holds span sequence numbers without a lock.
func (r *Receiving) Bind(streams []*stream.Stream, credits []*credit.Credits, span int) {
	r.streams, r.credits = streams, credits
	for _, g := range r.Layout.Groups {
		r.Groups = append(r.Groups, newGroup(g, span, r.Crosses()))
	}
}

// Remote returns the streams of the layout, which other processes send.
func (r *Receiving) Remote() (all []*stream.Stream) {
	for i, s := range r.Layout.Streams {
		all = append(all, &stream.Stream{ID: uint32(i), Plan: s})
	}
	return all
}

// Streams are those of which its consumers receive messages, by number.
func (r *Receiving) Streams() []*stream.Stream { return r.streams }

// ConnectConsumers connects the consumers of the load, and its responders. Those that connect
// later it notes in Late. The shards of the recorder begin after those of the producers' lanes.
func (r *Receiving) ConnectConsumers(ctx context.Context, lanes int) error {
	var err error
	if r.ack, err = flow.ConsumerAck(r.Workload.Consumer.Ack); err != nil {
		return fmt.Errorf("%w: %w", plan.ErrUsage, err)
	}
	byConn := make([]*transport.Conn, r.conns())
	for i, cp := range r.Layout.Consumers {
		spec := r.spec(i)
		r.Depth.add(spec, cp.Group)
		if r.ComesLate || r.Flow.Consumes && r.Part.Name != "" {
			// Beside other loads one that only consumes begins with its window: in their
			// warm-up it would consume many messages of the measurement.
			r.Late.Consumers = append(r.Late.Consumers, LateConsumer{spec, r.NewConsumer(cp.Group, lanes+i, integrity.Data).Deliver})
			continue
		}
		var client driver.Consumer
		if r.Flow.Replies {
			rr, ok := r.Session.Responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply but does not implement it", driver.ErrUnsupported, r.Entry.Name)
			}
			p := &responder{work: r.NewWork()}
			client, err = rr.Responder(ctx, spec, p.respond)
		} else {
			c := r.NewConsumer(cp.Group, lanes+i, integrity.Data)
			mark := r.Session.Dialers[0].Mark()
			client, err = r.Session.Main.Consumer(ctx, spec, c.Deliver)
			if c.Conn = r.Recording.Attribute(driver.RoleConsumer, r.Session.Dialers[0], mark, byConn[spec.Conn] == nil); c.Conn != nil {
				byConn[spec.Conn] = c.Conn
			}
			if c.Conn = byConn[spec.Conn]; r.Interrupted {
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
	spec := driver.ConsumerSpec{ID: i, Group: cp.Name, Conn: i % r.conns(), Ack: r.ack, Slow: r.Scenario.Slow()}
	for _, t := range cp.Topics {
		spec.Topics = append(spec.Topics, r.Layout.Topics[t])
	}
	return spec
}

// FullChecks is the fan-out up to which every delivery's checksum is computed.
const FullChecks = 64

// NewConsumer adds a consumer to a delivery group, which waits for messages of a kind and records
// in a shard of the recorder. It is called while the load connects.
func (r *Receiving) NewConsumer(group, shard int, kind integrity.Kind) *Consumer {
	c := &Consumer{plan: r.Plan, recording: r.Recording, receiving: r, streams: r.streams, group: r.Groups[group],
		index: uint32(len(r.Consumers)), kind: kind, shard: r.Recording.Rec.Shard(shard), raw: r.Recording.RawSink()}
	if kind == integrity.Data { // those who get replies only receive
		c.work = r.NewWork()
	}
	if n := r.Layout.MaxFanOut(); n > FullChecks {
		c.sampled = uint32(n / FullChecks)
	}
	c.crosses = r.Crosses()
	c.tail = r.Recording.TailOf(r.Flow.Response).Part(int(c.index), true)
	c.unordered = r.Flow.Replies && r.Workload.Consumers > 1
	c.expected = [][]uint64{make([]uint64, c.group.plan.Streams)}
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

// SeenEverywhere reports whether each group of a topic has received a first message.
func (r *Receiving) SeenEverywhere(topic int) bool {
	return !slices.ContainsFunc(r.Groups, func(g *Group) bool { return !g.hasSeen(topic) })
}

// Has reports whether any group has a message.
func (r *Receiving) Has(st *stream.Stream, seq uint64) bool {
	return slices.ContainsFunc(r.Groups, func(g *Group) bool {
		ledger, bound := g.Ledger(st)
		return bound && ledger.Has(seq)
	})
}

// Ended notes a message of the window that was refused or given up just now, and which groups have
// it. It is called when its stream says so: those that receive it later find that there.
func (r *Receiving) Ended(st *stream.Stream, seq uint64) {
	for _, g := range r.Groups {
		if i, bound := g.index(st); bound && g.ledger(i).Has(seq) {
			g.receivedEnded(i, st, seq)
		}
	}
}

// ready notes a message that was sent before the load, to see whether messages arrive.
func (r *Receiving) ready(now, sent int64) {
	r.ReadyTook.CompareAndSwap(0, max(now-sent, 1))
	if r.ReadyAt.Swap(now) == 0 {
		r.FirstTook.Store(now - sent)
	}
}

// StillComing reports whether messages that others have overtaken may still be on their way to the
// group: they can take more than one way, and measured messages came in the second half of the wait from
// the window's end to now, CLOCK_MONOTONIC. ended reports that no message came then. Ways are partitions,
// and unordered responders or an unordered broker add one; replies come to the one producer that asked.
// It is called when no more can come.
func (r *Receiving) StillComing(g *Group, now int64) (may, ended bool) {
	newest, ways := r.Ways(g)
	coming := newest != 0 && now-newest < (now-r.End.Load())/2
	return coming && ways > 1, !coming
}

// Proves returns the instant, CLOCK_MONOTONIC, before which a message of the group was due that is lost, if later
// ones have overtaken it and StillComing says that it is not still coming; 0: that proves of no message that it is lost.
// Three things leave it open. With more than one order in the broker it is not known
// by which partition a message comes that has not come: that one may hang. And what was handed out on a
// connection that was lost may be delivered again: how long that takes the driver states, and if it does not, a
// lost connection counts whenever it was. It counts for twice that time, since a message may be
// handed out on it until the broker has noticed. And a consumer may receive no more without an error: what was handed
// to it comes again when the broker notices. A queue hands out in its order, so that is only what was due after the
// last message that it received. now is when clients began to close, CLOCK_MONOTONIC. It is called when no more can
// come.
func (r *Receiving) Proves(g *Group, now int64) (before int64) {
	stated := &r.Session.Semantics
	if stated.Levels.Ordering != semantics.PerTopic || slices.ContainsFunc(r.Consumers, func(c *Consumer) bool { return c.group == g && c.Partitions() > 1 }) {
		return 0
	}
	lost, again := r.Session.Lost.Load(), int64(stated.Redelivery)
	if again == 0 && stated.Levels.Delivery == semantics.AtMostOnce {
		return math.MaxInt64
	}
	if lost != 0 && (again == 0 || now-lost < 2*again) {
		return 0
	}
	before = math.MaxInt64
	for _, c := range r.Consumers {
		if c.group == g {
			before = min(before, c.reached)
		}
	}
	return before
}

// Ways returns by how many ways messages come to the group, and when the newest measured message came,
// CLOCK_MONOTONIC; 0: none came. It is called when no more can come.
func (r *Receiving) Ways(g *Group) (newest int64, ways int) {
	for _, c := range r.Consumers {
		if c.group != g {
			continue
		}
		own := c.Partitions()
		if c.unordered || !r.Entry.Capabilities.Ordered {
			own++
		}
		if ways += own; r.Flow.Replies {
			ways = own
		}
		newest = max(newest, c.newest)
	}
	return newest, ways
}

// Early returns the longest that a measured message arrived before it was sent, ns, by clocks as they were estimated; 0: none did.
// shifted says that such messages came from other clocks. No more can come.
func (r *Receiving) Early() (early int64, shifted bool) {
	for _, c := range r.Consumers {
		early, shifted = max(early, c.early), shifted || c.shifted
	}
	return early, shifted
}

// lateConsumers are the consumers of a load that connect during it, or after it.
type lateConsumers struct {
	Consumers []LateConsumer // fixed once the load has connected
	Began     atomic.Bool    // they have begun to connect; their act stores it
	// Received is how many deliveries the run's goroutine had found when it last looked for a stall, and
	// At when that number had changed, CLOCK_MONOTONIC; 0: it has not looked. Both are the run's goroutine's.
	Received, At int64
}

// LateConsumer is a consumer that has not connected yet.
type LateConsumer struct {
	Spec    driver.ConsumerSpec
	Deliver driver.Deliver // of its Consumer, which is in Receiving.Consumers already
}
