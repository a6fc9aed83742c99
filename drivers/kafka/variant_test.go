package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
)

// variants tries options on the broker at the address, which asks for no login.
func variants(t *testing.T, address string) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, string)
	}{
		{"send does not allocate", testSendDoesNotAllocate},
		{"settings are in effect", testSettings},
		{"acknowledgements differ", testAcks},
		{"existing topics", testExistingTopic},
		{"missing topics", testMissingTopic},
		{"partitions are told", testPartitions},
		{"transactions", testTransactions},
		{"an aborted transaction", testAbortedTransaction},
		{"commits of groups", testGroupCommits},
		{"commits of lone consumers", testLoneCommits},
		{"a group that grows", testGrowingGroup},
		{"compression", testCompression},
		{"too large", testTooLarge},
		{"needless security", testNeedless},
		{"a full buffer", testFullBuffer},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, address) })
	}
}

// session opens a session in a run of its own and provisions nothing.
func session(t *testing.T, address string, options map[string]any) (s driver.Session, run string) {
	t.Helper()
	run = strings.ToLower(strings.Map(func(r rune) rune {
		if r == '/' || r == '_' {
			return '-'
		}
		return r
	}, t.Name())) + fmt.Sprintf("-%x", time.Now().UnixNano())
	s, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: address, Run: run, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s, run
}

func provision(t *testing.T, s driver.Session, topology driver.Topology) driver.Semantics {
	t.Helper()
	if topology.MaxSize == 0 {
		topology.MaxSize = 1 << 10
	}
	sem, err := s.Provision(t.Context(), topology)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Deprovision(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sem
}

func admin(t *testing.T, address string) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

// mailbox is a Deliver that can be waited for.
type mailbox struct {
	mu         sync.Mutex
	changed    sync.Cond
	seen       map[string]int // payloads
	partitions map[int]int
	total      int
}

func newMailbox() *mailbox {
	m := &mailbox{seen: map[string]int{}, partitions: map[int]int{}}
	m.changed.L = &m.mu
	return m
}

func (m *mailbox) deliver(msg driver.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[string(msg.Payload)]++
	m.partitions[msg.Partition]++
	m.total++
	m.changed.Broadcast()
}

// at returns how many have come by a partition.
func (m *mailbox) at(partition int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.partitions[partition]
}

// wait returns when n messages have come, or the test's time is over.
func (m *mailbox) wait(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, m.changed.Broadcast)()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.total < n {
		if ctx.Err() != nil {
			t.Fatalf("%d of %d messages have come", m.total, n)
		}
		m.changed.Wait()
	}
	for payload, times := range m.seen {
		if times > 1 {
			t.Fatalf("message %q came %d times", payload, times)
		}
	}
	if m.total != n {
		t.Fatalf("%d messages came instead of %d", m.total, n)
	}
}

