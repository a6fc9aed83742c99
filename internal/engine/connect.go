package engine

import (
	"context"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/credit"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// connect makes recorders, lanes, producers and consumers. After it the slices of sending and receiving
// do not change, but for the clients of late consumers.
func (ld *load) connect(ctx context.Context) error {
	s, w := ld.Scenario, ld.Workload
	lanes := ld.LaneCount()
	shards := min(max(lanes, 1)+max(w.Consumers, 1), 4*plan.MaxShards())
	ld.recording.PlanStages()
	metrics := ld.metrics()
	if len(metrics) == 0 {
		// Unpaced publishing without acknowledgements has nothing to
		// time, only to count. A histogram keeps the file's shape.
		metrics = []recorder.ID{recorder.LagOwn}
	}
	var err error
	ld.recording.Rec, err = recorder.New(recorder.Config{Metrics: metrics, Shards: shards, Digits: s.Record.Digits,
		Highest: ld.lasts + s.Phases.Drain + w.Timeout + time.Second, Window: ld.Length,
		Breathe: ld.breathe})
	if err != nil {
		return err
	}
	span := 0 // of sequence numbers that a ledger holds without a lock
	if !ld.Flow.Timed {
		span = 1 << 22
	} else if ld.Schedule != nil {
		span = int(min(1<<22, ld.Schedule.Most(s.Phases.Drain+time.Second)/uint64(len(ld.Layout.Streams))+1))
	} else if ld.Arrives != nil {
		span = int(min(1<<22, ld.Arrives.Most(s.Phases.Drain+time.Second)/uint64(len(ld.Layout.Streams))+1))
	}
	ld.sending.MakeLanes(lanes, span)
	streams := ld.sending.Streams
	var credits []*credit.Credits
	for _, st := range streams {
		credits = append(credits, &ld.sending.LaneOf(st).Credits)
	}
	if ld.Flow.Listens {
		streams = ld.receiving.Remote()
	}
	ld.receiving.Bind(streams, credits, span)
	if ld.accounts.Back != nil {
		ld.accounts.Back.Bind(ld.sending.Streams)
	}
	began := clock.Now()
	if err := ld.receiving.ConnectConsumers(ctx, lanes); err != nil {
		return err
	}
	if err := ld.connectProducers(ctx, lanes); err != nil {
		return err
	}
	ld.recording.Stages.Attributed = ld.session.Dialers[0].Mark()
	ld.session.SetupTimes = append(ld.session.SetupTimes, result.SetupTime{Name: "subscribe and set up producers", Duration: time.Duration(clock.Now() - began)})
	return nil
}

// manyCredits is how many credits a connection needs, so that no sender waits
// for one while acknowledgements are unread for some milliseconds.
const manyCredits = 1024

func (ld *load) connectProducers(ctx context.Context, lanes int) error {
	w := ld.Workload
	for _, st := range ld.sending.Streams {
		l := ld.sending.LaneOf(st)
		spec := driver.ProducerSpec{ID: int(st.ID), Topic: ld.Layout.Topics[st.Plan.Topic],
			Conn: st.Plan.Producer % lanes, Size: int(w.Size.Largest()),
			Limited: ld.Flow.Closed || w.Limit() > 0 || l.Credits.Limit < manyCredits,
			KeySize: int(w.KeySize), Headers: stream.HeadersOf(w.Headers)}
		var err error
		mark := ld.session.Dialers[0].Mark()
		if ld.Flow.Replies {
			rr, ok := ld.session.Main.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply but does not implement it", driver.ErrUnsupported, ld.Entry.Name)
			}
			c := ld.receiving.NewConsumer(0, int(st.ID), integrity.Reply)
			st.Producer, err = rr.Requester(ctx, spec, l.Acks, c.Deliver)
		} else {
			st.Producer, err = ld.session.Main.Producer(ctx, spec, l.Acks)
		}
		if err != nil {
			return fmt.Errorf("producer %d: %w", st.Plan.Producer, err)
		}
		if err := st.SetKeys(ld.Plan); err != nil {
			return fmt.Errorf("producer %d: %w", st.Plan.Producer, err)
		}
		if c := ld.recording.Attribute(driver.RoleProducer, ld.session.Dialers[0], mark, l.Conn == nil); c != nil {
			l.Conn = c
		}
		if ld.Flow.Replies {
			ld.receiving.Consumers[len(ld.receiving.Consumers)-1].Conn = l.Conn // replies come by the producer's connection
		}
		st.Flusher, _ = st.Producer.(driver.Flusher)
	}
	return nil
}
