package stan_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// refused opens a session, which must fail with the class and say the words.
func refused(t *testing.T, target driver.Target, class error, words ...string) {
	t.Helper()
	sessiontest.Refused(t, stan.Entry().Driver, target, class, words...)
}

func TestWrongOptions(t *testing.T) {
	option := func(name string, value any) driver.Target { return driver.Target{Options: map[string]any{name: value}} }
	for name, test := range map[string]struct {
		target driver.Target
		class  error
		word   string
	}{
		"two ways to log in":  {driver.Target{Options: map[string]any{"user": "a", "token": "b"}}, driver.ErrOption, "user and token"},
		"password alone":      {option("password", "b"), driver.ErrOption, "user"},
		"half a second":       {option("ack_wait", "1500ms"), driver.ErrOption, "whole seconds"},
		"no cluster":          {option("cluster_id", "a.*"), driver.ErrOption, "cluster_id"},
		"no monitoring":       {option("http_url", "localhost:8222"), driver.ErrOption, "http_url"},
		"misspelt":            {option("clusterid", "x"), driver.ErrOption, "cluster_id"},
		"the direct path":     {option("publish", "direct"), driver.ErrOption, "library"},
		"scheme":              {driver.Target{URL: "http://localhost:4222"}, driver.ErrOption, "http"},
		"no host":             {driver.Target{URL: "nats://:4222"}, driver.ErrOption, "no host"},
		"no URL":              {driver.Target{URL: "nats://%zz"}, driver.ErrOption, "cannot be read"},
		"wildcard in the run": {driver.Target{Run: "a.*"}, driver.ErrUnsupported, "wildcards"},
		"no CA":               {driver.Target{TLS: &driver.TLS{CA: "absent.pem"}}, driver.ErrOption, "absent.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.target.URL == "" {
				test.target.URL = "nats://127.0.0.1:1"
			}
			refused(t, test.target, test.class, test.word)
		})
	}
}

func TestWrongClusterAndTLSMismatch(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"cluster_id": "other"}}, driver.ErrNotConnected, "other", "cluster_id")
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"cluster_id": "other", "publish": "client"}}, driver.ErrNotConnected, "other")
	certificates := brokertest.NewCertificates(t)
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false)}, driver.ErrNotConnected)
}

func TestTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("variants are left out of short runs")
	}
	certificates := brokertest.NewCertificates(t)
	for _, ask := range []bool{false, true} {
		c := brokertest.Start(t, "nats-streaming", brokers.Options{TLS: certificates.Server(ask)})
		s := open(t, driver.Target{URL: c.URL, TLS: certificates.Client(ask)})
		semantics, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
		if err != nil || semantics.Transport != "tcp, tls 1.3" {
			t.Errorf("transport %q, %v", semantics.Transport, err)
		}
		stranger := brokertest.NewCertificates(t)
		refused(t, driver.Target{URL: c.URL, TLS: stranger.Client(false)}, driver.ErrNotConnected, "certificate")
		if ask {
			refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false)}, driver.ErrNotConnected)
		}
		skipping := *certificates.Client(ask)
		skipping.CA, skipping.InsecureSkipVerify = "", true
		open(t, driver.Target{URL: c.URL, TLS: &skipping})
	}
}

func TestToken(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{Password: "abra"})
	open(t, driver.Target{URL: c.URL, Options: map[string]any{"token": "abra"}})
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"token": "cadabra"}}, driver.ErrUnauthorized)
	refused(t, driver.Target{URL: c.URL}, driver.ErrUnauthorized)
}

func TestSemanticsAreReadFromTheServer(t *testing.T) {
	for store, settings := range map[string]map[string]string{
		"memory": {"max_msgs": "0", "max_bytes": "0"},
		"file":   {"store": "file", "max_msgs": "5000"},
	} {
		c := brokertest.Start(t, "nats-streaming", brokers.Options{Settings: settings})
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"http_url": c.Info["monitoring"]}})
		semantics, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
		if err != nil {
			t.Fatal(err)
		}
		if semantics.Settings["store"] != store || !strings.HasPrefix(semantics.Durability, store) || semantics.Server.Version != c.Version {
			t.Errorf("a %s store of %s is told as %q in %v", store, c.Version, semantics.Durability, semantics.Settings)
		}
		if limited := strings.Contains(fmt.Sprint(semantics.Warnings), "5000 messages"); limited != (store == "file") {
			t.Errorf("%s: warnings %q", store, semantics.Warnings)
		}
		s = open(t, driver.Target{URL: c.URL})
		semantics, err = s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
		if err != nil || !strings.Contains(semantics.Durability, "not known") {
			t.Errorf("without http_url durability is %q, %v", semantics.Durability, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	s.Close(t.Context())
	if s, err = stan.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URL, Run: "test", Options: map[string]any{"http_url": "http://" + l.Addr().String()}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "http_url") {
		t.Errorf("monitoring that is not there: %v", err)
	}
}

func TestConsumerAcknowledgementsAreChecked(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"max_inflight": 10}})
	for name, test := range map[string]struct {
		spec  driver.ConsumerSpec
		class error
	}{
		"none":          {driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckNone}}, driver.ErrUnsupported},
		"more than max": {driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 11}}, driver.ErrOption},
		"colon":         {driver.ConsumerSpec{Group: "a:b"}, driver.ErrUnsupported},
	} {
		test.spec.Topics = []string{"t0"}
		if _, err := s.Consumer(t.Context(), test.spec, new(sessiontest.Counter).Deliver); !errors.Is(err, test.class) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedeliveredIsMarked(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"ack_wait": "1s"}})
	got := make(chan driver.Message, 64)
	sessiontest.Consume(t, s, driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 2}}, func(m driver.Message) { got <- m })
	if err := sessiontest.Produce(t, s, new(sessiontest.Counter)).Send(1, []byte("once")); err != nil {
		t.Fatal(err)
	}
	// One of two: it is not acknowledged, and comes again.
	for _, again := range []bool{false, true} {
		select {
		case m := <-got:
			if m.Redelivered != again {
				t.Errorf("redelivered is %v instead of %v", m.Redelivered, again)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing comes")
		}
	}
}

