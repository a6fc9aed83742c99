package redisstreams

import (
	"context"
	"fmt"

	"sixnines/driver"
)

// Depth implements driver.DepthTeller: what the group was given nothing of and what
// it has not acknowledged. For a consumer on its own the server keeps no place; it
// is behind by what the stream has more than the consumer was given.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	key, err := s.key(topic)
	if err != nil {
		return driver.Depth{}, err
	}
	if spec.Group == "" {
		return s.depthAlone(ctx, key, spec)
	}
	reply, err := s.Do(ctx, key, "XINFO", "GROUPS", key)
	if err != nil {
		return driver.Depth{}, s.Wrap(err, "look at the groups of stream %q", key)
	}
	groups, _ := reply.([]any)
	for _, g := range groups {
		fields := fieldsOf(g)
		if name, _ := fields["name"].([]byte); string(name) != spec.Group {
			continue
		}
		lag, told := fields["lag"]
		if !told {
			return driver.Depth{}, fmt.Errorf("redis-streams: depth of %q: %w: the server tells no lag of groups before 7.0", key, driver.ErrUnsupported)
		}
		behind, known := lag.(int64)
		pending, ok := fields["pending"].(int64)
		if !known || !ok {
			return driver.Depth{}, fmt.Errorf("redis-streams: depth of %q: %w: entries were deleted, and the server has lost count", key, driver.ErrUnsupported)
		}
		return driver.Depth{Messages: behind + pending, Unacknowledged: true}, nil
	}
	return driver.Depth{}, fmt.Errorf("redis-streams: depth of %q: %w: it has no group %q", key, driver.ErrNoTopic, spec.Group)
}

// depthAlone is the depth for a consumer on its own.
func (s *session) depthAlone(ctx context.Context, key string, spec driver.ConsumerSpec) (driver.Depth, error) {
	if s.Target.Given {
		return driver.Depth{}, fmt.Errorf("redis-streams: depth of %q: %w: others have messages in the stream that a consumer on its own was not to get", key, driver.ErrUnsupported)
	}
	if s.options.MaxLen > 0 {
		return driver.Depth{}, fmt.Errorf("redis-streams: depth of %q: %w: the stream is trimmed, and what a consumer on its own was given may be among what is gone", key, driver.ErrUnsupported)
	}
	var given int64
	if found, ok := s.alone.Load(reader{spec.ID, key}); ok {
		c := found.(*consumer)
		if k, ok := c.numbers[key]; ok {
			given = c.taken[k].Load()
		}
	}
	reply, err := s.Do(ctx, key, "XLEN", key)
	if err != nil {
		return driver.Depth{}, s.Wrap(err, "ask for the length of stream %q", key)
	}
	length, _ := reply.(int64)
	return driver.Depth{Messages: max(0, length-given)}, nil
}

// fieldsOf returns the names and values of a reply that lists them in turn.
func fieldsOf(reply any) map[string]any {
	list, _ := reply.([]any)
	fields := map[string]any{}
	for i := 0; i+1 < len(list); i += 2 {
		if name, ok := list[i].([]byte); ok {
			fields[string(name)] = list[i+1]
		}
	}
	return fields
}