// send sends the messages from first on, n of them, and waits until they are
// acknowledged.
func send(t *testing.T, p driver.Producer, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if err := p.Send(uint64(i), []byte(fmt.Sprint("message ", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.(driver.Syncer).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func consume(t *testing.T, s driver.Session, spec driver.ConsumerSpec) (*mailbox, driver.Consumer) {
	t.Helper()
	m := newMailbox()
	spec.Topics = []string{"t0"}
	consumer, err := s.Consumer(t.Context(), spec, m.deliver)
	if err != nil {
		t.Fatal(err)
	}
	return m, consumer
}

func testSettings(t *testing.T, address string) {
	s, _ := session(t, address, map[string]any{"partitions": 3, "topic_config": "flush.messages=1,retention.ms=600000", "acks": "1", "linger": "3ms", "batch_size": "32KiB"})
	sem := provision(t, s, driver.Topology{Topics: []string{"t0"}})
	for name, want := range map[string]string{"topic.partitions": "3", "topic.flush.messages": "1", "topic.retention.ms": "600000",
		"topic.max.message.bytes": "1048588", "linger": "3ms", "batch_size": "32KiB", "topic.replicas": "1"} {
		if got := sem.Settings[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(sem.Durability, "fsync per batch") || sem.Replication != "none" {
		t.Errorf("durability %q, replication %q", sem.Durability, sem.Replication)
	}
	if server := sem.Server; server.Product != "kafka" || server.Version == "" || server.Brokers != 1 {
		t.Errorf("server %v", server)
	}
}

func testAcks(t *testing.T, address string) {
	for acks, kind := range map[string]driver.AckKind{"0": driver.AckKindNone, "1": driver.AckKindBroker, "all": driver.AckKindBroker} {
		s, _ := session(t, address, map[string]any{"acks": acks})
		sem := provision(t, s, driver.Topology{Topics: []string{"t0"}})
		if got := kafka.Entry().With(map[string]any{"acks": acks}).Ack; got != kind || (sem.Acknowledgment == "none") != (kind == driver.AckKindNone) {
			t.Errorf("acks %s: %q, and the words are %q", acks, got, sem.Acknowledgment)
		}
		m, _ := consume(t, s, driver.ConsumerSpec{})
		var done sessiontest.Counter
		p := sessiontest.Produce(t, s, &done)
		if _, ok := p.(driver.Syncer); ok != (kind != driver.AckKindNone) {
			t.Errorf("acks %s: Syncer %v", acks, ok)
		}
		for i := range 100 {
			if err := p.Send(uint64(i), []byte(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		m.wait(t, 100)
		if err := errors.Join(done.Failed()...); err != nil {
			t.Error(err)
		}
	}
}

func testExistingTopic(t *testing.T, address string) {
	a := admin(t, address)
	if _, err := a.CreateTopic(t.Context(), 1, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
	options := map[string]any{"topic": "orders", "create": false}
	for round := range 2 { // the second finds what the first has sent
		s, _ := session(t, address, options)
		provision(t, s, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}})
		alone, _ := consume(t, s, driver.ConsumerSpec{})
		grouped, _ := consume(t, s, driver.ConsumerSpec{ID: 1, Group: "g0"})
		send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 100*round, 50)
		alone.wait(t, 50)
		grouped.wait(t, 50)
		if err := s.Deprovision(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	topics, err := a.ListTopics(t.Context(), "orders")
	if err != nil || topics.Error() != nil {
		t.Errorf("a topic that we did not create is gone: %v, %v", err, topics.Error())
	}
}

func testMissingTopic(t *testing.T, address string) {
	s, _ := session(t, address, map[string]any{"topic": "nowhere", "create": false})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrNoTopic) {
		t.Errorf("got %v", err)
	}
	s, _ = session(t, address, map[string]any{"topic": "one,two"})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrOption) {
		t.Errorf("two names for one topic: %v", err)
	}
	s, _ = session(t, address, map[string]any{"replication_factor": 2})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrRejected) {
		t.Errorf("two replicas on one broker: %v", err)
	}
	s, _ = session(t, address, map[string]any{"topic_config": "no.such.setting=1"})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrRejected) {
		t.Errorf("a setting that there is not: %v", err)
	}
}

func testPartitions(t *testing.T, address string) {
	for _, options := range []map[string]any{
		{"partitions": 3, "key": "unique"}, {"partitions": 3, "partitioner": "roundrobin"}, {"partitions": 3, "key": "zipf", "key_space": 100, "partitioner": "sticky"},
	} {
		s, _ := session(t, address, options)
		provision(t, s, driver.Topology{Topics: []string{"t0"}})
		m, _ := consume(t, s, driver.ConsumerSpec{})
		send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 0, 600)
		m.wait(t, 600)
		if len(m.partitions) != 3 || m.partitions[0]+m.partitions[1]+m.partitions[2] != 600 {
			t.Errorf("%v: messages by partition: %v", options, m.partitions)
		}
	}
}

func testCompression(t *testing.T, address string) {
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		s, _ := session(t, address, map[string]any{"compression": codec})
		provision(t, s, driver.Topology{Topics: []string{"t0"}})
		m, _ := consume(t, s, driver.ConsumerSpec{})
		send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 0, 200)
		m.wait(t, 200)
	}
}

func testTooLarge(t *testing.T, address string) {
	s, _ := session(t, address, map[string]any{"topic_config": "max.message.bytes=2000"})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 2000}); !errors.Is(err, driver.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	s, _ = session(t, address, map[string]any{"topic_config": "max.message.bytes=5000000", "batch_size": "16KiB"})
	provision(t, s, driver.Topology{Topics: []string{"t0"}, MaxSize: 4 << 20})
	m, _ := consume(t, s, driver.ConsumerSpec{})
	p := sessiontest.Produce(t, s, &sessiontest.Counter{})
	if err := p.Send(1, make([]byte, 4<<20)); err != nil {
		t.Fatal(err)
	}
	m.wait(t, 1)
}

// testFullBuffer has Send wait for room, many times.
func testFullBuffer(t *testing.T, address string) {
	s, _ := session(t, address, map[string]any{"buffer": "1KiB"})
	sem := provision(t, s, driver.Topology{Topics: []string{"t0"}, MaxSize: 5000})
	if !strings.Contains(sem.Settings["buffer"], "Send waits") {
		t.Errorf("buffer: %q", sem.Settings["buffer"])
	}
	m, _ := consume(t, s, driver.ConsumerSpec{})
	p := sessiontest.Produce(t, s, &sessiontest.Counter{})
	if err := p.Send(0, make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	send(t, p, 1, 2000)
	m.wait(t, 2001)
}
