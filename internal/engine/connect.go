package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// connect makes recorders, lanes, producers and consumers.
func (ld *load) connect(ctx context.Context) error {
	s, w := ld.Scenario, ld.Workload
	lanes := ld.LaneCount()
	shards := min(max(lanes, 1)+max(w.Consumers, 1), 4*plan.MaxShards())
	ld.recording.planStages()
	metrics := ld.metrics()
	if len(metrics) == 0 {
		// Publishing flat out without acknowledgements: there is nothing to
		// time, only to count. A histogram keeps the file's shape.
		metrics = []recorder.ID{recorder.LagOwn}
	}
	var err error
	ld.recording.rec, err = recorder.New(recorder.Config{Metrics: metrics, Shards: shards, Digits: s.Record.Digits,
		Highest: ld.Length + s.Phases.Drain + w.Timeout + time.Second, Window: ld.Length,
		Breathe: ld.breathe})
	if err != nil {
		return err
	}
	span := 0 // of sequence numbers that a ledger holds without a lock
	if !ld.Flow.Timed {
		span = 1 << 22
	} else if ld.Schedule != nil {
		span = int(min(1<<22, ld.Schedule.Most(s.Phases.Drain+time.Second)/uint64(len(ld.Layout.Streams))+1))
	}
	ld.sending.makeLanes(lanes, span)
	for _, g := range ld.Layout.Groups {
		ld.receiving.groups = append(ld.receiving.groups, &group{plan: g, span: span, ledgers: make([]atomic.Pointer[integrity.Ledger], g.Streams),
			seen: make([]atomic.Bool, len(g.Topics))})
	}
	began := clock.Now()
	if err := ld.receiving.connectConsumers(ctx, lanes); err != nil {
		return err
	}
	if err := ld.connectProducers(ctx, lanes); err != nil {
		return err
	}
	ld.recording.stages.attributed = ld.session.dialers[0].Mark()
	ld.session.cold = append(ld.session.cold, result.Cold{Name: "subscribe and set up producers", Duration: time.Duration(clock.Now() - began)})
	return nil
}

// manyPlaces is how many places in flight a connection needs, so that no sender waits
// for one while acknowledgements are unread for some milliseconds.
const manyPlaces = 1024

func (ld *load) connectProducers(ctx context.Context, lanes int) error {
	w := ld.Workload
	for _, st := range ld.sending.streams {
		spec := driver.ProducerSpec{ID: int(st.id), Topic: ld.Layout.Topics[st.plan.Topic],
			Conn: st.plan.Producer % lanes, Size: int(w.Size.Largest()),
			Limited: ld.Flow.Closed || w.Limit() > 0 || st.lane.limit < manyPlaces,
			KeySize: int(w.KeySize), Headers: headersOf(w.Headers)}
		var err error
		mark := ld.session.dialers[0].Mark()
		if ld.Flow.Replies {
			rr, ok := ld.session.main.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply and does not have it", driver.ErrUnsupported, ld.Entry.Name)
			}
			c := ld.receiving.newConsumer(0, int(st.id), integrity.Reply)
			st.producer, err = rr.Requester(ctx, spec, st.lane.acks, c.deliver)
		} else {
			st.producer, err = ld.session.main.Producer(ctx, spec, st.lane.acks)
		}
		if err != nil {
			return fmt.Errorf("producer %d: %w", st.plan.Producer, err)
		}
		if err := st.setKeys(ld.Plan); err != nil {
			return fmt.Errorf("producer %d: %w", st.plan.Producer, err)
		}
		l := st.lane
		if c := ld.recording.attribute("producer", mark, l.conn == nil); c != nil {
			l.conn = c
		}
		if ld.Flow.Replies {
			ld.receiving.consumers[len(ld.receiving.consumers)-1].conn = l.conn // replies come by it
		}
		st.flusher, _ = st.producer.(driver.Flusher)
	}
	return nil
}
