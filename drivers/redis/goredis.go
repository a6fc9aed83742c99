package redis

import (
	"context"
	"fmt"
	"unsafe"

	goredis "github.com/redis/go-redis/v9"

	"sixnines/drivers/internal/resp"
)

// goRedisSubscriber implements subscriber by the PubSub of go-redis. It is read by
// Receive and not by Channel, which connects again without a word and throws away
// what nobody takes for a minute.
type goRedisSubscriber struct {
	client                     *resp.GoRedisClient
	sub                        *goredis.PubSub
	subscribing, unsubscribing func(ctx context.Context, names ...string) error
}

func newGoRedisSubscriber(in *receiver, c *resp.Conn) *goRedisSubscriber {
	client := resp.NewGoRedis(c)
	sub := client.Subscribe(context.Background())
	s := &goRedisSubscriber{client: client, sub: sub, subscribing: sub.Subscribe, unsubscribing: sub.Unsubscribe}
	switch o := in.session.options; {
	case o.Sharded:
		s.subscribing, s.unsubscribing = sub.SSubscribe, sub.SUnsubscribe
	case o.Subscribe == pattern:
		s.subscribing, s.unsubscribing = sub.PSubscribe, sub.PUnsubscribe
	}
	return s
}

func (s *goRedisSubscriber) subscribe(name string) error {
	return s.subscribing(context.Background(), name)
}

func (s *goRedisSubscriber) unsubscribe(name string) error {
	return s.unsubscribing(context.Background(), name)
}

func (s *goRedisSubscriber) next(in *receiver) error {
	got, err := s.sub.Receive(context.Background()) // the end of the connection ends it
	if err != nil {
		if text, ok := resp.ReplyText(err); ok {
			return in.answered(resp.ReplyError(text))
		}
		return err
	}
	switch m := got.(type) {
	case *goredis.Message:
		name := m.Channel
		if m.Pattern != "" {
			name = m.Pattern
		}
		// Nobody writes to a payload, so the string need not be copied.
		in.pass(name, unsafe.Slice(unsafe.StringData(m.Payload), len(m.Payload)))
	case *goredis.Subscription:
		return in.answered(nil)
	default:
		return fmt.Errorf("%w: %T where a message should be", resp.ErrProtocol, got)
	}
	return nil
}

func (s *goRedisSubscriber) close() {
	s.sub.Close()
	s.client.Close()
}
