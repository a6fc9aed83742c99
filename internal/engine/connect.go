package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
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
func (r *run) connect(ctx context.Context) error {
	s, w := r.scenario, r.workload
	lanes := min(w.Connections.Producers, w.Producers)
	shards := min(max(lanes, 1)+max(w.Consumers, 1), 4*maxShards())
	r.planStages()
	metrics := r.metrics()
	if len(metrics) == 0 {
		// Publishing flat out without acknowledgements: there is nothing to
		// time, only to count. A histogram keeps the file's shape.
		metrics = []recorder.ID{recorder.LagOwn}
	}
	var err error
	r.rec, err = recorder.New(recorder.Config{Metrics: metrics, Shards: shards, Digits: s.Record.Digits,
		Highest: r.window + s.Phases.Drain + w.Timeout + time.Second, Window: r.window})
	if err != nil {
		return err
	}
	span := 0 // of sequence numbers that a ledger holds without a lock
	if r.flatOut {
		span = 1 << 22
	} else if r.plan != nil {
		span = int(min(1<<22, r.plan.Most(s.Phases.Drain+time.Second)/uint64(len(r.layout.streams))+1))
	}
	r.makeLanes(lanes, span)
	for _, g := range r.layout.groups {
		r.groups = append(r.groups, &group{plan: g, span: span, ledgers: make([]atomic.Pointer[integrity.Ledger], g.streams),
			seen: make([]atomic.Bool, len(g.topics))})
	}
	began := clock.Now()
	if err := r.connectConsumers(ctx, lanes); err != nil {
		return err
	}
	if err := r.connectProducers(ctx, lanes); err != nil {
		return err
	}
	r.attributed = r.dialers[0].Mark()
	r.cold = append(r.cold, result.Cold{Name: "subscribe and set up producers", Duration: time.Duration(clock.Now() - began)})
	return nil
}

// inFlightDefault is the number of messages in flight that a driver with
// acknowledgements may come to if the scenario does not say.
const inFlightDefault = 65536

func (r *run) makeLanes(n, span int) {
	w := r.workload
	acked := r.ack != driver.AckKindNone
	for i := range n {
		l := &lane{run: r, shard: r.rec.Shard(i), raw: r.rawSink()}
		places := 1024
		if acked {
			total := w.InFlight.Messages
			if total == 0 {
				total = inFlightDefault
			}
			places = max(1, total/n)
			l.limit, l.counted = int64(places), true
		} else if w.InFlight.Messages > 0 && r.closes == closeOnDelivery {
			l.limit, l.counted = int64(max(1, w.InFlight.Messages/n)), true
		}
		if byBytes := int(int64(w.InFlight.Bytes)/int64(w.Size)) / n; byBytes < places {
			places = max(1, byBytes)
			if l.counted {
				l.limit = min(l.limit, int64(places))
			}
		}
		if acked {
			l.tail = r.tailOf(r.ackResponse).part(i, false)
		}
		if l.counted && r.closes == closeOnDelivery {
			l.expiry = newExpiry(w.Timeout)
		}
		if acked {
			// What timed out holds its payload until Done: twice the places,
			// or losses would throttle the load.
			places *= 2
		}
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], r.scenario.Seed)
		binary.LittleEndian.PutUint64(seed[8:], uint64(i))
		l.slots = newSlots(places, int(w.Size), !acked, sha256.Sum256(seed[:]))
		if acked {
			l.acks = brokerAcks{l}
		} else {
			l.acks = plainAcks{l}
		}
		r.lanes = append(r.lanes, l)
	}
	var ready chan completion
	owner := -1
	for id, sp := range r.layout.streams {
		st := &stream{id: uint32(id), plan: sp, lane: r.lanes[sp.producer%n]}
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
		r.streams = append(r.streams, st)
	}
}

func (r *run) connectProducers(ctx context.Context, lanes int) error {
	for _, st := range r.streams {
		spec := driver.ProducerSpec{ID: int(st.id), Topic: r.layout.topics[st.plan.topic],
			Conn: st.plan.producer % lanes, Size: int(r.workload.Size)}
		var err error
		mark := r.dialers[0].Mark()
		if r.replies {
			rr, ok := r.session.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, r.config.Entry.Name)
			}
			c := r.newConsumer(0, int(st.id), integrity.Reply)
			st.producer, err = rr.Requester(ctx, spec, st.lane.acks, c.deliver)
		} else {
			st.producer, err = r.session.Producer(ctx, spec, st.lane.acks)
		}
		if err != nil {
			return fmt.Errorf("producer %d: %w", st.plan.producer, err)
		}
		l := st.lane
		if c := r.attribute("producer", mark, l.conn == nil); c != nil {
			l.conn = c
		}
		if r.replies {
			r.consumers[len(r.consumers)-1].conn = l.conn // replies come by it
		}
		st.flusher, _ = st.producer.(driver.Flusher)
	}
	return nil
}

func (r *run) connectConsumers(ctx context.Context, lanes int) error {
	w := r.workload
	conns := max(1, min(w.Connections.Consumers, w.Consumers))
	ack, err := consumerAck(w.Consumer.Ack)
	if err != nil {
		return err
	}
	byConn := make([]*transport.Conn, conns)
	for i, cp := range r.layout.consumers {
		spec := driver.ConsumerSpec{ID: i, Group: cp.name, Conn: i % conns, Ack: ack, Slow: w.Consumer.Work > 0}
		for _, t := range cp.topics {
			spec.Topics = append(spec.Topics, r.layout.topics[t])
		}
		var client driver.Consumer
		if r.replies {
			rr, ok := r.responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, r.config.Entry.Name)
			}
			p := &responder{run: r}
			r.servers = append(r.servers, p)
			client, err = rr.Responder(ctx, spec, p.respond)
		} else {
			c := r.newConsumer(cp.group, lanes+i, integrity.Data)
			mark := r.dialers[0].Mark()
			client, err = r.session.Consumer(ctx, spec, c.deliver)
			if c.conn = r.attribute("consumer", mark, byConn[spec.Conn] == nil); c.conn != nil {
				byConn[spec.Conn] = c.conn
			}
			c.conn = byConn[spec.Conn]
		}
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
		r.clients = append(r.clients, client)
	}
	return nil
}

// fullChecks is the fan-out up to which every delivery's checksum is computed.
const fullChecks = 64

func (r *run) newConsumer(group, shard int, kind integrity.Kind) *consumer {
	c := &consumer{run: r, group: r.groups[group], index: uint32(len(r.consumers)), shard: r.rec.Shard(shard), raw: r.rawSink(),
		kind: kind, work: r.workload.Consumer.Work, response: recorder.DeliveryResponse, service: recorder.DeliveryService}
	if r.workload.Pattern != scenario.Deliver {
		c.response, c.service = recorder.RoundTripResponse, recorder.RoundTripService
	}
	if n := r.layout.maxFanOut(); n > fullChecks {
		c.sampled = uint32(n / fullChecks)
	}
	c.tail = r.tailOf(c.response).part(int(c.index), true)
	c.unordered = r.replies && r.workload.Consumers > 1
	c.highest = [][]uint64{make([]uint64, r.groups[group].plan.streams)}
	r.consumers = append(r.consumers, c)
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
