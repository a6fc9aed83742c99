package engine

import (
	"slices"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
)

// group is a delivery group: a queue group, or a lone consumer. Each message
// of the topics it is bound to is expected once.
type group struct {
	plan    plan.Group
	ledgers []atomic.Pointer[integrity.Ledger] // by place in the group, made on first sight
	span    int
	seen    []atomic.Bool // by position in plan.topics: a probe has arrived
}

func (g *group) ledger(place int) *integrity.Ledger {
	if l := g.ledgers[place].Load(); l != nil {
		return l
	}
	g.ledgers[place].CompareAndSwap(nil, integrity.NewLedger(g.span))
	return g.ledgers[place].Load()
}

// place returns where a stream stands in the group's tables.
func (g *group) place(st *stream.Stream) (int, bool) {
	b := g.plan.Base[st.Plan.Topic]
	return int(b) + st.Plan.Index, b >= 0
}

// consumer is one subscription's side of the accounts. deliver is called
// serially.
type consumer struct {
	plan      *plan.Plan
	session   *session
	recording *observe.Recording
	sending   *sending
	receiving *receiving

	group   *group
	index   uint32
	shard   *recorder.Shard
	raw     *observe.RawSink
	rawKind result.RawKind // of what it receives
	tail    *observe.TailShard
	conn    *transport.Conn // nil: not known
	tap     *observe.Tap
	kind    integrity.Kind // what it waits for: Data, or Reply
	work    work

	response, service recorder.ID
	// highest is, by partition and place, one more than the highest sequence
	// number seen.
	highest [][]uint64
	// sampled: of a large fan-out only every so many deliveries are checked
	// for corruption; 0 checks all.
	sampled   uint32
	unordered bool // several responders answer one producer: replies have no order
	count     uint32

	// arrived counts the same as received, but sooner: in a closed loop, for the
	// sampler, since waking the producer takes microseconds.
	arrived               atomic.Int64
	received              atomic.Int64 // unique, measured
	bytes                 atomic.Int64 // of those, where sizes differ
	duplicated            atomic.Int64
	redelivered           atomic.Int64
	reordered             atomic.Int64
	late                  atomic.Int64
	corrupted             atomic.Int64
	foreign               atomic.Int64
	earlier, earlierAgain atomic.Int64 // of earlier runs: new ones, and copies
	newest                int64        // instant of the newest measured delivery; read when no more can come
	warm                  atomic.Int64 // new messages outside the window
	_                     [64]byte
}

func (c *consumer) deliver(m driver.Message) {
	now := clock.Now() // first of all: this is the instant that is reported
	verify := true
	if c.sampled > 1 {
		c.count++
		verify = c.count%c.sampled == 0
	}
	var e integrity.Envelope
	if e.Get(m.Payload, verify) != integrity.Good || e.Run != c.plan.Id || e.Kind != c.kind || int(e.Stream) >= len(c.sending.streams) {
		c.unexpected(&e, m.Payload, now)
		return
	}
	st := c.sending.streams[e.Stream]
	place, bound := c.group.place(st)
	if !bound {
		c.foreign.Add(1)
		return
	}
	measured := e.Intended >= c.plan.Start.Load() && e.Intended < c.plan.End.Load()
	switch c.group.ledger(place).Mark(e.Sequence) {
	case integrity.New:
		if measured && st.Waiter != nil {
			c.arrived.Add(1)
		}
	case integrity.Duplicate:
		if measured {
			c.duplicated.Add(1)
			if m.Redelivered {
				c.redelivered.Add(1)
			}
		}
		c.work.do(now)
		return
	default:
		if measured {
			c.late.Add(1)
		}
		c.work.do(now)
		return
	}
	for m.Partition >= len(c.highest) {
		c.highest = append(c.highest, make([]uint64, c.group.plan.Streams))
	}
	highest := &c.highest[m.Partition][place]
	inOrder := e.Sequence >= *highest
	if inOrder {
		*highest = e.Sequence + 1
	}
	groups, latest := uint32(1), now
	if st.Fan != nil {
		groups, latest = st.Fan.Add(e.Sequence, now)
		if groups == 0 && measured && c.plan.Flow.Timed && st.LastUnknown.Add(e.Sequence) {
			c.recording.Rec.Censor(recorder.DeliveryLast, now-e.Intended) // this one is not slower than the slowest
		}
	}
	sent := e.Intended + e.Lag
	if groups == 1 {
		c.first(st, e.Sequence, sent, now, measured)
	}
	if measured {
		if !inOrder && !c.unordered {
			c.reordered.Add(1)
		}
		if m.Redelivered {
			c.redelivered.Add(1)
		}
		if c.plan.Flow.Timed {
			own, due := e.Lag*int64(e.Own)/7, e.Intended-c.plan.Start.Load()
			v := now - e.Intended
			received := c.tap.Received(now)
			if received >= 0 {
				c.shard.Value(recorder.LagReceive, received)
			}
			c.shard.Response(c.response, v, own, received, due)
			if v > c.tail.Floor.Load() {
				c.tail.Offer(&observe.Exemplar{Value: v, Intended: e.Intended, Sent: sent, Done: now, Own: own,
					Seq: e.Sequence, Stream: e.Stream, Consumer: c.number(), Partition: int32(m.Partition)})
			}
			if st.Fan != nil && int(groups) == st.Plan.FanOut {
				c.shard.Response(recorder.DeliveryLast, latest-e.Intended, own, received, due)
			}
		}
		c.shard.Value(c.service, now-sent)
		if st.Stamps != nil && !c.recording.Stages.OnAck {
			c.recording.Split(c.tap, st.Stamps, e.Sequence, sent, now)
		}
		c.newest = now
		if c.raw != nil {
			c.raw.Put(c.rawKind, e.Stream, c.index, e.Sequence, e.Intended, sent, now)
		}
		if c.plan.Sizes != nil {
			c.bytes.Add(int64(len(m.Payload)))
		}
		c.received.Add(1) // last: who reads it also reads the rest
	} else {
		c.warm.Add(1)
	}
	c.work.do(now)
}

