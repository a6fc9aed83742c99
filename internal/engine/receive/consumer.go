package receive

import (
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
)

// Consumer is one subscription's side of the accounts. The driver calls Deliver serially, so what
// is neither atomic nor fixed belongs to the goroutine that is in it.
type Consumer struct {
	// What is fixed before the first delivery.
	plan      *plan.Plan
	recording *observe.Recording
	receiving *Receiving
	streams   []*stream.Stream // of the load, by their numbers
	group     *Group
	index     uint32         // among the load's consumers
	kind      integrity.Kind // what it waits for: Data, or Reply
	shard     *recorder.Shard
	tail      *observe.TailShard
	raw       *observe.RawSink // nil: there is no raw file
	Conn      *transport.Conn  // nil: it is not known which connection it is
	sampled   uint32           // of a large fan-out only every n-th delivery is checked for corruption; 0: each is
	crosses   bool             // other processes send what it receives
	unordered bool             // several responders answer one producer: replies have no order

	// Tap is on Conn, from just before the window on; nil before that, and if stages are not followed.
	Tap *observe.Tap

	work work
	// expected is, by partition and the ledger's index, one more than the highest sequence number seen.
	expected [][]uint64
	count    uint32 // deliveries so far, for sampled
	newest   int64  // when the newest measured message came, CLOCK_MONOTONIC; others read it when no more can come
	reached  int64  // the latest instant at which one of its measured messages was due; likewise
	shifted  bool   // measured messages came from other clocks; likewise
	early    int64  // the longest that one of these arrived before it was sent, ns; likewise

	// Counters of deliveries. Deliver adds, anyone reads.

	// Arrived counts what Received does, but in a closed loop before the producer is woken, which
	// takes microseconds: it is the in-flight sampler's.
	Arrived     atomic.Int64
	Received    atomic.Int64 // new and measured; added last, so that what it counts has been recorded
	Bytes       atomic.Int64 // payload bytes of those, where sizes differ
	Duplicated  atomic.Int64 // measured, received before
	Redelivered atomic.Int64 // measured, marked as a redelivery by the broker
	Reordered   atomic.Int64 // measured, after one with a higher sequence number of the same stream and partition
	Late        atomic.Int64 // measured, so late that the ledger has forgotten whether they are new
	Corrupted   atomic.Int64 // with a wrong checksum, most probably of the window
	// CorruptedCopies counts those of Corrupted, here or at another consumer of the group, whose message has come
	// otherwise as well: whole, or damaged before.
	CorruptedCopies atomic.Int64
	Foreign         atomic.Int64 // of no load of this run
	Earlier         atomic.Int64 // of earlier runs, new
	EarlierAgain    atomic.Int64 // of earlier runs, received before
	warm            atomic.Int64 // new, outside the window
	_               [64]byte     // other consumers' counters are on other cache lines
}

// message is a delivery of a message of this load. It is on Deliver's stack.
type message struct {
	integrity.Envelope
	stream      *stream.Stream
	ledger      int // index of the stream's ledger in the group
	partition   int
	size        int   // of the payload, bytes
	sent        int64 // CLOCK_MONOTONIC
	shifted     bool  // it was stamped by another clock, and Intended is an estimate
	measured    bool  // it belongs to the window
	redelivered bool
	groups      uint32 // how many have received it, this one included; 0: not known any more
	latest      int64  // when the last of these did, CLOCK_MONOTONIC
}

// Deliver takes one message from the driver, which calls it serially for one consumer.
func (c *Consumer) Deliver(d driver.Message) {
	now := clock.Now() // the instant that is reported, so it is read first
	var m message
	if !c.identify(&m, &d, now) {
		return // identify has counted it
	}
	if c.isNew(&m) {
		c.checkOrder(&m)
		c.countGroups(&m, now)
		c.endFlight(&m, now)
		if m.measured {
			c.observe(&m, now)
		} else {
			c.warm.Add(1)
		}
	}
	c.work.Do(now)
}

// identify reads what is delivered into m, and reports whether it is a whole message of this load
// for this consumer's group. Anything else it accounts for.
func (c *Consumer) identify(m *message, d *driver.Message, now int64) bool {
	verify := true
	if c.sampled > 1 {
		c.count++
		verify = c.count%c.sampled == 0
	}
	if m.Get(d.Payload, verify) != integrity.Good || m.Run != c.plan.Id || !c.takes(m.Kind) || int(m.Stream) >= len(c.streams) {
		c.unexpected(&m.Envelope, d.Payload, now)
		return false
	}
	ahead, several := c.plan.Shift(now)
	m.Intended, m.shifted = m.Intended+ahead, several
	m.stream = c.streams[m.Stream]
	var bound bool
	if m.ledger, bound = c.group.index(m.stream); !bound {
		c.Foreign.Add(1)
		return false
	}
	m.sent, m.partition, m.size, m.redelivered = m.Intended+m.Lag, d.Partition, len(d.Payload), d.Redelivered
	if c.crosses {
		m.measured = m.Kind == integrity.Data // the sender knows: see send
	} else {
		m.measured = m.Intended >= c.plan.Start.Load() && m.Intended < c.plan.End.Load()
	}
	return true
}

// takes reports whether it waits for messages of a kind.
func (c *Consumer) takes(k integrity.Kind) bool {
	return k == c.kind || c.crosses && k == integrity.Outside
}

