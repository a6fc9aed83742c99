package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// connect makes recorders, lanes, producers and consumers.
func (ld *load) connect(ctx context.Context) error {
	s, w := ld.scenario, ld.workload
	lanes := ld.laneCount()
	shards := min(max(lanes, 1)+max(w.Consumers, 1), 4*maxShards())
	ld.planStages()
	metrics := ld.metrics()
	if len(metrics) == 0 {
		// Publishing flat out without acknowledgements: there is nothing to
		// time, only to count. A histogram keeps the file's shape.
		metrics = []recorder.ID{recorder.LagOwn}
	}
	var err error
	ld.rec, err = recorder.New(recorder.Config{Metrics: metrics, Shards: shards, Digits: s.Record.Digits,
		Highest: ld.window + s.Phases.Drain + w.Timeout + time.Second, Window: ld.window})
	if err != nil {
		return err
	}
	span := 0 // of sequence numbers that a ledger holds without a lock
	if !ld.timed {
		span = 1 << 22
	} else if ld.schedule != nil {
		span = int(min(1<<22, ld.schedule.Most(s.Phases.Drain+time.Second)/uint64(len(ld.layout.streams))+1))
	}
	ld.makeLanes(lanes, span)
	for _, g := range ld.layout.groups {
		ld.groups = append(ld.groups, &group{plan: g, span: span, ledgers: make([]atomic.Pointer[integrity.Ledger], g.streams),
			seen: make([]atomic.Bool, len(g.topics))})
	}
	began := clock.Now()
	if err := ld.connectConsumers(ctx, lanes); err != nil {
		return err
	}
	if err := ld.connectProducers(ctx, lanes); err != nil {
		return err
	}
	ld.attributed = ld.dialers[0].Mark()
	ld.cold = append(ld.cold, result.Cold{Name: "subscribe and set up producers", Duration: time.Duration(clock.Now() - began)})
	return nil
}

// manyPlaces is how many places in flight a connection has that no sender waits for
// one while acknowledgements lie unread for some milliseconds.
const manyPlaces = 1024

// inFlightDefault is the number of messages in flight that a driver with
// acknowledgements may come to if the scenario does not say.
const inFlightDefault = 65536

func (ld *load) makeLanes(n, span int) {
	w := ld.workload
	acked := ld.ack != driver.AckKindNone
	for i := range n {
		l := &lane{load: ld, shard: ld.rec.Shard(i), raw: ld.rawSink()}
		places := 1024
		if acked {
			total := w.InFlight.Messages
			if total == 0 {
				total = inFlightDefault
			}
			places = max(1, total/n)
			l.limit, l.counted = int64(places), true
		} else if w.InFlight.Messages > 0 && ld.closes == closeOnDelivery {
			l.limit, l.counted = int64(max(1, w.InFlight.Messages/n)), true
		}
		if byBytes := int(w.InFlight.Bytes/w.Size.Largest()) / n; byBytes < places {
			places = max(1, byBytes)
			if l.counted {
				l.limit = min(l.limit, int64(places))
			}
		}
		if acked {
			l.tail = ld.tailOf(ld.ackResponse).part(i, false)
		}
		if l.counted && ld.closes == closeOnDelivery {
			l.expiry = newExpiry(w.Timeout)
		}
		if acked {
			// What timed out holds its payload until Done: twice the places,
			// or losses would throttle the load.
			places *= 2
		}
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], ld.scenario.Seed)
		binary.LittleEndian.PutUint64(seed[8:], uint64(i))
		l.slots = newSlots(places, !acked, &bodies{size: int(w.Size.Largest()), payload: w.Payload, material: ld.material,
			sizes: ld.sizes, rng: rand.NewChaCha8(sha256.Sum256(seed[:])), lane: i, lanes: n})
		if acked {
			l.acks = brokerAcks{l}
		} else {
			l.acks = plainAcks{l}
		}
		ld.lanes = append(ld.lanes, l)
	}
	var ready chan completion
	owner := -1
	for id, sp := range ld.layout.streams {
		st := &stream{id: uint32(id), plan: sp, lane: ld.lanes[sp.producer%n]}
		if acked {
			st.acked = integrity.NewLedger(span)
		}
		if sp.fanOut > 1 {
			st.fan = integrity.NewFan(span)
		}
		if w.Loop == scenario.Closed {
			if sp.producer != owner {
				ready, owner = make(chan completion, 2*w.Outstanding+16), sp.producer
			}
			st.waiter = &waiter{st: st, ready: ready}
		}
		st.lane.streams = append(st.lane.streams, st)
		ld.streams = append(ld.streams, st)
	}
}

