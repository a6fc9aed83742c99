package jetstream

import (
	"context"
	"fmt"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
)

// existing reports whether what an earlier session has left is used.
func (s *session) existing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topology.Existing
}

// oldest reports whether consumers on their own begin with the oldest message.
func (s *session) oldest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topology.Existing || s.topology.Late
}

// Depth implements driver.DepthTeller: what the server's consumer has not
// delivered, and where messages are acknowledged also what it has delivered and was
// not acknowledged.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	st, err := s.streamOf(topic)
	if err != nil {
		return driver.Depth{}, err
	}
	name := plain(spec.Group)
	if s.Target.Given {
		name = spec.Group
	}
	if spec.Group == "" {
		if name = s.feedName(spec.ID, st); name == "" {
			return driver.Depth{}, fmt.Errorf("%s: depth of stream %s: %w: a consumer on its own has a place only while it is there", product, st.name, driver.ErrNotConnected)
		}
	}
	info, err := s.api.consumerInfo(ctx, st.name, name)
	if err != nil {
		return driver.Depth{}, err
	}
	return driver.Depth{Messages: int64(info.NumPending) + int64(info.NumAckPending), Unacknowledged: info.Config.AckPolicy != js.AckNonePolicy}, nil
}

// feedName returns the server's name for the consumer of that ID in a stream; empty: it has
// no such consumer.
func (s *session) feedName(id int, st stream) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.alone[id]; c != nil {
		for _, f := range c.feeds {
			if name := f.known.Load(); f.stream == st && name != nil {
				return *name
			}
		}
	}
	return ""
}
