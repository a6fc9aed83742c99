package all_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
	"sixnines/result"
)

// A broker that is killed while it acknowledges loses what it had in memory alone, and nothing of what
// it had written: exactly as many messages are lost as were acknowledged and another client does not
// find, whether consumers had received them or not.
func TestLostWithTheBroker(t *testing.T) {
	for _, tt := range []struct {
		name, driver, product, options string
		settings                       map[string]string
		pattern                        string
		loses                          bool
		find                           func(t *testing.T, c *brokers.Cluster, left string) [][]byte
	}{
		{"JetStream in memory", "jetstream", "nats", "storage: memory", nil, "publish", true, inStream},
		{"JetStream in memory, with a group", "jetstream", "nats", "storage: memory", nil, "deliver, groups: 1", true, inStream},
		{"JetStream in a file", "jetstream", "nats", "storage: file", nil, "publish", false, inStream},
		{"Redis in memory", "redis-streams", "redis", "", map[string]string{"save": `""`}, "publish", true, inRedis},
		{"Redis with appendfsync always", "redis-streams", "redis", "", map[string]string{"appendonly": "yes", "appendfsync": "always"}, "publish", false, inRedis},
	} {
		t.Run(tt.name, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := brokertest.Start(t, tt.product, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}, Settings: tt.settings})
			e, _ := all.Set().Lookup(tt.driver)
			config := config(e, c, parse(t, `
workload: {rate: 1000/s, pattern: `+tt.pattern+`, lifetime: keep}
phases: {warmup: 0s, duration: 2s, drain: 2s, read_back: 60s}
target: {options: {`+tt.options+`}}
`))
			restart := sync.OnceFunc(brokertest.Restart(t, c))
			var restarted sync.WaitGroup
			config.Observer = func(p engine.Progress) {
				if p.Elapsed > time.Second {
					restarted.Go(restart)
				}
			}
			run := measure(t.Context(), t, config)
			restarted.Wait()
			b, n := run.ReadBack, run.Counters
			if b == nil || b.Outcome != result.ReadBackDone || !b.Whole || b.Unread != 0 {
				t.Fatalf("%+v", b)
			}
			found := map[uint64]bool{}
			for _, payload := range tt.find(t, c, run.Header.LeftAs) {
				kind := payload[7] >> 2 & 7
				if seq := binary.LittleEndian.Uint64(payload[16:]) & (1<<48 - 1); kind == 0 && seq < uint64(n.Taken) {
					found[seq] = true
				}
			}
			t.Logf("%d of %d acknowledged messages are not in the log, %d of them were not delivered; another client finds %d of %d that were sent",
				b.NotInLog, n.Acked, b.LostAcked, len(found), n.Taken)
			if n.Expected == 0 { // else the accounts are of deliveries
				if int64(len(found)) != b.Kept+b.KeptUnknown || n.Acked != b.Kept+b.LostAcked || n.Unknown != b.KeptUnknown+b.GoneUnknown {
					t.Errorf("another client finds %d; %+v of %+v", len(found), b, n)
				}
			} else if n.LostAcked != b.LostAcked {
				t.Errorf("%d lost by the counters, and %d", n.LostAcked, b.LostAcked)
			}
			if unanswered := int64(len(found)) - b.InLog; n.Acked != b.InLog+b.NotInLog || unanswered < 0 || unanswered > n.Unknown {
				t.Errorf("another client finds %d, and the log was found to have %d acknowledged ones; %+v", len(found), b.InLog, n)
			}
			if lost := b.NotInLog > 0; lost != tt.loses {
				t.Errorf("%d acknowledged messages are lost: %+v", b.NotInLog, b.Lost)
			}
		})
	}
}

// A quorum queue hands a consumer that acknowledges nothing 2,000 messages unless it asks for more, and never
// more than 65,535: reading back takes as many consumers as the queue has messages for.
func TestReadBackOfQuorumQueue(t *testing.T) {
	if testing.Short() {
		t.Skip("starts RabbitMQ; not with -short")
	}
	c := brokertest.Start(t, "rabbitmq", brokers.Options{})
	e, _ := all.Set().Lookup("rabbitmq")
	for _, messages := range []int64{2500, 70_000} {
		run := measure(t.Context(), t, config(e, c, parse(t, fmt.Sprintf(`
workload: {rate: max, messages: %d, pattern: publish, size: 32B}
phases: {warmup: 0s, drain: 60s, read_back: 120s}
target: {options: {queue_type: quorum}}
`, messages))))
		if b, n := run.ReadBack, run.Counters; b == nil || b.Outcome != result.ReadBackDone || b.Kept != n.Acked || n.Acked != messages || b.LostAcked != 0 {
			t.Errorf("%d of %d acknowledged: %+v", n.Acked, messages, b)
		}
	}
}

// inStream returns what a stream of JetStream has.
func inStream(t *testing.T, c *brokers.Cluster, left string) (all [][]byte) {
	nc, err := nats.Connect(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	j, err := js.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Stream(context.Background(), "s9-"+left+"-t0")
	if err != nil {
		t.Fatal(err)
	}
	state := s.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		m, err := s.GetMsg(context.Background(), seq)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m.Data)
	}
	return all
}

// inRedis returns what a stream of Redis has.
func inRedis(t *testing.T, c *brokers.Cluster, left string) (all [][]byte) {
	conn, err := redis.DialURL(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	entries, err := redis.Values(conn.Do("XRANGE", "s9:"+left+":t0", "-", "+"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fields, err := redis.ByteSlices(e.([]any)[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fields[len(fields)-1])
	}
	return all
}