// number is the consumer's number in exemplars. A requester, which receives the replies
// to what it sent, has none.
func (c *consumer) number() int32 {
	if c.kind == integrity.Reply {
		return -1
	}
	return int32(c.index)
}

// first ends a message's time in flight where deliveries do that.
func (c *consumer) first(st *stream.Stream, seq uint64, sent, now int64, measured bool) {
	if c.plan.Flow.Closes != flow.OnDelivery {
		return
	}
	var over *observe.Tap // before the window connections may not be followed yet
	if sent >= c.plan.Start.Load() {
		over = c.tap
	}
	if !c.receiving.credits[st.ID].Delivered(st, seq, sent, now, measured, over) && measured && c.plan.Flow.Replies {
		c.receiving.lateReplies.Add(1)
	}
}

// unexpected accounts for what is not a good message of this run's load.
func (c *consumer) unexpected(e *integrity.Envelope, payload []byte, now int64) {
	check := e.Get(payload, true)
	if check == integrity.Short {
		c.foreign.Add(1)
		return
	}
	known := int(e.Stream) < len(c.sending.streams)
	if check == integrity.Good {
		if e.Run == c.plan.Id && e.Kind == integrity.Probe && known {
			st := c.sending.streams[e.Stream]
			if i := slices.Index(c.group.plan.Topics, st.Plan.Topic); i >= 0 {
				c.receiving.probed(now, e.Intended) // before seen, which the setup waits for and then reads on
				c.group.seen[i].Store(true)
			}
			return
		}
		if !c.earlierMessage(e, now) {
			c.foreign.Add(1)
		}
		return
	}
	// Damaged. It is one of ours if the envelope still says so: by the run or,
	// where that is damaged, by a stream and an instant that fit.
	start, end := c.plan.Start.Load(), c.plan.End.Load()
	plausible := known && e.Intended >= start && e.Intended < end && e.Intended <= now
	switch {
	case e.Run != c.plan.Id && !plausible:
		c.foreign.Add(1)
		return
	case e.Run == c.plan.Id && known && e.Intended < start && e.Intended > start-int64(c.plan.Warmup)-int64(time.Minute):
		// of the warm-up: not accounted
	case e.Run == c.plan.Id && known && e.Intended >= end && e.Intended <= now:
		// of the load after the window: likewise
	default:
		c.corrupted.Add(1)
		if plausible {
			st := c.sending.streams[e.Stream]
			st.Damaged(e.Sequence)
			if c.raw != nil {
				c.raw.Put(result.RawCorrupted, e.Stream, c.index, e.Sequence, e.Intended, e.Intended+e.Lag, now)
			}
		}
	}
	c.work.do(now) // nobody who consumes it knows that it is damaged
}

// responder answers requests. It has a session and a connection of its own.
type responder struct {
	reply []byte
	work  work
}

// respond answers a request. It is called serially.
func (p *responder) respond(m driver.Message) []byte {
	now := clock.Now()
	answer, kind := integrity.Answer(p.reply, m.Payload)
	if answer == nil {
		return nil
	}
	p.reply = answer
	if kind != integrity.Probe {
		p.work.do(now)
	}
	return answer
}
