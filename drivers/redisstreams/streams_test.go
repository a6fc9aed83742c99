package redisstreams_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

const key = "s9:test:t0"

// eachClient runs a test with each value of the option client.
func eachClient(t *testing.T, test func(t *testing.T, client string)) {
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) { test(t, client) })
	}
}

func provision(t testing.TB, s driver.Session, groups ...string) driver.Semantics {
	t.Helper()
	semantics, err := s.Provision(context.Background(), driver.Topology{Topics: []string{"t0"}, Groups: groups, Consumers: 1, MaxSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Deprovision(context.Background()) })
	return semantics
}

// sendAll sends payloads and waits until they are acknowledged.
func sendAll(t testing.TB, s driver.Session, payloads ...string) {
	t.Helper()
	acks := new(sessiontest.Counter)
	p := sessiontest.Produce(t, s, acks)
	for i, payload := range payloads {
		if err := p.Send(uint64(i), []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	if failed := acks.Await(t, len(payloads)); failed != nil {
		t.Fatal(failed)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// letters keeps what a consumer got.
type letters struct {
	sessiontest.Counter
	mu  sync.Mutex
	all []string
}

func (l *letters) Deliver(m driver.Message) {
	l.mu.Lock()
	text := string(m.Payload)
	if m.Redelivered {
		text += " again"
	}
	l.all = append(l.all, text)
	l.mu.Unlock()
	l.Counter.Deliver(m)
}

func (l *letters) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, ", ")
}

// holds waits until the server holds at most n messages as unacknowledged.
func holds(t testing.TB, c *resptest.Server, n int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for limit := time.After(sessiontest.Patience); ; {
		open, err := unacked(c)(":test:")
		if err != nil {
			t.Fatal(err)
		}
		if open <= n {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("%d messages are not acknowledged", open)
		}
	}
}

// TestRedelivery kills the server, with its data on disk, while a consumer has
// messages that it has not acknowledged.
func TestRedelivery(t *testing.T) { eachClient(t, testRedelivery) }

func testRedelivery(t *testing.T, client string) {
	c := resptest.Start(t, brokers.Options{Settings: map[string]string{"appendonly": "yes", "appendfsync": "always"}})
	e := new(sessiontest.Events)
	s := open(t, driver.Target{URL: c.URL, Notify: e.Notify, Options: map[string]any{"client": client}})
	semantics := provision(t, s, "g0")
	if semantics.Durability != "append-only file, fsync before the reply" {
		t.Errorf("durability %q", semantics.Durability)
	}
	group, alone := new(letters), new(letters)
	sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 0, Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 3}}, group.Deliver)
	sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 1}, alone.Deliver)
	sendAll(t, s, "a", "b", "c", "d")
	group.Await(t, 4)
	alone.Await(t, 4)
	holds(t, c, 1)
	brokertest.Restart(t, c.Cluster)()
	e.Await(t, driver.Reconnected, 2)
	sendAll(t, s, "e")
	group.Await(t, 6)
	alone.Await(t, 5)
	if got := group.String(); got != "a, b, c, d, d again, e" {
		t.Errorf("the group's consumer got %s", got)
	}
	if got := alone.String(); got != "a, b, c, d, e" {
		t.Errorf("the consumer alone got %s", got)
	}
}

// TestDataLost kills a server that keeps nothing: streams and groups are made
// again, and an event says so.
func TestDataLost(t *testing.T) { eachClient(t, testDataLost) }

func testDataLost(t *testing.T, client string) {
	c := resptest.Start(t, brokers.Options{})
	e := new(sessiontest.Events)
	s := open(t, driver.Target{URL: c.URL, Notify: e.Notify, Options: map[string]any{"client": client}})
	if semantics := provision(t, s, "g0"); semantics.Durability != "memory" {
		t.Errorf("durability %q", semantics.Durability)
	}
	group, alone := new(letters), new(letters)
	sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 0, Group: "g0"}, group.Deliver)
	sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 1}, alone.Deliver)
	sendAll(t, s, "a")
	group.Await(t, 1)
	alone.Await(t, 1)
	brokertest.Restart(t, c.Cluster)()
	e.Await(t, driver.Reconnected, 2)
	e.Await(t, driver.AsyncError, 1)
	sendAll(t, s, "b")
	group.Await(t, 2)
	alone.Await(t, 2)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := leftovers(c)(":test:"); err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
}

