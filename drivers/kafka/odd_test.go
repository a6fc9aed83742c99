package kafka_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
)

// TestOddAnswers has a broker refuse and withhold answers as no real one can be
// made to.
func TestOddAnswers(t *testing.T) {
	for _, test := range []struct {
		name    string
		options map[string]any
		answer  *kerr.Error // nil: none
		class   error
	}{
		{"refused", nil, kerr.PolicyViolation, driver.ErrRejected},
		{"refused without idempotence", map[string]any{"acks": "1"}, kerr.InvalidRecord, driver.ErrRejected},
		{"too large", nil, kerr.MessageTooLarge, driver.ErrTooLarge},
		{"not allowed", nil, kerr.TopicAuthorizationFailed, driver.ErrUnauthorized},
		{"always tried again", map[string]any{"delivery_timeout": "1s"}, kerr.NotEnoughReplicas, driver.ErrTimeout},
		{"tried twice", map[string]any{"acks": "1", "retries": 1}, kerr.NotEnoughReplicas, driver.ErrRejected},
		{"unanswered", map[string]any{"delivery_timeout": "1s", "request_timeout": "100ms"}, nil, driver.ErrTimeout},
		{"unanswered without idempotence", map[string]any{"acks": "1", "delivery_timeout": "1s", "request_timeout": "100ms"}, nil, driver.ErrTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SleepOutOfOrder())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			s, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: strings.Join(c.ListenAddrs(), ","), Run: "odd", Options: test.options})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			t.Cleanup(func() { close(ended) })
			c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				if test.answer == nil {
					c.SleepControl(func() { <-ended })
					return nil, nil, false
				}
				return refuse(r.(*kmsg.ProduceRequest), test.answer.Code), nil, true
			})
			w := newWindow(10)
			p := sessiontest.Produce(t, s, w)
			for range 10 {
				<-w.free
				if err := p.Send(1, make([]byte, 100)); err != nil {
					t.Fatal(err)
				}
			}
			for range 10 { // each is done
				<-w.free
			}
			if n := w.Count(); n != 10 || !errors.Is(errors.Join(w.Failed()...), test.class) {
				t.Errorf("%d of 10 are done, with %v; want %v", n, errors.Join(w.Failed()...), test.class)
			}
		})
	}
}

// refuse answers every partition of a produce request with the code.
func refuse(r *kmsg.ProduceRequest, code int16) *kmsg.ProduceResponse {
	answer := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		of := kmsg.NewProduceResponseTopic()
		of.Topic, of.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode, part.BaseOffset = p.Partition, code, -1
			of.Partitions = append(of.Partitions, part)
		}
		answer.Topics = append(answer.Topics, of)
	}
	return answer
}
