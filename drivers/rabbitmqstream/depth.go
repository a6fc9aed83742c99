package rabbitmqstream

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream/wire"
)

// Depth implements driver.DepthTeller: what is in the stream behind the last
// message that was delivered to the consumer, which is not acknowledged to anybody.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	stream := s.stream(topic)
	p := s.partOf(spec.ID, stream)
	if p == nil {
		return driver.Depth{}, fmt.Errorf("rabbitmq-stream: depth of %q: %w: a consumer has a place only while it is there", stream, driver.ErrNotConnected)
	}
	place := p.place.Load()
	if place == 0 {
		return driver.Depth{}, fmt.Errorf("rabbitmq-stream: depth of %q: %w: where the consumer has begun is not known before its first message", stream, driver.ErrNotConnected)
	}
	end, err := s.end(ctx, stream)
	return driver.Depth{Messages: int64(end - min(place-1, end))}, err
}

// end asks where a stream ends.
func (s *session) end(ctx context.Context, stream string) (end uint64, err error) {
	if err := s.admin.Do(ctx, func(c *wire.Conn) (err error) {
		end, err = c.End(ctx, stream)
		return err
	}); err != nil {
		return 0, wrap(err, "ask where stream %q ends", stream)
	}
	return end, nil
}

// partOf returns the subscription of a consumer to a stream, or nil.
func (s *session) partOf(id int, stream string) *part {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.consumers[id]; c != nil {
		for _, p := range c.parts {
			if p.stream == stream {
				return p
			}
		}
	}
	return nil
}