func (ld *load) connectProducers(ctx context.Context, lanes int) error {
	w := ld.workload
	for _, st := range ld.streams {
		spec := driver.ProducerSpec{ID: int(st.id), Topic: ld.layout.topics[st.plan.topic],
			Conn: st.plan.producer % lanes, Size: int(w.Size.Largest()),
			Limited: w.Loop == scenario.Closed || w.InFlight.Messages > 0 || st.lane.limit < manyPlaces}
		var err error
		mark := ld.dialers[0].Mark()
		if ld.replies {
			rr, ok := ld.session.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, ld.config.Entry.Name)
			}
			c := ld.newConsumer(0, int(st.id), integrity.Reply)
			st.producer, err = rr.Requester(ctx, spec, st.lane.acks, c.deliver)
		} else {
			st.producer, err = ld.session.Producer(ctx, spec, st.lane.acks)
		}
		if err != nil {
			return fmt.Errorf("producer %d: %w", st.plan.producer, err)
		}
		l := st.lane
		if c := ld.attribute("producer", mark, l.conn == nil); c != nil {
			l.conn = c
		}
		if ld.replies {
			ld.consumers[len(ld.consumers)-1].conn = l.conn // replies come by it
		}
		st.flusher, _ = st.producer.(driver.Flusher)
	}
	return nil
}

func (ld *load) connectConsumers(ctx context.Context, lanes int) error {
	w := ld.workload
	conns := max(1, min(w.Connections.Consumers, w.Consumers))
	ack, err := consumerAck(w.Consumer.Ack)
	if err != nil {
		return err
	}
	byConn := make([]*transport.Conn, conns)
	for i, cp := range ld.layout.consumers {
		spec := driver.ConsumerSpec{ID: i, Group: cp.name, Conn: i % conns, Ack: ack, Slow: w.Consumer.Work > 0}
		for _, t := range cp.topics {
			spec.Topics = append(spec.Topics, ld.layout.topics[t])
		}
		var client driver.Consumer
		if ld.replies {
			rr, ok := ld.responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, ld.config.Entry.Name)
			}
			p := &responder{}
			client, err = rr.Responder(ctx, spec, p.respond)
		} else {
			c := ld.newConsumer(cp.group, lanes+i, integrity.Data)
			mark := ld.dialers[0].Mark()
			client, err = ld.session.Consumer(ctx, spec, c.deliver)
			if c.conn = ld.attribute("consumer", mark, byConn[spec.Conn] == nil); c.conn != nil {
				byConn[spec.Conn] = c.conn
			}
			c.conn = byConn[spec.Conn]
		}
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
		ld.clients = append(ld.clients, client)
	}
	return nil
}

// fullChecks is the fan-out up to which every delivery's checksum is computed.
const fullChecks = 64

func (ld *load) newConsumer(group, shard int, kind integrity.Kind) *consumer {
	c := &consumer{load: ld, group: ld.groups[group], index: uint32(len(ld.consumers)), shard: ld.rec.Shard(shard), raw: ld.rawSink(), rawKind: ld.rawDelivered(),
		kind: kind, work: ld.workload.Consumer.Work, response: recorder.DeliveryResponse, service: recorder.DeliveryService}
	if ld.workload.Pattern != scenario.Deliver {
		c.response, c.service = recorder.RoundTripResponse, recorder.RoundTripService
	}
	if n := ld.layout.maxFanOut(); n > fullChecks {
		c.sampled = uint32(n / fullChecks)
	}
	c.tail = ld.tailOf(c.response).part(int(c.index), true)
	c.unordered = ld.replies && ld.workload.Consumers > 1
	c.highest = [][]uint64{make([]uint64, ld.groups[group].plan.streams)}
	ld.consumers = append(ld.consumers, c)
	return c
}

// consumerAck reads scenario.Consumer.Ack.
func consumerAck(s string) (driver.ConsumerAck, error) {
	switch s {
	case "":
		return driver.ConsumerAck{}, nil
	case "none":
		return driver.ConsumerAck{Mode: driver.AckNone}, nil
	case "each":
		return driver.ConsumerAck{Mode: driver.AckEach}, nil
	}
	var n int
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || n < 1 {
		return driver.ConsumerAck{}, fmt.Errorf("%w: workload.consumer.ack %q is none of none, each, or a number of messages", ErrUsage, s)
	}
	return driver.ConsumerAck{Mode: driver.AckEvery, Every: n}, nil
}