// TestLimitOfUnansweredMessagesBlocks freezes the server: what it does not
// answer fills the limit.
func TestLimitOfUnansweredMessagesBlocks(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	var acks sessiontest.Counter
	p := sessiontest.Produce(t, open(t, driver.Target{URL: c.URL, Options: map[string]any{"max_pub_acks_inflight": 5}}), &acks)
	brokertest.Freeze(t, c)()
	for i := range 5 {
		if err := p.Send(uint64(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	sixth := make(chan error)
	go func() { sixth <- p.Send(5, []byte("x")) }()
	select {
	case err := <-sixth:
		t.Fatalf("the sixth message does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	brokertest.Thaw(t, c)()
	if err := <-sixth; err != nil {
		t.Errorf("when the server answers: %v", err)
	}
	acks.Await(t, 6)
}

// TestCloseFreesSends closes a session whose server is frozen under a send that
// waits for the limit.
func TestCloseFreesSends(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"max_pub_acks_inflight": 1}})
	got := &outcomes{all: map[uint64]error{}}
	p := sessiontest.Produce(t, s, got)
	brokertest.Freeze(t, c)()
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		for token := uint64(0); p.Send(token, []byte("x")) == nil; token++ {
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s.Close(ctx)
	select {
	case <-freed:
	case <-time.After(time.Minute):
		t.Fatal("a send hangs though its session has closed")
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	for token, err := range got.all {
		if !errors.Is(err, driver.ErrClosed) {
			t.Errorf("message %d: %v", token, err)
		}
	}
}

// outcomes is a driver.Acks that keeps what it was told.
type outcomes struct {
	mu  sync.Mutex
	all map[uint64]error
}

func (o *outcomes) Done(token uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[token] = err
}

// TestUnansweredMessagesAreUnknown kills a server that has not answered.
func TestUnansweredMessagesAreUnknown(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	back := make(chan struct{}, 16)
	s := open(t, driver.Target{URL: c.URL, Notify: func(e driver.Event) {
		if e.Kind == driver.Reconnected && strings.Contains(e.Detail, "producer") {
			back <- struct{}{}
		}
	}})
	got := &outcomes{all: map[uint64]error{}}
	p := sessiontest.Produce(t, s, got)
	brokertest.Freeze(t, c)()
	const n = 10
	for i := range n {
		if err := p.Send(uint64(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	brokertest.Restart(t, c)()
	select {
	case <-back:
	case <-time.After(time.Minute):
		t.Fatal("the producer does not come back")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		got.mu.Lock()
		done := len(got.all)
		got.mu.Unlock()
		if done == n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d sends are done", done, n)
		}
	}
	for token, err := range got.all {
		if !errors.Is(err, driver.ErrTimeout) {
			t.Errorf("message %d: %v", token, err)
		}
	}
}

// TestDurableGroupMissesNothing sends while no member of the group is there.
func TestDurableGroupMissesNothing(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{Settings: map[string]string{"store": "file", "file_sync": "false"}})
	m := monitor{c.Info["monitoring"]}
	for _, durable := range []bool{true, false} {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"durable": durable}})
		var first sessiontest.Counter
		member := sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0"}, first.Deliver)
		var acks sessiontest.Counter
		p := sessiontest.Produce(t, s, &acks)
		send := func(token uint64) {
			if err := p.Send(token, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		send(1)
		first.Await(t, 1)
		if err := member.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		send(2)
		acks.Await(t, 2)
		want := 1
		if durable {
			want = 2
		}
		var rest sessiontest.Counter
		member = sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0"}, rest.Deliver)
		send(3)
		rest.Await(t, want)
		if err := errors.Join(member.Close(t.Context()), s.Deprovision(t.Context())); err != nil {
			t.Error(err)
		}
		s.Close(t.Context())
		channels, err := m.channels("test")
		if err != nil || len(channels) != 1 {
			t.Fatalf("channels %v, %v", channels, err)
		}
		if left := channels[0].Subscriptions; len(left) > 0 {
			t.Errorf("durable %v: subscriptions %+v are left", durable, left)
		}
	}
}

// TestAnAnswerThatDoesNotComeInTime is a message whose outcome nobody knows.
func TestAnAnswerThatDoesNotComeInTime(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	got := make(chan error, 1)
	p := sessiontest.Produce(t, open(t, driver.Target{URL: c.URL, Options: map[string]any{"ack_timeout": "50ms"}}), acksFunc(func(err error) { got <- err }))
	brokertest.Freeze(t, c)()
	if err := p.Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("done with %v", err)
	}
	brokertest.Thaw(t, c)()
}

type acksFunc func(error)

func (f acksFunc) Done(_ uint64, err error) { f(err) }

// TestDurableSubscribersShareAConnection subscribes twice as the same client.
func TestDurableSubscribersShareAConnection(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"durable": true}})
	var got []*sessiontest.Counter
	for id := range 2 {
		got = append(got, new(sessiontest.Counter))
		sessiontest.Consume(t, s, driver.ConsumerSpec{ID: id, Conn: 0}, got[id].Deliver)
	}
	if err := sessiontest.Produce(t, s, new(sessiontest.Counter)).Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, g := range got {
		g.Await(t, 1)
	}
}
