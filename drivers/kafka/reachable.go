package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// reachMost is how long a broker may take to accept a connection at the address that it
// gives clients. Who drops packets would else be waited for until all time is over.
const reachMost = 2 * time.Second

// seed asks the brokers of the URL, one after the other, and none that they tell of.
func (s *session) seed(ctx context.Context, request *kmsg.MetadataRequest) (*kmsg.MetadataResponse, error) {
	var errs []error
	for _, b := range s.control.client.SeedBrokers() {
		answer, err := b.Request(ctx, request)
		if err == nil {
			return answer.(*kmsg.MetadataResponse), nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// advertised tries the addresses that brokers give clients, which need not be those of
// the URL. Where none of them can be reached nothing works, and the client would go on
// trying; where some cannot, an event tells of it.
func (s *session) advertised(ctx context.Context) error {
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{}
	answer, err := s.seed(ctx, request)
	if err != nil {
		return s.connecting(err, "ask %s for the brokers", &s.Address)
	}
	ctx, cancel := context.WithTimeout(ctx, min(reachMost, s.options.ConnectTimeout))
	defer cancel()
	errs := make([]error, len(answer.Brokers))
	var dials sync.WaitGroup
	for i, b := range answer.Brokers {
		address := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		if slices.ContainsFunc(s.Servers, func(given kit.Server) bool { return given.Address == address }) {
			continue // it has answered there
		}
		dials.Go(func() {
			c, err := s.Target.Dial(ctx, "tcp", address)
			if err == nil {
				c.Close()
				return
			}
			errs[i] = &driver.AdvertisedError{Given: s.Address.String(), Address: address, Setting: "advertised.listeners", Cause: err}
		})
	}
	dials.Wait()
	wrong := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(wrong) > 0 && len(wrong) == len(answer.Brokers) {
		return fmt.Errorf("kafka: %w", wrong[0])
	}
	for _, err := range wrong {
		s.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: err.Error(), Err: err})
	}
	return nil
}

// mayWrite asks whether the user may write to a topic, where the broker tells (2.3 and
// later): what it refuses of a producer without acknowledgements it does not answer, but
// closes the connection.
func (s *session) mayWrite(ctx context.Context, topic string) error {
	if !s.speaks(metadata, 8) {
		return nil
	}
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(topic)
	request.Topics = append(request.Topics, asked)
	request.IncludeTopicAuthorizedOperations = true
	answer, err := request.RequestWith(ctx, s.control.client)
	if err != nil {
		return wrap(err, "ask who may write to %q", topic)
	}
	const (
		unknown = -1 << 31 // there are no permissions, or the broker does not tell
		write   = 1 << 4   // kmsg.ACLOperationWrite
	)
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return wrap(err, "ask who may write to %q", topic)
		}
		if ops := t.AuthorizedOperations; ops != unknown && ops&write == 0 {
			return fmt.Errorf("kafka: send to %q: %w: of the operations on topic %q the broker allows this user no WRITE", topic, driver.ErrForbidden, topic)
		}
	}
	return nil
}

// unanswered finds out why brokers close connections of producers that want no
// acknowledgement.
type unanswered struct {
	topics sync.Map     // that are sent to
	lost   atomic.Int64 // connections since the broker was last asked
	asking atomic.Bool
}

// askEvery is how often a broker is asked why, at most.
const askEvery = time.Second

// lostUnanswered tells of what was refused, if that is why a connection was lost: at
// least one message of each that was.
func (s *session) lostUnanswered() {
	u := &s.unanswered
	u.lost.Add(1)
	if !u.asking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer u.asking.Store(false)
		ctx, cancel := context.WithTimeout(s.Life, s.options.RequestTimeout)
		defer cancel()
		u.topics.Range(func(topic, _ any) bool {
			err := s.mayWrite(ctx, topic.(string))
			if errors.Is(err, driver.ErrUnauthorized) {
				s.Target.Notify(driver.Event{Kind: driver.Denied, Err: err, Count: int(u.lost.Swap(0))})
			}
			return err == nil
		})
		select {
		case <-time.After(askEvery):
		case <-s.Life.Done():
		}
	}()
}
