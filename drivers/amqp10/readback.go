package amqp10

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// Places implements driver.BackReader: the queues that Provision makes on Artemis. Those of consumers on
// their own go with them.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	if !s.isManaged() || !s.is(artemisProduct) {
		return nil, fmt.Errorf("amqp10: read back: %w: the driver reads queues of Artemis only; RabbitMQ's cannot be read without consuming", driver.ErrUnsupported)
	}
	if err := s.plan(t); err != nil {
		return nil, err
	}
	groups := t.Groups
	if len(groups) == 0 && t.Consumers > 0 && !s.isAnycast() {
		return nil, fmt.Errorf("amqp10: read back: %w: the queue of a consumer on its own goes with it; set workload.groups to 1", driver.ErrUnsupported)
	}
	if len(groups) == 0 {
		groups = []string{""}
	}
	for _, topic := range t.Topics {
		for _, group := range groups {
			all = append(all, driver.Place{Topic: topic, Group: group, AtMostOnce: s.options.AckEvery == 0})
		}
	}
	return all, nil
}

// backPause is between two looks at how much a queue has: it must say twice, so far apart, that there is
// no more than was read.
const backPause = 250 * time.Millisecond

// ReadBack implements driver.BackReader by a link that copies messages instead of moving them, until as many
// have come as Artemis counts.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToCount}
	queue := s.queue(p.Topic, driver.ConsumerSpec{Group: p.Group})
	if p.Group == "" && !s.isAnycast() {
		queue = sinkOf(s.name(p.Topic))
	}
	c := s.control.Live()
	if c == nil {
		return found, wrap(s.control.Absent(), "read queue %q back", queue)
	}
	if _, _, err := c.broker.count(ctx, queue); err != nil {
		return found, wrap(err, "ask how many messages queue %q has", queue)
	}
	n, err := s.browse(ctx, c, s.name(p.Topic)+"::"+queue, queue, take)
	found.Messages = n
	return found, wrap(err, "read queue %q back, after %d messages", queue, n)
}

// browse reads what a queue has, and returns how much that was.
func (s *session) browse(ctx context.Context, c *conn, source, queue string, take driver.Take) (int64, error) {
	on, err := c.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer c.quit(context.WithoutCancel(ctx), on)
	in, err := on.NewReceiver(ctx, source, &amqp.ReceiverOptions{Credit: int32(s.options.Credit), SourceDistributionMode: amqp.SourceDistributionModeCopy,
		RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr(), SourceCapabilities: s.capability()})
	if err != nil {
		return 0, err
	}
	reading, stop := context.WithCancel(ctx)
	var read atomic.Int64
	ended := make(chan error, 1)
	go func() {
		for {
			m, err := in.Receive(reading, nil)
			if err != nil {
				ended <- err
				return
			}
			take(driver.Kept{Payload: m.GetData()})
			read.Add(1)
		}
	}()
	err = func() error {
		for idle, before := 0, int64(-1); idle < 2; {
			select {
			case err := <-ended:
				ended <- err
				return fmt.Errorf("%w: the link ended: %w", driver.ErrNotConnected, err)
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(backPause):
			}
			count, _, err := c.broker.count(ctx, queue)
			if err != nil {
				return err
			}
			now := read.Load()
			if now == before && now >= count {
				idle++
			} else {
				idle = 0
			}
			before = now
		}
		return nil
	}()
	stop()
	<-ended
	return read.Load(), err
}
