package kafka_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
)

// TestPassingErrors has a broker answer a few times with what goes away by
// itself, and wants a run set up all the same.
func TestPassingErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		key   kmsg.Key
		error *kerr.Error
	}{
		{"a leader that does not know it yet", kmsg.ListOffsets, kerr.NotLeaderForPartition},
		{"a coordinator that loads", kmsg.OffsetCommit, kerr.CoordinatorLoadInProgress},
		{"a controller that moves", kmsg.CreateTopics, kerr.NotController},
		{"a topic that a broker does not know yet", kmsg.Metadata, kerr.UnknownTopicOrPartition},
		{"a broker without numbers of producers", kmsg.InitProducerID, kerr.CoordinatorLoadInProgress},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int32
			s := failing(t, test.key, test.error.Code, &refused, 30)
			provision(t, s, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}})
			w := newWindow(1)
			sessiontest.Produce(t, s, w)
			if n := refused.Load(); n < 30 {
				t.Errorf("refused %d times only", n)
			}
		})
	}
	t.Run("for consumers on their own", func(t *testing.T) {
		t.Parallel()
		var refused atomic.Int32
		s := failing(t, kmsg.ListOffsets, kerr.NotLeaderForPartition.Code, &refused, 30)
		provision(t, s, driver.Topology{Topics: []string{"t0"}})
		consume(t, s, driver.ConsumerSpec{})
		if n := refused.Load(); n < 30 {
			t.Errorf("refused %d times only", n)
		}
	})
	t.Run("for ever", func(t *testing.T) {
		t.Parallel()
		var refused atomic.Int32
		s := failing(t, kmsg.ListOffsets, kerr.NotLeaderForPartition.Code, &refused, 1<<30)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}})
		if !errors.Is(err, driver.ErrTimeout) || !errors.Is(err, kerr.NotLeaderForPartition) {
			t.Errorf("%v; want a time-out that names the last cause", err)
		}
	})
}

// failing opens a session with a broker that answers so many requests of a kind
// with an error, and counts them.
func failing(t *testing.T, key kmsg.Key, code int16, count *atomic.Int32, times int32) driver.Session {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: strings.Join(c.ListenAddrs(), ","), Run: "passing",
		Options: map[string]any{"partitions": 12, "retry_backoff": "1ms"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	c.ControlKey(int16(key), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		answer := refusing(r, code)
		if answer == nil || count.Load() >= times {
			return nil, nil, false
		}
		count.Add(1)
		return answer, nil, true
	})
	return s
}

// refusing answers with the code whatever r asks for.
func refusing(r kmsg.Request, code int16) kmsg.Response {
	switch r := r.(type) {
	case *kmsg.ListOffsetsRequest:
		answer := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, t := range r.Topics {
			of := kmsg.ListOffsetsResponseTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				part := kmsg.NewListOffsetsResponseTopicPartition()
				part.Partition, part.ErrorCode = p.Partition, code
				of.Partitions = append(of.Partitions, part)
			}
			answer.Topics = append(answer.Topics, of)
		}
		return answer
	case *kmsg.OffsetCommitRequest:
		answer := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, t := range r.Topics {
			of := kmsg.OffsetCommitResponseTopic{Topic: t.Topic, TopicID: t.TopicID}
			for _, p := range t.Partitions {
				of.Partitions = append(of.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
			}
			answer.Topics = append(answer.Topics, of)
		}
		return answer
	case *kmsg.CreateTopicsRequest:
		answer := r.ResponseKind().(*kmsg.CreateTopicsResponse)
		for _, t := range r.Topics {
			of := kmsg.NewCreateTopicsResponseTopic()
			of.Topic, of.ErrorCode = t.Topic, code
			answer.Topics = append(answer.Topics, of)
		}
		return answer
	case *kmsg.MetadataRequest:
		if len(r.Topics) == 0 {
			return nil
		}
		answer := r.ResponseKind().(*kmsg.MetadataResponse)
		for _, t := range r.Topics {
			of := kmsg.NewMetadataResponseTopic()
			of.Topic, of.TopicID, of.ErrorCode = t.Topic, t.TopicID, code
			answer.Topics = append(answer.Topics, of)
		}
		return answer
	case *kmsg.InitProducerIDRequest:
		answer := r.ResponseKind().(*kmsg.InitProducerIDResponse)
		answer.ErrorCode = code
		return answer
	}
	return nil
}
