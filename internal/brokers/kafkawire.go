package brokers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaMost is the largest answer that is read, bytes.
const kafkaMost = 64 << 20

// kafkaAsk sends a request to the broker at the address and returns its answer. The listener must have
// neither encryption nor login.
func kafkaAsk(ctx context.Context, address string, q kmsg.Request) (kmsg.Response, error) {
	const correlation = 0x6e696e65
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("sixnines")).AppendRequest(nil, q, correlation)); err != nil {
		return nil, err
	}
	fail := func(err error) (kmsg.Response, error) {
		return nil, fmt.Errorf("%s answered a Kafka request (%s): %w", address, kmsg.NameForKey(q.Key()), err)
	}
	var head [8]byte // size, correlation
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return fail(err)
	}
	size := int64(binary.BigEndian.Uint32(head[:])) - 4
	if got := binary.BigEndian.Uint32(head[4:]); got != correlation || size < 0 || size > kafkaMost {
		return fail(errors.New("this is not a Kafka response"))
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		return fail(err)
	}
	if q.IsFlexible() && len(body) > 0 {
		body = body[1:] // the header's tags: zero of them
	}
	a := q.ResponseKind()
	if err := a.ReadFrom(body); err != nil {
		return fail(err)
	}
	return a, nil
}

// kafkaMetadata asks for the brokers and the topics, or all, in the version that all brokers since 0.8
// answer. Of topics it asks in one that names epochs of leaders, and replicas on brokers that have failed.
func kafkaMetadata(ctx context.Context, address string, topics ...string) (*kmsg.MetadataResponse, error) {
	q := kmsg.NewPtrMetadataRequest()
	q.Topics = []kmsg.MetadataRequestTopic{} // all
	if len(topics) > 0 {
		q.Version = 7 // since 2.1
	}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		q.Topics = append(q.Topics, t)
	}
	a, err := kafkaAsk(ctx, address, q)
	if err != nil {
		return nil, err
	}
	return a.(*kmsg.MetadataResponse), nil
}

// kafkaAnswers returns nil when the broker at the address knows at least the given
// number of brokers.
func kafkaAnswers(ctx context.Context, address string, brokers int) error {
	a, err := kafkaMetadata(ctx, address)
	if err == nil && len(a.Brokers) < brokers {
		err = fmt.Errorf("%s knows of %d of %d brokers", address, len(a.Brokers), brokers)
	}
	return err
}

// kafkaRoles asks brokers at addresses without encryption and login. Their identities are the nodes' numbers
// and 1.
func kafkaRoles(addresses []string) roles {
	return roles{
		placement: func(ctx context.Context, running []int, d Destination) (Placement, error) {
			// A broker hears of a new leader a little later than others: the highest epoch is the newest.
			var p Placement
			var newest int32 = -1
			var errs []error
			for _, k := range running {
				found, epoch, err := kafkaPlacement(ctx, addresses, k, d)
				if errs = append(errs, err); err == nil && epoch > newest {
					p, newest = found, epoch
				}
			}
			if newest < 0 {
				return p, errors.Join(errs...)
			}
			if p.Leader < 0 {
				return p, ErrNoLeader
			}
			return p, nil
		},
		transfer: func(ctx context.Context, running []int, d Destination, p Placement) error {
			able := slices.DeleteFunc(slices.Clone(p.InSync), func(k int) bool { return !slices.Contains(running, k) })
			if len(able) == 0 {
				return fmt.Errorf("%w: no other replica runs and is in sync", ErrNoTransfer)
			}
			order := append([]int{able[0]}, without(p.Followers, able[0])...)
			_, err := firstOf(running, func(k int) (struct{}, error) {
				return struct{}{}, kafkaElect(ctx, addresses[k], d, append(order, p.Leader))
			})
			return err
		},
	}
}

// kafkaPlacement asks a broker where a partition is, and for its leader's epoch. Without a leader the leader
// is -1.
func kafkaPlacement(ctx context.Context, addresses []string, k int, d Destination) (found Placement, epoch int32, err error) {
	a, err := kafkaMetadata(ctx, addresses[k], d.Name)
	if err != nil {
		return found, 0, err
	}
	for _, t := range a.Topics {
		i := slices.IndexFunc(t.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return int(p.Partition) == d.Partition })
		if t.Topic == nil || *t.Topic != d.Name || i < 0 {
			continue
		}
		p := t.Partitions[i]
		found.Leader = max(int(p.Leader), 0) - 1
		for _, id := range p.Replicas {
			switch k := int(id) - 1; {
			case k < 0 || k >= len(addresses):
				return found, 0, fmt.Errorf("broker %d has a replica but is not one of the %d nodes", id, len(addresses))
			case id != p.Leader:
				found.Followers = append(found.Followers, k)
				if slices.Contains(p.ISR, id) {
					found.InSync = append(found.InSync, k)
				}
			}
		}
		return found, p.LeaderEpoch, nil
	}
	return found, 0, fmt.Errorf("%s does not have it", addresses[k])
}

// kafkaElect makes the first of the nodes the preferred leader of the partition, and has it elected.
func kafkaElect(ctx context.Context, address string, d Destination, order []int) error {
	assign, part := kmsg.NewPtrAlterPartitionAssignmentsRequest(), kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	part.Partition = int32(d.Partition)
	for _, k := range order {
		part.Replicas = append(part.Replicas, int32(k+1))
	}
	topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	topic.Topic, topic.Partitions = d.Name, []kmsg.AlterPartitionAssignmentsRequestTopicPartition{part}
	assign.Topics = append(assign.Topics, topic)
	a, err := kafkaAsk(ctx, address, assign)
	if err != nil {
		return err
	}
	assigned := a.(*kmsg.AlterPartitionAssignmentsResponse)
	codes := []int16{assigned.ErrorCode}
	for _, t := range assigned.Topics {
		for _, p := range t.Partitions {
			codes = append(codes, p.ErrorCode)
		}
	}
	if err := kafkaRefused("the order of its replicas cannot be changed", codes); err != nil {
		return err
	}
	elect, which := kmsg.NewPtrElectLeadersRequest(), kmsg.NewElectLeadersRequestTopic()
	elect.Version = 1
	which.Topic, which.Partitions = d.Name, []int32{int32(d.Partition)}
	elect.Topics = append(elect.Topics, which)
	if a, err = kafkaAsk(ctx, address, elect); err != nil {
		return err
	}
	elected := a.(*kmsg.ElectLeadersResponse)
	codes = []int16{elected.ErrorCode}
	for _, t := range elected.Topics {
		for _, p := range t.Partitions {
			codes = append(codes, p.ErrorCode)
		}
	}
	return kafkaRefused("the preferred replica is not elected", codes)
}

// kafkaRefused returns an error if one of the codes is one.
func kafkaRefused(what string, codes []int16) error {
	const notNeeded = 84 // the preferred replica leads already
	for _, code := range codes {
		if code != 0 && code != notNeeded {
			return fmt.Errorf("%s: Kafka's error %d", what, code)
		}
	}
	return nil
}