// isNew ticks a message off in its group's ledger and reports whether it is the first copy. Other
// copies it counts. Of copies that several consumers of the group get at once, the ledger's Mark makes
// one the first.
func (c *Consumer) isNew(m *message) bool {
	mark := c.group.ledger(m.ledger).Mark(m.Sequence)
	if m.measured {
		switch mark {
		case integrity.New:
			if c.group.damaged[m.ledger].whole(m.Sequence) {
				c.CorruptedCopies.Add(1)
			}
			if m.stream.Waiter != nil {
				c.Arrived.Add(1)
			}
		case integrity.Duplicate:
			c.Duplicated.Add(1)
		default:
			c.Late.Add(1)
		}
		if m.redelivered && (mark == integrity.New || mark == integrity.Duplicate) {
			c.Redelivered.Add(1)
		}
	}
	return mark == integrity.New
}

// checkOrder counts a message that comes after a later one of its stream and partition.
func (c *Consumer) checkOrder(m *message) {
	for m.partition >= len(c.expected) {
		c.expected = append(c.expected, make([]uint64, c.group.plan.Streams))
	}
	if expected := &c.expected[m.partition][m.ledger]; m.Sequence >= *expected {
		*expected = m.Sequence + 1
	} else if m.measured && !c.unordered {
		c.Reordered.Add(1)
		if c.crosses {
			c.group.late[m.ledger].Add(m.Sequence)
		}
	}
}

// countGroups notes that one more group has received a message.
func (c *Consumer) countGroups(m *message, now int64) {
	if m.groups, m.latest = 1, now; m.stream.Fan != nil {
		c.countFan(m, now)
	}
}

func (c *Consumer) countFan(m *message, now int64) {
	m.groups, m.latest = m.stream.Fan.Add(m.Sequence, now)
	if m.groups == 0 && m.measured && c.plan.Flow.Timed && m.stream.LastUnknown.Add(m.Sequence) {
		c.recording.Rec.Censor(recorder.DeliveryLast, m.Intended-c.recording.Start.Load(), now-m.Intended) // the slowest group's is no sooner than this one's
	}
}

// endFlight ends a message's time in flight with its first delivery, where deliveries do that.
func (c *Consumer) endFlight(m *message, now int64) {
	if m.groups == 1 && c.plan.Flow.Closes == flow.OnDelivery {
		c.giveBack(m, now)
	}
}

func (c *Consumer) giveBack(m *message, now int64) {
	var over *observe.Tap // before the window connections may not be followed yet
	if m.sent >= c.plan.Start.Load() {
		over = c.Tap
	}
	inTime := c.receiving.credits[m.stream.ID].Delivered(m.stream, m.Sequence, m.sent, now, m.measured, over)
	if !inTime && m.measured && c.plan.Flow.Replies {
		c.receiving.LateReplies.Add(1)
	}
}

// observe records a new message of the window.
func (c *Consumer) observe(m *message, now int64) {
	st := m.stream
	if st.HasEnded(m.Sequence) {
		c.group.receivedEnded(m.ledger, st, m.Sequence)
	}
	if c.plan.Flow.Timed {
		own, due := m.Lag*int64(m.Own)/7, m.Intended-c.plan.Start.Load()
		response := now - m.Intended
		received := c.Tap.Received(now)
		if received >= 0 {
			c.shard.Value(recorder.LagReceive, received)
		}
		respond := func(id recorder.ID, v int64) int64 {
			own, received := own, received
			if m.shifted {
				v, own, received = apart(v, own, received)
			}
			c.shard.Response(id, v, own, received, due)
			return v
		}
		response = respond(c.plan.Flow.Response, response)
		if response > c.tail.Floor.Load() {
			c.tail.Offer(&observe.Exemplar{Value: response, Intended: m.Intended, Sent: m.sent, Done: m.Intended + response, Own: own,
				Seq: m.Sequence, Stream: m.Stream, Consumer: c.number(), Partition: int32(m.partition)})
		}
		if st.Fan != nil && int(m.groups) == st.Plan.FanOut {
			respond(recorder.DeliveryLast, m.latest-m.Intended)
		}
	}
	if m.shifted {
		c.shifted, c.early = true, max(c.early, m.sent-(now-max(c.Tap.Received(now), 0)))
	}
	c.shard.Value(c.plan.Flow.Service, now-m.sent)
	if st.Stamps != nil && !c.recording.Stages.OnAck {
		c.recording.Split(c.Tap, st.Stamps, m.Sequence, m.sent, now)
	}
	c.newest, c.reached = now, max(c.reached, m.Intended)
	if c.raw != nil {
		c.raw.Put(c.plan.Flow.RawDelivered, m.Stream, c.index, m.Sequence, m.Intended, m.sent, now)
	}
	if c.plan.Sizes != nil {
		c.Bytes.Add(int64(m.size))
	}
	c.Received.Add(1) // last: a goroutine that reads it also sees what was recorded before
}

// apart returns a latency between two clocks, which is no shorter than what one clock says of its parts: what the sender was late
// by itself, and what the message lay unread here. A negative one is counted as such, and has no parts.
func apart(v, own, received int64) (latency, ownPart, receivedPart int64) {
	if v < 0 {
		return v, 0, 0
	}
	return max(v, own+max(received, 0)), own, received
}

// number is the consumer's number in exemplars. A requester, which receives the replies
// to what it sent, has none.
func (c *Consumer) number() int32 {
	if c.kind == integrity.Reply {
		return -1
	}
	return int32(c.index)
}

// Partitions is how many parts of a topic it has received from, 1 where topics have none. It is
// called when no more can come.
func (c *Consumer) Partitions() int { return len(c.expected) }

// Newest is when its newest measured message came, CLOCK_MONOTONIC; 0: none came. It is called
// when no more can come.
func (c *Consumer) Newest() int64 { return c.newest }
