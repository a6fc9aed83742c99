package redisstreams

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// identifiers is the resp.Watch of XADD, which answers with an identifier.
type identifiers struct{}

// Reply implements resp.Watch. PING, which asks whether all was read, is answered
// by a status.
func (identifiers) Reply(kind byte, n int64) error {
	if kind == resp.Bulk && n > 0 || kind == resp.Status {
		return nil
	}
	return fmt.Errorf("redis-streams: %w: the server answers an XADD with no identifier", driver.ErrRejected)
}

// Lost implements resp.Watch.
func (identifiers) Lost() {}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	key, err := s.key(spec.Topic)
	if err != nil {
		return nil, err
	}
	return s.producers.Add(ctx, spec, key, resp.NewCommand(s.options.words(key, spec.Headers)...), acks)
}
