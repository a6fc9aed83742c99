package receive

import (
	"slices"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
)

// Group is a delivery group: a queue group, or a lone consumer. Each message
// of the topics it is bound to is expected once.
type Group struct {
	Plan    plan.Group
	Ledgers []atomic.Pointer[integrity.Ledger] // by place in the group, made on first sight
	Span    int
	Seen    []atomic.Bool // by position in plan.topics: a probe has arrived
}

func (g *Group) Ledger(place int) *integrity.Ledger {
	if l := g.Ledgers[place].Load(); l != nil {
		return l
	}
	g.Ledgers[place].CompareAndSwap(nil, integrity.NewLedger(g.Span))
	return g.Ledgers[place].Load()
}

// Place returns where a stream stands in the group's tables.
func (g *Group) Place(st *stream.Stream) (int, bool) {
	b := g.Plan.Base[st.Plan.Topic]
	return int(b) + st.Plan.Index, b >= 0
}

// Consumer is one subscription's side of the accounts. deliver is called
// serially.
type Consumer struct {
	plan      *plan.Plan
	session   *session.Session
	recording *observe.Recording
	streams   []*stream.Stream // of the load, by their numbers
	receiving *Receiving

	group   *Group
	index   uint32
	shard   *recorder.Shard
	raw     *observe.RawSink
	rawKind result.RawKind // of what it receives
	tail    *observe.TailShard
	Conn    *transport.Conn // nil: not known
	Tap     *observe.Tap
	kind    integrity.Kind // what it waits for: Data, or Reply
	work    work

	response, service recorder.ID
	// Highest is, by partition and place, one more than the highest sequence
	// number seen.
	Highest [][]uint64
	// sampled: of a large fan-out only every n-th delivery is checked
	// for corruption; 0 checks all.
	sampled   uint32
	unordered bool // several responders answer one producer: replies have no order
	count     uint32

	// Arrived counts the same as received, but sooner: in a closed loop, for the
	// sampler, since waking the producer takes microseconds.
	Arrived               atomic.Int64
	Received              atomic.Int64 // unique, measured
	Bytes                 atomic.Int64 // of those, where sizes differ
	Duplicated            atomic.Int64
	Redelivered           atomic.Int64
	Reordered             atomic.Int64
	Late                  atomic.Int64
	Corrupted             atomic.Int64
	Foreign               atomic.Int64
	Earlier, EarlierAgain atomic.Int64 // of earlier runs: new ones, and copies
	Newest                int64        // instant of the newest measured delivery; read when no more can come
	warm                  atomic.Int64 // new messages outside the window
	_                     [64]byte
}

func (c *Consumer) Deliver(m driver.Message) {
	now := clock.Now() // first of all: this is the instant that is reported
	verify := true
	if c.sampled > 1 {
		c.count++
		verify = c.count%c.sampled == 0
	}
	var e integrity.Envelope
	if e.Get(m.Payload, verify) != integrity.Good || e.Run != c.plan.Id || e.Kind != c.kind || int(e.Stream) >= len(c.streams) {
		c.unexpected(&e, m.Payload, now)
		return
	}
	st := c.streams[e.Stream]
	place, bound := c.group.Place(st)
	if !bound {
		c.Foreign.Add(1)
		return
	}
	measured := e.Intended >= c.plan.Start.Load() && e.Intended < c.plan.End.Load()
	switch c.group.Ledger(place).Mark(e.Sequence) {
	case integrity.New:
		if measured && st.Waiter != nil {
			c.Arrived.Add(1)
		}
	case integrity.Duplicate:
		if measured {
			c.Duplicated.Add(1)
			if m.Redelivered {
				c.Redelivered.Add(1)
			}
		}
		c.work.Do(now)
		return
	default:
		if measured {
			c.Late.Add(1)
		}
		c.work.Do(now)
		return
	}
	for m.Partition >= len(c.Highest) {
		c.Highest = append(c.Highest, make([]uint64, c.group.Plan.Streams))
	}
	highest := &c.Highest[m.Partition][place]
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
			c.Reordered.Add(1)
		}
		if m.Redelivered {
			c.Redelivered.Add(1)
		}
		if c.plan.Flow.Timed {
			own, due := e.Lag*int64(e.Own)/7, e.Intended-c.plan.Start.Load()
			v := now - e.Intended
			received := c.Tap.Received(now)
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
			c.recording.Split(c.Tap, st.Stamps, e.Sequence, sent, now)
		}
		c.Newest = now
		if c.raw != nil {
			c.raw.Put(c.rawKind, e.Stream, c.index, e.Sequence, e.Intended, sent, now)
		}
		if c.plan.Sizes != nil {
			c.Bytes.Add(int64(len(m.Payload)))
		}
		c.Received.Add(1) // last: who reads it also reads the rest
	} else {
		c.warm.Add(1)
	}
	c.work.Do(now)
}

// number is the consumer's number in exemplars. A requester, which receives the replies
// to what it sent, has none.
func (c *Consumer) number() int32 {
	if c.kind == integrity.Reply {
		return -1
	}
	return int32(c.index)
}

// first ends a message's time in flight where deliveries do that.
func (c *Consumer) first(st *stream.Stream, seq uint64, sent, now int64, measured bool) {
	if c.plan.Flow.Closes != flow.OnDelivery {
		return
	}
	var over *observe.Tap // before the window connections may not be followed yet
	if sent >= c.plan.Start.Load() {
		over = c.Tap
	}
	if !c.receiving.Credits[st.ID].Delivered(st, seq, sent, now, measured, over) && measured && c.plan.Flow.Replies {
		c.receiving.LateReplies.Add(1)
	}
}

// unexpected accounts for what is not a good message of this run's load.
func (c *Consumer) unexpected(e *integrity.Envelope, payload []byte, now int64) {
	check := e.Get(payload, true)
	if check == integrity.Short {
		c.Foreign.Add(1)
		return
	}
	known := int(e.Stream) < len(c.streams)
	if check == integrity.Good {
		if e.Run == c.plan.Id && e.Kind == integrity.Probe && known {
			st := c.streams[e.Stream]
			if i := slices.Index(c.group.Plan.Topics, st.Plan.Topic); i >= 0 {
				c.receiving.probed(now, e.Intended) // before seen, which the setup waits for and then reads on
				c.group.Seen[i].Store(true)
			}
			return
		}
		if !c.earlierMessage(e, now) {
			c.Foreign.Add(1)
		}
		return
	}
	// Damaged. It is one of ours if the envelope still says so: by the run or,
	// where that is damaged, by a stream and an instant that fit.
	start, end := c.plan.Start.Load(), c.plan.End.Load()
	plausible := known && e.Intended >= start && e.Intended < end && e.Intended <= now
	switch {
	case e.Run != c.plan.Id && !plausible:
		c.Foreign.Add(1)
		return
	case e.Run == c.plan.Id && known && e.Intended < start && e.Intended > start-int64(c.plan.Warmup)-int64(time.Minute):
		// of the warm-up: not accounted
	case e.Run == c.plan.Id && known && e.Intended >= end && e.Intended <= now:
		// of the load after the window: likewise
	default:
		c.Corrupted.Add(1)
		if plausible {
			st := c.streams[e.Stream]
			st.Damaged(e.Sequence)
			if c.raw != nil {
				c.raw.Put(result.RawCorrupted, e.Stream, c.index, e.Sequence, e.Intended, e.Intended+e.Lag, now)
			}
		}
	}
	c.work.Do(now) // nobody who consumes it knows that it is damaged
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
		p.work.Do(now)
	}
	return answer
}
