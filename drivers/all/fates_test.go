package all_test

import (
	"context"
	"encoding/binary"
	"os"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
	"sixnines/result"
)

// Of messages that the broker never had although they were acknowledged, of those that it still has when
// the run ends, and of those that it has twice, the accounts are exact, by whichever driver.
func TestFates(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		driver, product string
		options         string                           // of the driver
		more            func(*brokers.Cluster) [2]string // another one, which depends on the broker
		alone           bool                             // there are no groups
		limit           string                           // options with which the broker removes messages
		counts          bool                             // it says how many
	}{
		{driver: "jetstream", product: "nats", limit: "max_messages: 300", counts: true},
		{driver: "redis-streams", product: "redis", limit: "maxlen: 300, trim: exact", counts: true},
		{driver: "kafka", product: "kafka", limit: "key: zipf, topic_config: [cleanup.policy=compact]"},
		{driver: "rabbitmq", product: "rabbitmq", limit: "queue_arguments: [x-max-length=300]"},
		{driver: "rabbitmq-stream", product: "rabbitmq", alone: true},
		{driver: "nsq", product: "nsq", more: func(c *brokers.Cluster) [2]string { return [2]string{"http_url", c.Info["http"]} }},
		{driver: "stan", product: "nats-streaming", more: func(c *brokers.Cluster) [2]string { return [2]string{"http_url", c.Info["monitoring"]} }},
		{driver: "pulsar", product: "pulsar"},
		{driver: "amqp10", product: "artemis"},
	} {
		t.Run(tt.driver, func(t *testing.T) {
			c := brokertest.Start(t, tt.product, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}})
			e, _ := all.Set().Lookup(tt.driver)
			if tt.limit != "" {
				t.Run("limit", func(t *testing.T) { limited(t, e, c, tt.limit, tt.counts) })
			}
			e.Driver = meddler{e.Driver}
			groups := ", groups: 1"
			if tt.alone {
				groups = ""
			}
			for _, pattern := range []string{"pattern: publish", "pattern: deliver, consumer: {work: 5ms, ack: each}" + groups} {
				t.Run(pattern, func(t *testing.T) {
					s := parse(t, `
workload: {rate: 500/s, arrivals: constant, `+pattern+`}
phases: {warmup: 0s, duration: 2s, drain: 1s, read_back: 60s}
`)
					if tt.more != nil {
						o := tt.more(c)
						s.Target.Options = map[string]any{o[0]: o[1]}
					}
					// An acknowledgement that comes without a message on its connection has no time that could be verified.
					run, err := engine.Run(t.Context(), config(e, c, s))
					if err != nil {
						t.Fatal(err)
					}
					fates(t, run)
				})
			}
		})
	}
}

// fates checks the accounts of a run by meddler.
func fates(t *testing.T, run *result.Run) {
	b, n := run.ReadBack, run.Counters
	if !b.Decided() || b.Outcome != result.ReadBackDone {
		t.Fatalf("%+v", b)
	}
	if b.LostAcked != meddled || b.Lost.Count != meddled || b.GoneUnknown+b.KeptUnknown+b.Foreign+b.Corrupted != 0 {
		t.Errorf("%d lost of %d: %+v", b.LostAcked, meddled, b)
	}
	if b.Whole && (b.NotInLog != meddled || b.InLog != n.Acked-meddled) {
		t.Errorf("%d in the log and %d not, of %d: %+v", b.InLog, b.NotInLog, n.Acked, b)
	}
	if n.Expected == 0 {
		if b.Kept != n.Acked-meddled || b.Duplicated != meddled {
			t.Errorf("%d kept and %d twice, of %d: %+v", b.Kept, b.Duplicated, n.Acked, b)
		}
		return
	}
	if b.Kept != n.Undelivered || n.LostAcked != meddled || n.Received != n.Acked-meddled-b.Kept {
		t.Errorf("%d kept, %d delivered: %+v, %+v", b.Kept, n.Received, b, n)
	}
	// Of two copies in a queue one may have been consumed.
	if log := b.Places[0].Log; log && b.Duplicated != meddled || !log && n.Received+n.Duplicated+b.Read-b.Unmeasured != n.Acked {
		t.Errorf("%d delivered and %d kept, %d and %d of them twice: %+v", n.Received, b.Read, n.Duplicated, b.Duplicated, b)
	}
}

// limited checks that what a limit of the broker removes is not called lost: it is dropped where the broker counts it,
// and in doubt elsewhere.
func limited(t *testing.T, e driver.Entry, c *brokers.Cluster, options string, counts bool) {
	run, err := engine.Run(t.Context(), config(e, c, parse(t, `
workload: {rate: 500/s, arrivals: constant, pattern: publish}
phases: {warmup: 0s, duration: 2s, drain: 1s, read_back: 60s}
target: {options: {`+options+`}}
`)))
	if err != nil {
		t.Fatal(err)
	}
	b, n := run.ReadBack, run.Counters
	if b.Outcome != result.ReadBackDone || b.LostAcked > 0 || b.Unread > 0 || !b.Places[0].Removed || b.Whole || b.Kept+b.Dropped+b.Removed != n.Acked {
		t.Fatalf("of %d acknowledged: %+v", n.Acked, b)
	}
	if counts && (b.Dropped < n.Acked-300 || b.Removed > 0 || !b.Decided() || b.Places[0].Dropped < b.Dropped) || !counts && b.Dropped > 0 {
		t.Errorf("of %d acknowledged: %+v", n.Acked, b)
	}
}

// meddled is how many messages meddler loses, and sends twice.
const meddled = 30

// meddler is a driver that loses messages which it acknowledges, and sends others twice.
type meddler struct{ driver.Driver }

func (d meddler) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return meddling{s, s.(driver.BackReader)}, nil
}

type meddling struct {
	driver.Session
	driver.BackReader
}

func (s meddling) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, meddledAcks{acks})
	return meddlingProducer{p, acks}, err
}

// again is a bit of the tokens of second copies.
const again = 1 << 63

type meddledAcks struct{ driver.Acks }

func (a meddledAcks) Done(token uint64, err error) {
	if token&again == 0 {
		a.Acks.Done(token, err)
	}
}

type meddlingProducer struct {
	driver.Producer
	acks driver.Acks
}

func (p meddlingProducer) Send(token uint64, payload []byte) error {
	seq := binary.LittleEndian.Uint64(payload[16:]) & (1<<48 - 1)
	if data := payload[7]>>2&7 == 0; data && seq >= 100 && seq < 100+10*meddled {
		switch seq % 10 {
		case 3:
			p.acks.Done(token, nil)
			return nil
		case 7:
			if err := p.Producer.Send(again|token, append([]byte(nil), payload...)); err != nil {
				return err
			}
		}
	}
	return p.Producer.Send(token, payload)
}
