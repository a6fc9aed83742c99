package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Places implements driver.BackReader: each topic, which keeps what it has until its retention is over.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	if !s.speaks(listOffsets, 1) {
		return nil, fmt.Errorf("kafka: read back: %w: the broker's protocol tells no offsets", driver.ErrUnsupported)
	}
	if err := s.assign(t.Topics); err != nil {
		return nil, err
	}
	if _, err := s.kafkaNames(t.Topics); err != nil {
		return nil, err
	}
	for _, topic := range t.Topics {
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	return all, nil
}

// ReadBack implements driver.BackReader: each partition from its start offset to its end offset, by a
// client of its own, in the copy of the partition's leader. Records of transactions that were aborted are
// among them.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	none := driver.Reading{}
	name, err := s.kafkaName(p.Topic)
	if err != nil {
		return none, err
	}
	details, err := told(s.admin.ListTopics(ctx, name))
	if err != nil {
		return none, wrap(err, "read %q back", name)
	}
	begins, err := told(s.admin.ListStartOffsets(ctx, name))
	if err != nil {
		return none, wrap(err, "ask where %q begins", name)
	}
	ends, err := told(s.admin.ListEndOffsets(ctx, name))
	if err != nil {
		return none, wrap(err, "ask where %q ends", name)
	}
	found := driver.Reading{Until: driver.ReadToPosition}
	if details[name].Partitions.NumReplicas() > 1 {
		found.Copy = "leader"
		if !s.speaks(fetch, replicaVersion) {
			found.NotAskable = driver.NotAskableVersion
		}
	}
	compacts, err := s.compacts(ctx, name)
	if err != nil {
		return none, err
	}
	found.Removed = compacts
	from, left := map[int32]kgo.Offset{}, map[int32]int64{} // the ends of partitions that are not read to them
	ends.Each(func(end kadm.ListedOffset) {
		begin, _ := begins.Lookup(name, end.Partition)
		found.Removed = found.Removed || begin.Offset > 0
		// Offsets count records, but for what ends transactions. Of several partitions it is not known in which one a
		// message that is gone was.
		if len(ends[name]) == 1 && !compacts && !s.options.Transactions {
			found.Dropped = begin.Offset
		}
		if begin.Offset < end.Offset {
			from[end.Partition], left[end.Partition] = kgo.NewOffset().At(begin.Offset), end.Offset
		}
	})
	if len(left) == 0 {
		return found, nil
	}
	l, err := s.connect(ctx, kit.Key{Role: kit.Control}, append(s.consumerOptions(), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadUncommitted()), kgo.KeepControlRecords(), // which have offsets of their own
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{name: from}))...)
	if err != nil {
		return none, s.connecting(err, "read %q back", name)
	}
	defer l.close(context.WithoutCancel(ctx))
	for len(left) > 0 {
		fetches := l.client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return none, wrap(err, "read %q back, after %d records", name, found.Messages)
		}
		for _, x := range fetches.Errors() {
			return none, wrap(x.Err, "read partition %d of %q back", x.Partition, name)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			end, open := left[r.Partition]
			if !open {
				return
			}
			if !r.Attrs.IsControl() {
				found.Messages++
				take(driver.Kept{Payload: r.Value, Partition: int(r.Partition), Position: r.Offset})
			}
			if r.Offset+1 >= end {
				delete(left, r.Partition)
			}
		})
	}
	return found, nil
}

// compacts reports whether the broker removes records of a topic that have a successor with the same key. Of those who
// may not ask it is taken not to, which is Kafka's default.
func (s *session) compacts(ctx context.Context, name string) (bool, error) {
	settings, err := s.effective(ctx, name)
	if err != nil && (classOf(err) == driver.ErrUnsupported || errors.Is(classOf(err), driver.ErrUnauthorized)) {
		err = nil
	}
	return strings.Contains(settings["cleanup.policy"], "compact"), wrap(err, "ask for the settings of %q", name)
}
