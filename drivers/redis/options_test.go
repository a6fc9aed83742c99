package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/redis"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestLogin opens sessions in all the ways in which one can log in, right and
// wrong.
func TestLogin(t *testing.T) {
	ada := start(t, brokers.Options{User: "ada", Password: "love lace"})
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

	one := start(t, brokers.Options{Password: "sesame"})
	works(t, driver.Target{URL: one.URL, Options: map[string]any{"password": "sesame"}})
	refused(t, driver.Target{URL: one.URL, Options: map[string]any{"password": "open"}}, driver.ErrUnauthorized)

	nobody := start(t, brokers.Options{})
	works(t, driver.Target{URL: nobody.URL, Options: map[string]any{"name": "", "database": 3}})
	refused(t, driver.Target{URL: nobody.URL, Options: map[string]any{"password": "sesame"}}, driver.ErrUnauthorized, "wants no password")
	refused(t, driver.Target{URL: nobody.URL, Options: map[string]any{"database": 9999}}, driver.ErrOption, "database 9999")
}

func TestTLS(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	for _, clients := range []bool{false, true} {
		c := start(t, brokers.Options{TLS: certificates.Server(clients), User: "ada", Password: "lovelace"})
		login := map[string]any{"user": "ada", "password": "lovelace"}
		address := brokertest.Address(t, c.URL)
		semantics := works(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(true)})
		if !strings.HasPrefix(semantics.Transport, "tcp, tls") {
			t.Errorf("transport %q", semantics.Transport)
		}
		works(t, driver.Target{URL: "redis://" + address, Options: map[string]any{"user": "ada", "password": "lovelace", "receive": "client"}, TLS: certificates.Client(true)})
		if clients {
			refused(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(false)}, driver.ErrUnauthorized, "tls.cert")
		} else {
			works(t, driver.Target{URL: c.URL, Options: login, TLS: certificates.Client(false)})
			insecure := works(t, driver.Target{URL: c.URL, Options: login, TLS: &driver.TLS{InsecureSkipVerify: true}})
			if !strings.Contains(fmt.Sprint(insecure.Warnings), "not checked") {
				t.Errorf("warnings %q", insecure.Warnings)
			}
		}
		refused(t, driver.Target{URL: c.URL, Options: login}, driver.ErrNotConnected, "certificate")
		refused(t, driver.Target{URL: "redis://" + address, Options: login}, driver.ErrNotConnected, "rediss://")
	}
	plain := start(t, brokers.Options{})
	refused(t, driver.Target{URL: "rediss://" + brokertest.Address(t, plain.URL), Options: map[string]any{"connect_timeout": "300ms"}},
		driver.ErrNotConnected, "TLS")
}

func TestWrongOptions(t *testing.T) {
	for _, target := range []driver.Target{
		{URL: "http://127.0.0.1:1"},
		{URL: "unix:///nowhere", TLS: &driver.TLS{}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"acks": "two"}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"sharded": true, "subscribe": "pattern"}},
		{URL: "redis://127.0.0.1:1", Options: map[string]any{"name": "with space"}},
		{URL: "redis://127.0.0.1:1", TLS: &driver.TLS{CA: "/nowhere"}},
	} {
		refused(t, target, driver.ErrOption)
	}
	refused(t, driver.Target{URL: "unix:///nowhere/redis.sock"}, driver.ErrNotConnected)
}

// TestLimitsAreReported looks at what the session says of a server that cuts
// slow subscribers off, and of one that keeps its settings to itself.
func TestLimitsAreReported(t *testing.T) {
	o := brokers.Options{Settings: map[string]string{"client-output-buffer-limit": "pubsub 1mb 512kb 7"}}
	c := start(t, o)
	semantics := works(t, driver.Target{URL: c.URL})
	if text := fmt.Sprint(semantics.Warnings); !strings.Contains(text, "1MiB behind, or 512KiB behind for 7 s") {
		t.Errorf("warnings %q", text)
	}
	if _, err := ask(t, c, o, "ACL", "SETUSER", "ada", "on", ">x", "&*", "+@all", "-@admin", "-@dangerous", "-client"); err != nil {
		t.Fatal(err)
	}
	semantics = works(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x"}})
	if text := fmt.Sprint(semantics.Warnings); !strings.Contains(text, "CONFIG GET is refused") || !strings.Contains(text, "unknown how far") {
		t.Errorf("warnings %q", text)
	}
}

// TestPermissions has a user who may do nothing that a run needs.
func TestPermissions(t *testing.T) {
	o := brokers.Options{}
	c := start(t, o)
	if _, err := ask(t, c, o, "ACL", "SETUSER", "ada", "on", ">x", "resetchannels", "&other", "+@all"); err != nil {
		t.Fatal(err)
	}
	for _, receive := range []string{"direct", "client"} {
		s := openTarget(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x", "receive": receive}})
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, newCounter().deliver); !errors.Is(err, driver.ErrUnauthorized) {
			t.Errorf("subscribe: %v", err)
		}
		acks := newCounter()
		if err := producerOf(t, s, acks).Send(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if failed := acks.reaches(t, 1); len(failed) != 1 || !errors.Is(failed[0], driver.ErrUnauthorized) {
			t.Errorf("publish: %v", failed)
		}
	}
	if _, err := ask(t, c, o, "ACL", "SETUSER", "ada", "&*", "-client"); err != nil {
		t.Fatal(err)
	}
	silent := openTarget(t, driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "x", "acks": "none"}})
	if _, err := silent.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, newCounter()); !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("a server that may not be told to be silent: %v", err)
	}
}