// TestStreamRemoved removes a stream under its consumers, as others may do, and
// as Deprovision does: only in the first case is it made again.
func TestStreamRemoved(t *testing.T) { eachClient(t, testStreamRemoved) }

func testStreamRemoved(t *testing.T, client string) {
	c := resptest.Start(t, brokers.Options{})
	e := new(sessiontest.Events)
	s := open(t, driver.Target{URL: c.URL, Notify: e.Notify, Options: map[string]any{"client": client}})
	provision(t, s, "g0")
	got := new(letters)
	consumer := sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0"}, got.Deliver)
	sendAll(t, s, "a")
	got.Await(t, 1)
	if _, err := c.Do("DEL", key); err != nil {
		t.Fatal(err)
	}
	e.Await(t, driver.AsyncError, 1)
	sendAll(t, s, "b")
	got.Await(t, 2)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := consumer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := redigo.Int(c.Do("EXISTS", key)); n != 0 || err != nil {
		t.Errorf("the stream is there again: %d, %v", n, err)
	}
	if n, _ := e.Count(driver.Disconnected); n > 0 {
		t.Errorf("events %v", e.All())
	}
}

// TestAcknowledgements looks at what the server holds as unacknowledged.
func TestAcknowledgements(t *testing.T) { eachClient(t, testAcknowledgements) }

func testAcknowledgements(t *testing.T, client string) {
	c := resptest.Start(t, brokers.Options{})
	payloads := make([]string, 50)
	for i := range payloads {
		payloads[i] = fmt.Sprint(i)
	}
	for _, test := range []struct {
		name  string
		batch bool
		spec  driver.ConsumerSpec
		open  int // while the consumer is there, at most
		group int // how many groups there are
	}{
		{"default", false, driver.ConsumerSpec{Group: "g0"}, 0, 1},
		{"each, in batches", true, driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckEach}}, 0, 1},
		{"every 7", false, driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 7}}, 1, 1},
		{"none", false, driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckNone}}, 0, 1},
		{"alone", false, driver.ConsumerSpec{}, 0, 0},
		{"alone, each", false, driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEach}}, 0, 1},
		{"slow", true, driver.ConsumerSpec{Group: "g0", Slow: true}, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, driver.Target{URL: c.URL, Batch: test.batch, Options: map[string]any{"client": client}})
			if test.spec.Group != "" {
				provision(t, s, test.spec.Group)
			} else {
				provision(t, s)
			}
			got := new(letters)
			consumer := sessiontest.Consume(t, s, test.spec, got.Deliver)
			sendAll(t, s, payloads...)
			got.Await(t, len(payloads))
			if test.group > 0 {
				holds(t, c, test.open)
			}
			groups, err := redigo.Values(c.Do("XINFO", "GROUPS", key))
			if err != nil || len(groups) != test.group {
				t.Errorf("%d groups, %v", len(groups), err)
			}
			if err := consumer.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, err := unacked(c)(":test:"); n != 0 || err != nil {
				t.Errorf("%d messages are not acknowledged, %v", n, err)
			}
			if err := s.Deprovision(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGivenInAnEarlierSession leaves messages that a consumer was given and has not been
// handed: its group goes on with them in the next session.
func TestGivenInAnEarlierSession(t *testing.T) { eachClient(t, testGivenInAnEarlierSession) }

func testGivenInAnEarlierSession(t *testing.T, client string) {
	c := resptest.Start(t, brokers.Options{})
	topology := driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 1, MaxSize: 64, Keep: true}
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"client": client}})
	if _, err := s.Provision(t.Context(), topology); err != nil {
		t.Fatal(err)
	}
	sendAll(t, s, "a", "b", "c")
	if _, err := c.Do("XREADGROUP", "GROUP", "g0", "consumer-0", "COUNT", 2, "STREAMS", key, ">"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, driver.Target{URL: c.URL, Options: map[string]any{"client": client}})
	topology.Keep, topology.Existing = false, true
	if _, err := s.Provision(t.Context(), topology); err != nil {
		t.Fatal(err)
	}
	got := new(letters)
	sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0"}, got.Deliver)
	got.Await(t, 3)
	if text := got.String(); text != "a again, b again, c" {
		t.Errorf("the consumer got %s", text)
	}
	holds(t, c, 0)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTrimming(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"maxlen": 10, "trim": "exact"}})
	if semantics := provision(t, s); !strings.Contains(fmt.Sprint(semantics.Warnings), "10 entries behind") {
		t.Errorf("warnings %q", semantics.Warnings)
	}
	sendAll(t, s, strings.Split(strings.Repeat("x", 25), "")...)
	if n, err := redigo.Int(c.Do("XLEN", key)); n != 10 || err != nil {
		t.Errorf("the stream has %d entries, %v", n, err)
	}
}

