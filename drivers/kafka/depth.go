package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
)

// places are how far a consumer on its own has come, by topic and partition. The
// methods are safe for concurrent use.
type places struct {
	mu sync.Mutex
	at map[string]map[int32]int64 // offsets of the next records; negative: not known
}

// begin sets where the consumer begins.
func (p *places) begin(starts map[string]map[int32]kgo.Offset) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = map[string]map[int32]int64{}
	for topic, partitions := range starts {
		p.at[topic] = map[int32]int64{}
		for n, o := range partitions {
			p.at[topic][n] = o.EpochOffset().Offset
		}
	}
}

// move notes that all before the offset has been delivered. A member of a group
// has no place of its own.
func (p *places) move(topic string, partition int32, offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at != nil {
		p.at[topic][partition] = offset
	}
}

// of returns the place in a partition; ok is false where that is not known.
func (p *places) of(topic string, partition int32) (offset int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	offset, ok = p.at[topic][partition]
	return offset, ok && offset >= 0
}

// Depth implements driver.DepthTeller: how far the group's committed offsets, or the
// consumer on its own, are behind the topic's end. What is delivered and not
// committed is in it.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	var none driver.Depth
	name, err := s.kafkaName(topic)
	switch {
	case err != nil:
		return none, err
	case s.options.Transactions:
		return none, fmt.Errorf("kafka: depth of %q: %w: the marks of transactions have offsets of their own", name, driver.ErrUnsupported)
	case spec.Group != "" && spec.Ack.Mode == driver.AckNone:
		return none, fmt.Errorf("kafka: depth of %q: %w: a group that commits nothing has no place at the broker", name, driver.ErrUnsupported)
	case !s.speaks(listOffsets, 1) || !s.speaks(offsetCommit, 2):
		return none, fmt.Errorf("kafka: depth of %q: %w: the broker's protocol tells no offsets", name, driver.ErrUnsupported)
	}
	ends, err := told(s.admin.ListEndOffsets(ctx, name))
	if err != nil {
		return none, wrap(err, "ask where %q ends", name)
	}
	at, err := s.placesOf(ctx, name, spec)
	if err != nil {
		return none, err
	}
	d := driver.Depth{Unacknowledged: true}
	var unknown error
	ends.Each(func(end kadm.ListedOffset) {
		if offset, ok := at(end.Partition); ok {
			d.Messages += max(0, end.Offset-offset)
		} else {
			unknown = fmt.Errorf("kafka: depth of %q: %w: no place in partition %d is known", name, driver.ErrNotConnected, end.Partition)
		}
	})
	return d, unknown
}

// placesOf returns what tells how far the consumer, or its group, is in the
// partitions of a topic.
func (s *session) placesOf(ctx context.Context, topic string, spec driver.ConsumerSpec) (func(partition int32) (int64, bool), error) {
	if spec.Group == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c := s.alone[spec.ID]; c != nil {
			return func(partition int32) (int64, bool) { return c.places.of(topic, partition) }, nil
		}
		return nil, fmt.Errorf("kafka: depth of %q: %w: a consumer on its own has a place only while it is there", topic, driver.ErrNotConnected)
	}
	committed, err := told(s.admin.FetchOffsetsForTopics(ctx, s.group(spec.Group), topic))
	if err != nil {
		return nil, wrap(err, "ask for the offsets of group %q", spec.Group)
	}
	begins, err := told(s.admin.ListStartOffsets(ctx, topic))
	if err != nil {
		return nil, wrap(err, "ask where %q begins", topic)
	}
	return func(partition int32) (int64, bool) {
		begin, known := begins.Lookup(topic, partition)
		o, ok := committed.Lookup(topic, partition)
		if ok && o.At >= 0 {
			return max(o.At, begin.Offset), known
		}
		return begin.Offset, known
	}, nil
}