// TestPublishToNobody wants publishes acknowledged that reach nobody, and an
// event if somebody should have been there.
func TestPublishToNobody(t *testing.T) {
	c := start(t, brokers.Options{})
	for consumers, want := range map[int]int{0: 0, 1: 5} {
		e := newEvents()
		s := openTarget(t, driver.Target{URL: c.URL, Notify: e.notify})
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: consumers}); err != nil {
			t.Fatal(err)
		}
		acks := newCounter()
		p := producerOf(t, s, acks)
		for i := range uint64(5) {
			if err := p.Send(i, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		if failed := acks.reaches(t, 5); failed != nil {
			t.Errorf("refused: %v", failed)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, n := e.count(driver.Returned); n != want {
			t.Errorf("with %d consumers %d messages are reported as returned, want %d", consumers, n, want)
		}
	}
}

// TestSubscriberCutOff lets the server cut off a subscriber that is too far
// behind. It must come back by itself, and say so.
func TestSubscriberCutOff(t *testing.T) {
	c := start(t, brokers.Options{Settings: map[string]string{"client-output-buffer-limit": "pubsub 1mb 1mb 1"}})
	for _, receive := range []string{"direct", "client"} {
		e := newEvents()
		s := openTarget(t, driver.Target{URL: c.URL, Notify: e.notify, Options: map[string]any{"receive": receive}})
		hold := make(chan struct{})
		got := newCounter()
		consumerOf(t, s, func(m driver.Message) {
			if string(m.Payload) == "last" {
				got.deliver(m)
				return
			}
			<-hold
		})
		acks := newCounter()
		p := producerOf(t, s, acks)
		sent := 0
		for large := make([]byte, 256<<10); sent < 200; sent++ {
			if err := p.Send(uint64(sent), large); err != nil {
				t.Fatal(err)
			}
		}
		acks.reaches(t, sent)
		close(hold)
		e.wait(t, driver.Disconnected, 1)
		e.wait(t, driver.Reconnected, 1)
		if err := p.Send(1000, []byte("last")); err != nil {
			t.Fatal(err)
		}
		got.reaches(t, 1)
	}
}

// TestSharedConnection has consumers that share a connection, some of them for
// the same topic.
func TestSharedConnection(t *testing.T) {
	c := start(t, brokers.Options{})
	s := openTarget(t, driver.Target{URL: c.URL})
	var boxes []*counter
	var consumers []driver.Consumer
	for id, topics := range [][]string{{"t0"}, {"t0", "t1"}, {"t1"}} {
		box := newCounter()
		consumer, err := s.Consumer(t.Context(), driver.ConsumerSpec{ID: id, Topics: topics}, box.deliver)
		if err != nil {
			t.Fatal(err)
		}
		boxes, consumers = append(boxes, box), append(consumers, consumer)
	}
	send := func(topic string) {
		t.Helper()
		p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: topic}, newCounter())
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
		boxes[i].reaches(t, n)
	}
	if err := consumers[1].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	send("t0")
	send("t1")
	boxes[0].reaches(t, 2)
	boxes[2].reaches(t, 2)
	if n := boxes[1].n; n != 2 {
		t.Errorf("a closed consumer has got %d messages", n)
	}
}

// TestGroupsAreRefused: every subscriber gets every message.
func TestGroupsAreRefused(t *testing.T) {
	c := start(t, brokers.Options{})
	s := openTarget(t, driver.Target{URL: c.URL})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}}); !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
	for _, spec := range []driver.ConsumerSpec{
		{Topics: []string{"t0"}, Group: "g0"}, {Topics: []string{"t0"}, Ack: driver.ConsumerAck{Mode: driver.AckEach}},
	} {
		if _, err := s.Consumer(t.Context(), spec, newCounter().deliver); !errors.Is(err, driver.ErrUnsupported) {
			t.Error(err)
		}
	}
}

func TestServerInfo(t *testing.T) {
	c := start(t, brokers.Options{})
	s := openTarget(t, driver.Target{URL: c.URL})
	info := s.(driver.ServerInfo).ServerInfo()
	if info["product"] != "redis" || info["version"] != c.Version || info["id"] == "" {
		t.Errorf("%v", info)
	}
	if kind := s.(driver.AckReporter).Ack(); kind != driver.AckKindBroker {
		t.Errorf("acknowledgements %q", kind)
	}
	if _, err := (redis.Driver{}).Open(context.Background(), driver.Target{URL: c.URL, Run: "with space"}); !errors.Is(err, driver.ErrUnsupported) {
		t.Error(err)
	}
}