// TestRefused tries what the server, or its settings, refuse.
func TestRefused(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	provision(t, s, "g0")
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Group: "stranger"}, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrNoTopic) {
		t.Errorf("a group that is not there: %v", err)
	}
	if _, err := c.Do("SET", "s9:test:t1", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t1"}}, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrRejected) {
		t.Errorf("a key that is no stream: %v", err)
	}
	if _, err := c.Do("CONFIG", "SET", "maxmemory", "1"); err != nil {
		t.Fatal(err)
	}
	acks := new(sessiontest.Counter)
	if err := sessiontest.Produce(t, s, acks).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if failed := acks.Await(t, 1); len(failed) != 1 || !errors.Is(failed[0], driver.ErrRejected) {
		t.Errorf("without memory: %v", failed)
	}
	if _, err := c.Do("CONFIG", "SET", "maxmemory", "0"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do("ACL", "SETUSER", "ada", "on", ">x", "~other*", "+@all"); err != nil {
		t.Fatal(err)
	}
	ada := open(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x"}})
	if _, err := ada.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("without permission: %v", err)
	}
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"field": ""}}, driver.ErrOption)
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"count": 0}}, driver.ErrOption)
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"maxlen": -1}}, driver.ErrOption)
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"client": "go-redis"}}, driver.ErrOption, "one of direct, library")
}

func TestDurability(t *testing.T) {
	c := resptest.Start(t, brokers.Options{Settings: map[string]string{"save": "3600 1"}})
	s := open(t, driver.Target{URL: c.URL})
	for _, step := range []struct{ setting, value, want string }{
		{"", "", "memory, snapshots now and then (save 3600 1)"},
		{"appendonly", "yes", "append-only file, fsync every second"},
		{"appendfsync", "no", "append-only file, page cache"},
		{"appendfsync", "always", "append-only file, fsync before the reply"},
	} {
		if step.setting != "" {
			if _, err := c.Do("CONFIG", "SET", step.setting, step.value); err != nil {
				t.Fatal(err)
			}
		}
		if semantics := provision(t, s); semantics.Durability != step.want {
			t.Errorf("durability %q, want %q", semantics.Durability, step.want)
		}
	}
	if _, err := c.Do("ACL", "SETUSER", "ada", "on", ">x", "~*", "&*", "+@all", "-config"); err != nil {
		t.Fatal(err)
	}
	ada := open(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x"}})
	if semantics := provision(t, ada); semantics.Durability != "append-only file, fsync not known" {
		t.Errorf("durability %q", semantics.Durability)
	}
}

func TestTLS(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	c := resptest.Start(t, brokers.Options{TLS: certificates.Server(true), User: "ada", Password: "lovelace"})
	login := map[string]any{"user": "ada", "password": "lovelace"}
	if semantics := works(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(true)}); !strings.HasPrefix(semantics.Transport, "tcp, tls") {
		t.Errorf("transport %q", semantics.Transport)
	}
	works(t, driver.Target{URL: "unix://" + c.Info["socket"] + "?db=2", Options: login})
	refused(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(false)}, driver.ErrUnauthorized, "tls.cert")
	login["password"] = "byron"
	refused(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(true)}, driver.ErrUnauthorized, "WRONGPASS")
}

func TestRefuses(t *testing.T) { resptest.Refuses(t, redisstreams.Entry(), "xadd") }
