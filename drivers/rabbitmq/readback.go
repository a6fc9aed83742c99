package rabbitmq

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq/wire"
)

// Places implements driver.BackReader: the queues that Provision makes. Those of consumers on their
// own go with them.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	groups := t.Groups
	switch {
	case s.options.QueueType == stream:
		return nil, fmt.Errorf("rabbitmq: read back: %w: AMQP does not say where a stream ends; driver rabbitmq-stream can", driver.ErrUnsupported)
	case s.options.Exchange == noExchange || t.Consumers == 0 && !t.Keep && !t.Existing:
		groups = []string{""}
	case len(groups) == 0:
		return nil, fmt.Errorf("rabbitmq: read back: %w: the queue of a consumer on its own goes with it; set workload.groups to 1", driver.ErrUnsupported)
	}
	s.topology.mu.Lock()
	s.topology.sinks = t.Consumers == 0 && !t.Keep && !t.Existing
	s.topology.mu.Unlock()
	for _, topic := range t.Topics {
		for _, group := range groups {
			all = append(all, driver.Place{Topic: topic, Group: group, AtMostOnce: s.options.AckEvery == 0})
		}
	}
	return all, nil
}

// readPause is how long a queue is given to take back what consumers that have closed had not
// acknowledged: it must say twice, so far apart, that it has no more.
const readPause = 500 * time.Millisecond

// ReadBack implements driver.BackReader by consumers that acknowledge nothing, until the queue says
// that it has no more to hand out. Closing their channels gives all messages back to the queue.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	name := s.topology.placeQueue(p)
	found := driver.Reading{Until: driver.ReadToCount}
	if s.options.QueueType == quorum { // its members hand nothing out, whatever they have
		found.Copy, found.NotAskable = "leader", driver.NotAskableLeaderOnly
	}
	found.Removed = slices.ContainsFunc(s.options.QueueArguments, removes)
	err := s.admin.Do(ctx, func(conn *wire.Conn) error {
		r := &backReader{take: take, ended: make(chan error, 1)}
		asking, err := conn.Channel(ctx, silent{})
		if err != nil {
			return err
		}
		expected, err := asking.CheckQueue(ctx, name)
		if err != nil {
			return err
		}
		var reading []*wire.Channel
		if reading, err = r.another(ctx, conn, name, reading); err != nil {
			return err
		}
		for idle := 0; idle < 2; {
			before := r.read.Load()
			select {
			case err := <-r.ended:
				return fmt.Errorf("%w: the channel ended: %w", driver.ErrNotConnected, err)
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(readPause):
			}
			left, err := asking.CheckQueue(ctx, name)
			if err != nil {
				return err
			}
			switch n := r.read.Load(); {
			case n != before:
				idle = 0
			case left > 0: // a consumer has all that it may have without acknowledging
				idle = 0
				if reading, err = r.another(ctx, conn, name, reading); err != nil {
					return err
				}
			case n < expected:
				idle = 0
			default:
				idle++
			}
		}
		for _, ch := range reading {
			if err := ch.Close(ctx); err != nil {
				return err
			}
		}
		found.Messages = r.read.Load()
		return asking.Close(ctx)
	})
	return found, wrap(err, "read queue %q back", name)
}

// removes reports whether an argument has a queue remove messages that nobody has consumed.
func removes(argument string) bool {
	name, _, _ := strings.Cut(argument, "=")
	switch name {
	case "x-max-length", "x-max-length-bytes", "x-message-ttl", "x-expires", "x-delivery-limit":
		return true
	}
	return false
}

// another adds a channel with a consumer of the queue to those that read. A quorum queue gives a consumer
// 2,000 messages at most without a prefetch, and as many as that says with one.
func (r *backReader) another(ctx context.Context, conn *wire.Conn, queue string, reading []*wire.Channel) ([]*wire.Channel, error) {
	ch, err := conn.Channel(ctx, r)
	if err != nil {
		return reading, err
	}
	if err := ch.Prefetch(ctx, math.MaxUint16); err != nil {
		return reading, err
	}
	return append(reading, ch), ch.Consume(ctx, queue, 1, false, nil)
}

// backReader is the wire.Handler of the channels that read back.
type backReader struct {
	silent
	take  driver.Take
	read  atomic.Int64
	ended chan error
}

// Deliver implements wire.Handler.
func (r *backReader) Deliver(d wire.Delivery) {
	r.take(driver.Kept{Payload: d.Body})
	r.read.Add(1)
}

// End implements wire.Handler.
func (r *backReader) End(err error) {
	select {
	case r.ended <- err:
	default: // another channel has ended already
	}
}

// placeQueue returns the name of the queue that a place is.
func (t *topology) placeQueue(p driver.Place) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sinks && t.options.Exchange != noExchange {
		return t.sink(p.Topic)
	}
	return t.groupQueue(p.Topic, p.Group)
}
