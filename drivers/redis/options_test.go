package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redis"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestLogin opens sessions in all the ways in which one can log in, right and
// wrong.
func TestLogin(t *testing.T) {
	ada := resptest.Start(t, brokers.Options{User: "ada", Password: "love lace"})
	address := brokertest.Address(t, ada.URL)
	works(t, driver.Target{URL: ada.URL, Options: map[string]any{"user": "ada", "password": "love lace"}})
	semantics := works(t, driver.Target{URL: "redis://ada:love%20lace@" + address})
	if text := fmt.Sprint(semantics); strings.Contains(text, "love lace") || strings.Contains(text, "love%20lace") {
		t.Errorf("the semantics show the password: %s", text)
	}
	if got := semantics.Settings["authentication"]; got != "user and password" {
		t.Errorf("authentication is %q", got)
	}
	works(t, driver.Target{URL: "unix://ada:love%20lace@" + ada.Info["socket"]})
	refused(t, driver.Target{URL: ada.URL}, driver.ErrUnauthorized, "log in to", "options user and password")
	refused(t, driver.Target{URL: "redis://ada:byron@" + address}, driver.ErrUnauthorized, "WRONGPASS")
	refused(t, driver.Target{URL: "redis://:byron@" + address}, driver.ErrUnauthorized)

	one := resptest.Start(t, brokers.Options{Password: "sesame"})
	works(t, driver.Target{URL: one.URL, Options: map[string]any{"password": "sesame"}})
	refused(t, driver.Target{URL: one.URL, Options: map[string]any{"password": "open"}}, driver.ErrUnauthorized)

	nobody := resptest.Start(t, brokers.Options{})
	works(t, driver.Target{URL: nobody.URL, Options: map[string]any{"name": "", "database": 3}})
	refused(t, driver.Target{URL: nobody.URL, Options: map[string]any{"password": "sesame"}}, driver.ErrUnauthorized, "wants no password")
	refused(t, driver.Target{URL: nobody.URL, Options: map[string]any{"database": 9999}}, driver.ErrOption, "database 9999")
}

func TestTLS(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	for _, mutual := range []bool{false, true} {
		c := resptest.Start(t, brokers.Options{TLS: certificates.Server(mutual), User: "ada", Password: "lovelace"})
		login := map[string]any{"user": "ada", "password": "lovelace"}
		address := brokertest.Address(t, c.URL)
		semantics := works(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(true)})
		if !strings.HasPrefix(semantics.Transport, "tcp, tls") {
			t.Errorf("transport %q", semantics.Transport)
		}
		for _, client := range clients() {
			works(t, driver.Target{URL: "redis://" + address, Options: map[string]any{"user": "ada", "password": "lovelace", "client": client}, TLS: certificates.Client(true)})
		}
		if mutual {
			refused(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(false)}, driver.ErrUnauthorized, "tls.cert")
		} else {
			works(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(false)})
			works(t, driver.Target{URL: c.URL, Options: login, TLS: &driver.TLS{InsecureSkipVerify: true}})
		}
		refused(t, driver.Target{URL: c.URL, Options: login}, driver.ErrNotConnected, "certificate")
		refused(t, driver.Target{URL: "redis://" + address, Options: login}, driver.ErrNotConnected, "rediss://")
	}
	plain := resptest.Start(t, brokers.Options{})
	refused(t, driver.Target{URL: "rediss://" + brokertest.Address(t, plain.URL), Options: map[string]any{"connect_timeout": "300ms"}},
		driver.ErrNotConnected, "TLS")
}

func TestWrongOptions(t *testing.T) {
	for _, target := range []driver.Target{
		{URL: "http://127.0.0.1:1"},
		{URL: "unix:///nowhere", TLS: &driver.TLS{}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"acks": "two"}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"acks": "none", "client": "library"}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"sharded": true, "subscribe": "pattern"}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"name": "with space"}},
		{URL: "redis://127.0.0.1:1", TLS: &driver.TLS{CA: "/nowhere"}},
	} {
		refused(t, target, driver.ErrOption)
	}
	refused(t, driver.Target{URL: "redis://127.0.0.1:1", Options: map[string]any{"client": "go-redis"}}, driver.ErrOption, "one of direct, library")
	refused(t, driver.Target{URL: "unix:///nowhere/redis.sock"}, driver.ErrNotConnected)
}

// TestClients wants the client named that messages go by, and what it cannot tell. Former
// words are understood.
func TestClients(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for _, tt := range []struct{ option, value, client string }{
		{"client", "direct", "direct"},
		{"client", "library", "redigo "},
		{"client", "redigo", "redigo "},
		{"receive", "client", "redigo "},
	} {
		semantics := works(t, driver.Target{URL: c.URL, Options: map[string]any{tt.option: tt.value}})
		if got := semantics.Client.String(); !strings.HasPrefix(got, tt.client) {
			t.Errorf("%s %s: client %q", tt.option, tt.value, got)
		}
		warned := strings.Contains(fmt.Sprint(semantics.Warnings), "counts as unknown")
		if want := tt.client != "direct"; warned != want {
			t.Errorf("%s %s: warnings %q", tt.option, tt.value, semantics.Warnings)
		}
	}
}

