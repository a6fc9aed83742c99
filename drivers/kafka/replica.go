package kafka

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// replicaVersion is the version of the Fetch request from which followers answer consumers (Kafka 2.4, KIP-392).
// They do so whatever replica.selector.class is: that setting only has leaders name followers to consumers.
const replicaVersion = 11

// Replicas implements driver.ReplicaReader: the brokers that have a replica of a partition.
func (s *session) Replicas(ctx context.Context, p driver.Place) ([]driver.Replica, error) {
	name, err := s.kafkaName(p.Topic)
	if err != nil || !s.speaks(fetch, replicaVersion) {
		return nil, err
	}
	details, err := told(s.admin.ListTopics(ctx, name))
	if err != nil {
		return nil, wrap(err, "ask for the replicas of %q", name)
	}
	partitions := details[name].Partitions
	if partitions.NumReplicas() <= 1 {
		return nil, nil
	}
	has, leads, away := map[int32][]int{}, map[int32]int{}, map[int32]bool{}
	for _, x := range partitions.Sorted() {
		for _, node := range x.Replicas {
			has[node] = append(has[node], int(x.Partition))
			away[node] = away[node] || slices.Contains(x.OfflineReplicas, node)
		}
		leads[x.Leader]++
	}
	var all []driver.Replica
	for node, parts := range has {
		r := driver.Replica{Name: nodeName(node), Leader: leads[node] > 0, Partly: leads[node] < len(partitions), Answer: driver.ReplicaContents}
		if len(parts) < len(partitions) {
			r.Partitions = parts
		}
		if away[node] {
			r.Answer, r.NotAskable = driver.ReplicaSilent, driver.NotAskableOffline
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b driver.Replica) int { return nodeOf(a.Name) - nodeOf(b.Name) })
	return all, nil
}

// nodeName is how a broker is called in results, and nodeOf returns its number.
func nodeName(node int32) string { return fmt.Sprintf("broker %d", node) }

func nodeOf(name string) (node int) {
	_, _ = fmt.Sscanf(name, "broker %d", &node) // nodeName has made it
	return node
}

const (
	replicaWait  = 500 // ms that a broker may wait for records
	replicaTurns = 6   // answers without a record until a copy counts as behind
	replicaBytes = 8 << 20
)

// ReadReplica implements driver.ReplicaReader by Fetch requests to the broker itself. A follower answers up to the
// high watermark that it knows, which the leader tells it with what it fetches next: so one that is not at the leader's
// end is asked again for a while.
func (s *session) ReadReplica(ctx context.Context, p driver.Place, r driver.Replica, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToPosition, Copy: r.Name}
	name, err := s.kafkaName(p.Topic)
	if err != nil {
		return found, err
	}
	begins, err := told(s.admin.ListStartOffsets(ctx, name))
	if err != nil {
		return found, wrap(err, "ask where %q begins", name)
	}
	ends, err := told(s.admin.ListEndOffsets(ctx, name))
	if err != nil {
		return found, wrap(err, "ask where %q ends", name)
	}
	details, err := told(s.admin.ListTopics(ctx, name))
	if err != nil {
		return found, wrap(err, "read %q back", name)
	}
	l, err := s.connect(ctx, kit.Key{Role: kit.Control})
	if err != nil {
		return found, s.connecting(err, "read %q back", name)
	}
	defer l.close(context.WithoutCancel(ctx))
	next, last := map[int32]int64{}, map[int32]int64{} // offsets of partitions that are not read to their ends
	ends.Each(func(end kadm.ListedOffset) {
		begin, _ := begins.Lookup(name, end.Partition)
		if begin.Offset < end.Offset && (r.Partitions == nil || slices.Contains(r.Partitions, int(end.Partition))) {
			next[end.Partition], last[end.Partition] = begin.Offset, end.Offset
		}
	})
	for turns := 0; len(next) > 0 && turns < replicaTurns; turns++ {
		answer, err := l.client.Broker(nodeOf(r.Name)).Request(ctx, fetchOf(name, details[name].ID, next))
		if err != nil {
			return found, wrap(err, "read the copy that %s has of %q, after %d records", r.Name, name, found.Messages)
		}
		fetched := answer.(*kmsg.FetchResponse)
		if err := kerr.ErrorForCode(fetched.ErrorCode); err != nil {
			return found, wrap(err, "read the copy that %s has of %q", r.Name, name)
		}
		for i := range fetched.Topics {
			for j := range fetched.Topics[i].Partitions {
				part := &fetched.Topics[i].Partitions[j]
				from := next[part.Partition]
				records, after := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true, Offset: from, Topic: name, Partition: part.Partition},
					part, kgo.DefaultDecompressor(), nil)
				if records.Err != nil {
					return found, wrap(records.Err, "read partition %d of the copy that %s has of %q", part.Partition, r.Name, name)
				}
				for _, x := range records.Records {
					if !x.Attrs.IsControl() && x.Offset < last[part.Partition] {
						found.Messages++
						take(driver.Kept{Payload: x.Value, Partition: int(x.Partition), Position: x.Offset})
					}
				}
				if next[part.Partition] = after; after > from {
					turns = -1
				}
				if after >= last[part.Partition] {
					delete(next, part.Partition)
				}
			}
		}
	}
	return found, nil
}

// fetchOf asks for records from the offsets on, by partition.
func fetchOf(name string, id kadm.TopicID, next map[int32]int64) *kmsg.FetchRequest {
	q := kmsg.NewPtrFetchRequest()
	q.MaxWaitMillis, q.MinBytes, q.MaxBytes = replicaWait, 1, replicaBytes
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = name, id
	for partition, offset := range next {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, replicaBytes
		t.Partitions = append(t.Partitions, p)
	}
	q.Topics = append(q.Topics, t)
	return q
}
