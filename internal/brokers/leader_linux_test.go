package brokers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// clustered is a cluster with a destination that some of its nodes keep.
type clustered struct {
	*brokers.Cluster
	at brokers.Destination
	on []int // the nodes; nil: all of three
}

// led returns where the destination is when a node leads it, other than the node not; -1: any.
func (c clustered) led(t *testing.T, not int) brokers.Placement {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		p, err := c.Leader(ctx, c.at)
		if err == nil && p.Leader != not {
			all := append([]int{p.Leader}, p.Followers...)
			slices.Sort(all)
			want := c.on
			if want == nil {
				want = []int{0, 1, 2}
			}
			if !slices.Equal(all, want) {
				t.Errorf("these nodes keep it: %+v; want %v", p, want)
			}
			return p
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%+v, %v", p, err)
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
}

// fails kills the leader and waits for another, and starts the node again.
func (c clustered) fails(t *testing.T) {
	t.Helper()
	leader := c.led(t, -1).Leader
	if _, err := c.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Leader(t.Context(), c.at); err == nil && p.Leader == leader {
		t.Errorf("node %d leads, and was killed: %+v", leader, p)
	}
	c.led(t, leader)
	if _, err := c.Resume(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
}

// transferred moves the leadership as planned.
func (c clustered) transferred(t *testing.T) {
	t.Helper()
	before := c.led(t, -1)
	moved, err := c.Transfer(t.Context(), c.at)
	if err != nil || moved.From != before.Leader || moved.To == moved.From || moved.Complete < moved.At || moved.At == 0 {
		t.Errorf("moved from %+v: %+v, %v", before, moved, err)
	}
	if after := c.led(t, moved.From); after.Leader != moved.To {
		t.Errorf("moved to %d, and %d leads", moved.To, after.Leader)
	}
}

// frozen freezes the followers: the leader is asked and stays.
func (c clustered) frozen(t *testing.T) {
	t.Helper()
	p := c.led(t, -1)
	if _, err := c.Freeze(t.Context(), p.Followers...); err != nil {
		t.Fatal(err)
	}
	if still, err := c.Leader(t.Context(), c.at); err != nil || still.Leader != p.Leader {
		t.Errorf("with frozen followers %+v leads, %v; before %+v", still, err, p)
	}
	if _, err := c.Thaw(t.Context(), p.Followers...); err != nil {
		t.Fatal(err)
	}
}

// stopped stops the cluster and fails the test if a node had ended by itself or a process is left.
func (c clustered) stopped(t *testing.T) {
	t.Helper()
	for _, n := range c.Members() {
		if n.State != brokers.NodeRunning {
			t.Errorf("%+v", n)
		}
	}
	if err := errors.Join(c.Err(), c.Stop(t.Context())); err != nil {
		t.Error(err)
	}
	noneWith(t, c.Dir)
}

// noneWith waits until no process has the text in its command line or environment.
func noneWith(t *testing.T, text string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second) // only how long a failure takes
	for {
		var found []string
		for _, kind := range []string{"cmdline", "environ"} {
			files, err := filepath.Glob("/proc/[0-9]*/" + kind)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if said, err := os.ReadFile(file); err == nil && strings.Contains(string(said), text) {
					found = append(found, file)
				}
			}
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes are left behind: %q", found)
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

// A destination that no node has is an error, and one node leads everything.
func TestLeaderOfNothing(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{})
	if p, err := c.Leader(t.Context(), brokers.Destination{Name: "x"}); err != nil || p.Leader != 0 || len(p.Followers) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.Transfer(t.Context(), brokers.Destination{Name: "x"}); !errors.Is(err, brokers.ErrNoTransfer) {
		t.Error(err)
	}
}

func TestJetStreamLeader(t *testing.T) {
	h := brokertest.Home(t)
	h.Self, h.Environ = []string{os.Args[0]}, append(h.Environ, "SIXNINES_TEST_ROLE=nats", "GORACE=atexit_sleep_ms=0")
	c := clustered{brokertest.Start(t, "nats", brokers.Options{Nodes: 3, User: "ada", Password: "lovelace", Home: h}), brokers.Destination{Name: "S"}, nil}
	nc, err := nats.Connect(c.URL, nats.UserInfo("ada", "lovelace"), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	// The library waits for five seconds, and three servers that have just started may take longer to agree.
	again := func(what string, create func(context.Context) error) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			err := create(t.Context())
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	again("stream", func(ctx context.Context) error {
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3})
		return err
	})
	again("consumer", func(ctx context.Context) error {
		_, err := js.CreateOrUpdateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "C"})
		return err
	})
	c.transferred(t)
	c.frozen(t)
	for k := range 3 { // each in turn, leader or not
		if _, err := c.Kill(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		c.led(t, k)
		if _, err := c.Resume(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	clustered{c.Cluster, brokers.Destination{Name: "S", Consumer: "C"}, nil}.transferred(t)
	if p, err := c.Leader(t.Context(), brokers.Destination{Name: "T"}); !errors.Is(err, brokers.ErrNoLeader) {
		t.Errorf("a stream that does not exist: %+v, %v", p, err)
	}
	c.stopped(t)
}

func TestRabbitMQCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("three nodes take a while")
	}
	c := clustered{brokertest.Start(t, "rabbitmq", brokers.Options{Nodes: 3}), brokers.Destination{Name: "s9.r/t0/g0"}, nil}
	urls := strings.Split(c.URL, ",")
	if len(urls) != 3 || len(c.Nodes()) != 3 {
		t.Fatalf("%d nodes at %q", len(c.Nodes()), urls)
	}
	// A message sent to one node can be read from another.
	args := amqp.Table{"x-queue-type": "quorum", "x-quorum-initial-group-size": 3}
	keep(t, urls[0], c.at.Name, args)
	if got, err := kept(t, urls[2], c.at.Name); got != "kept" {
		t.Errorf("another node's queue has %q, %v", got, err)
	}
	keep(t, urls[0], "classic", nil)
	c.transferred(t)
	c.frozen(t)
	c.fails(t)
	classic := brokers.Destination{Name: "classic"}
	if p, err := c.Leader(t.Context(), classic); err != nil || len(p.Followers) > 0 {
		t.Errorf("a classic queue: %+v, %v", p, err)
	}
	if _, err := c.Transfer(t.Context(), classic); !errors.Is(err, brokers.ErrNoTransfer) {
		t.Errorf("a classic queue: %v", err)
	}
	// The nodes join again, and both new and old queues work.
	brokertest.Restart(t, c.Cluster)()
	c.led(t, -1)
	keep(t, urls[1], "another", args)
	if got, err := kept(t, urls[0], "another"); got != "kept" {
		t.Errorf("after a restart another node's queue has %q, %v", got, err)
	}
	c.stopped(t)
}

func TestKafkaCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts virtual machines; not with -short")
	}
	c := clustered{brokertest.Start(t, "kafka", brokers.Options{Nodes: 3, Settings: map[string]string{"java.heap": "256m",
		"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}}), brokers.Destination{Name: "t", Partition: 1}, nil}
	if n := len(strings.Split(c.URL, ",")); n != 3 || !accepts(t, c.URL) {
		t.Errorf("%d addresses, or nobody there: %s", n, c.URL)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.URL, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 2, 3, nil, "t"); err != nil {
		t.Fatal(err)
	}
	c.transferred(t)
	c.frozen(t)
	c.fails(t)
	c.stopped(t)
}