// TestLimitsAreReported looks at what the session says of a server that cuts
// slow subscribers off, and of one that keeps its settings to itself.
func TestLimitsAreReported(t *testing.T) {
	c := resptest.Start(t, brokers.Options{Settings: map[string]string{"client-output-buffer-limit": "pubsub 1mb 512kb 7"}})
	semantics := works(t, driver.Target{URL: c.URL})
	if text := fmt.Sprint(semantics.Warnings); !strings.Contains(text, "1MiB behind, or 512KiB behind for 7 s") {
		t.Errorf("warnings %q", text)
	}
	if _, err := c.Do("ACL", "SETUSER", "ada", "on", ">x", "&*", "+@all", "-@admin", "-@dangerous", "-client"); err != nil {
		t.Fatal(err)
	}
	semantics = works(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x"}})
	if text := fmt.Sprint(semantics.Warnings); !strings.Contains(text, "CONFIG GET is refused") || !strings.Contains(text, "unknown how far") {
		t.Errorf("warnings %q", text)
	}
}

// TestPermissions has a user who may do nothing that a run needs.
func TestPermissions(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	if _, err := c.Do("ACL", "SETUSER", "ada", "on", ">x", "resetchannels", "&other", "+@all"); err != nil {
		t.Fatal(err)
	}
	for _, client := range clients() {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x", "client": client}})
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrUnauthorized) {
			t.Errorf("subscribe: %v", err)
		}
		acks := new(sessiontest.Counter)
		if err := sessiontest.Produce(t, s, acks).Send(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if failed := acks.Await(t, 1); len(failed) != 1 || !errors.Is(failed[0], driver.ErrUnauthorized) {
			t.Errorf("publish: %v", failed)
		}
	}
	if _, err := c.Do("ACL", "SETUSER", "ada", "&*", "-client"); err != nil {
		t.Fatal(err)
	}
	silent := open(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x", "acks": "none"}})
	if _, err := silent.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, new(sessiontest.Counter)); !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("a server that may not be told to be silent: %v", err)
	}
}

// TestPublishToNobody wants publishes acknowledged that reach nobody, and an
// event if somebody should have been there.
func TestPublishToNobody(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for consumers, want := range map[int]int{0: 0, 1: 5} {
		e := new(sessiontest.Events)
		s := open(t, driver.Target{URL: c.URL, Notify: e.Notify})
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: consumers}); err != nil {
			t.Fatal(err)
		}
		acks := new(sessiontest.Counter)
		p := sessiontest.Produce(t, s, acks)
		for i := range uint64(5) {
			if err := p.Send(i, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		if failed := acks.Await(t, 5); failed != nil {
			t.Errorf("refused: %v", failed)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, n := e.Count(driver.Returned); n != want {
			t.Errorf("with %d consumers %d messages are reported as returned, want %d", consumers, n, want)
		}
	}
}

// TestSubscriberCutOff lets the server cut off a subscriber that is too far
// behind. It must come back by itself, and say so.
func TestSubscriberCutOff(t *testing.T) {
	c := resptest.Start(t, brokers.Options{Settings: map[string]string{"client-output-buffer-limit": "pubsub 1mb 1mb 1"}})
	for _, client := range clients() {
		e := new(sessiontest.Events)
		s := open(t, driver.Target{URL: c.URL, Notify: e.Notify, Options: map[string]any{"client": client}})
		hold := make(chan struct{})
		got := new(sessiontest.Counter)
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, func(m driver.Message) {
			if string(m.Payload) == "last" {
				got.Deliver(m)
				return
			}
			<-hold
		})
		acks := new(sessiontest.Counter)
		p := sessiontest.Produce(t, s, acks)
		sent := 0
		for large := make([]byte, 256<<10); sent < 200; sent++ {
			if err := p.Send(uint64(sent), large); err != nil {
				t.Fatal(err)
			}
		}
		acks.Await(t, sent)
		close(hold)
		e.Await(t, driver.Disconnected, 1)
		e.Await(t, driver.Reconnected, 1)
		if err := p.Send(1000, []byte("last")); err != nil {
			t.Fatal(err)
		}
		got.Await(t, 1)
	}
}

// TestSharedConnection has consumers that share a connection, some of them for
// the same topic.
func TestSharedConnection(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	var boxes []*sessiontest.Counter
	var consumers []driver.Consumer
	for id, topics := range [][]string{{"t0"}, {"t0", "t1"}, {"t1"}} {
		box := new(sessiontest.Counter)
		consumer, err := s.Consumer(t.Context(), driver.ConsumerSpec{ID: id, Topics: topics}, box.Deliver)
		if err != nil {
			t.Fatal(err)
		}
		boxes, consumers = append(boxes, box), append(consumers, consumer)
	}
	send := func(topic string) {
		t.Helper()
		p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: topic}, new(sessiontest.Counter))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Send(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	send("t0")
	send("t1")
	for i, n := range []int{1, 2, 1} {
		boxes[i].Await(t, n)
	}
	if err := consumers[1].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	send("t0")
	send("t1")
	boxes[0].Await(t, 2)
	boxes[2].Await(t, 2)
	if n := boxes[1].Count(); n != 2 {
		t.Errorf("a closed consumer has got %d messages", n)
	}
}

// TestGroupsAreRefused: every subscriber gets every message.
func TestGroupsAreRefused(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}}); !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
	for _, spec := range []driver.ConsumerSpec{
		{Topics: []string{"t0"}, Group: "g0"}, {Topics: []string{"t0"}, Ack: driver.ConsumerAck{Mode: driver.AckEach}},
	} {
		if _, err := s.Consumer(t.Context(), spec, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrUnsupported) {
			t.Error(err)
		}
	}
}

func TestServer(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	sem, err := s.Provision(t.Context(), driver.Topology{})
	if err != nil {
		t.Fatal(err)
	}
	if server := sem.Server; server.Product != "redis" && server.Product != "valkey" || server.Version != c.Version || server.More["id"] == "" {
		t.Errorf("%v", server)
	}
	if _, err := redis.Entry().Driver.Open(context.Background(), driver.Target{URL: c.URL, Run: "with space"}); !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) { resptest.Refuses(t, redis.Entry(), "publish") }
