package jetstream_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/semantics"
)

// works sends messages through the target and returns the semantics.
func works(t *testing.T, target driver.Target, topology driver.Topology, spec driver.ConsumerSpec) driver.Semantics {
	t.Helper()
	target.Run = "works"
	s, err := jetstream.Entry().Driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	topology.Topics = []string{"t0"}
	sem, err := s.Provision(t.Context(), topology)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Deprovision(context.Background())
	var acks, got sessiontest.Counter
	sessiontest.Consume(t, s, spec, got.Deliver)
	p := sessiontest.Produce(t, s, &acks)
	const count = 100
	for i := range count {
		if err := p.Send(uint64(i), []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	sessiontest.Until(t, "messages and acknowledgements", func() bool { return acks.Count() == count && got.Count() == count })
	if failed := acks.Failed(); failed != nil {
		t.Error(failed)
	}
	return sem
}

// refusedWith wants Open or Provision to fail with the class and the words.
func refusedWith(t *testing.T, target driver.Target, topology driver.Topology, class error, words ...string) {
	t.Helper()
	target.Run = "refused"
	s, err := jetstream.Entry().Driver.Open(t.Context(), target)
	if err == nil {
		defer s.Close(context.Background())
		topology.Topics = []string{"t0"}
		_, err = s.Provision(t.Context(), topology)
	}
	if err == nil {
		s.Deprovision(t.Context())
	}
	if !errors.Is(err, class) {
		t.Fatalf("%v: %v, want %v", target.Options, err, class)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
}

func TestOptions(t *testing.T) {
	b := startBroker(t, brokers.Options{Settings: map[string]string{"jetstream.sync_interval": "always"}})
	for _, test := range []struct {
		name     string
		options  map[string]any
		topology driver.Topology
		spec     driver.ConsumerSpec
		want     func(driver.Semantics) bool
	}{
		{"sync", map[string]any{"monitoring": b.Info["monitoring"]}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool {
				return s.Levels.Durability == semantics.Synced && s.Settings["sync_interval"] == "always"
			}},
		{"sync not known", nil, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool {
				return s.Levels.Durability == semantics.PageCache && strings.Contains(s.Durability, "does not tell")
			}},
		{"monitoring that is not there", map[string]any{"monitoring": "http://127.0.0.1:1"}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool { return len(s.Warnings) == 1 }},
		{"memory", map[string]any{"storage": "memory", "message_id": true}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool { return s.Levels.Durability == semantics.Memory }},
		{"limits", map[string]any{"max_messages": 1000, "max_bytes": "1MiB", "max_age": "1h", "discard": "new", "compression": "s2"},
			driver.Topology{}, driver.ConsumerSpec{}, func(s driver.Semantics) bool {
				return s.Settings["max_messages"] == "1000" && s.Settings["max_age"] == "1h0m0s" && s.Settings["max_bytes"] == "1048576"
			}},
		{"no acknowledgements", map[string]any{"acknowledge": false}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool { return s.Acknowledgment == "none" }},
		{"work queue", map[string]any{"retention": "workqueue"}, driver.Topology{Groups: []string{"g0"}}, driver.ConsumerSpec{Group: "g0"},
			func(s driver.Semantics) bool { return s.Levels.Delivery == semantics.AtLeastOnce }},
		{"group without acknowledgements", nil, driver.Topology{Groups: []string{"g0"}},
			driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckNone}}, nil},
		{"every seven, pull", map[string]any{"consume": "pull", "max_in_flight": 10}, driver.Topology{},
			driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 7}}, nil},
		{"library", map[string]any{"client": "library", "storage": "memory"}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool {
				return s.Client.Name == "nats.go/jetstream" && s.Settings["consume"] == "ordered"
			}},
		{"library as it was called before", map[string]any{"publish": "client", "receive": "client"}, driver.Topology{Groups: []string{"g0"}},
			driver.ConsumerSpec{Group: "g0"}, func(s driver.Semantics) bool {
				return s.Client.Name == "nats.go/jetstream" && s.Settings["consume"] == "pull"
			}},
		{"library, every seven, few in flight", map[string]any{"client": "library", "max_in_flight": 3, "message_id": true}, driver.Topology{},
			driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 7}}, nil},
		{"library, no acknowledgements", map[string]any{"client": "library", "acknowledge": false}, driver.Topology{}, driver.ConsumerSpec{}, nil},
		{"library, fetch", map[string]any{"client": "library", "consume": "fetch", "pull_batch": 7, "double_ack": true}, driver.Topology{},
			driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEach}},
			func(s driver.Semantics) bool { return strings.Contains(s.Consumption, "a batch of 7") }},
		{"persist", map[string]any{"persist": "async"}, driver.Topology{}, driver.ConsumerSpec{},
			func(s driver.Semantics) bool { return strings.Contains(s.Durability, "later") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			sem := works(t, driver.Target{URL: b.URL, Options: test.options}, test.topology, test.spec)
			if test.want != nil && !test.want(sem) {
				t.Errorf("semantics %+v", sem)
			}
		})
	}
	for _, test := range []struct {
		options  map[string]any
		topology driver.Topology
		class    error
		word     string
	}{
		{map[string]any{"replicas": 3}, driver.Topology{}, driver.ErrUnsupported, "lower option replicas"},
		{map[string]any{"domain": "nowhere"}, driver.Topology{}, driver.ErrUnsupported, "JetStream is not enabled"},
		{map[string]any{"consume": "ordered"}, driver.Topology{Groups: []string{"g"}}, driver.ErrOption, "groups"},
		{map[string]any{"consume": "ordered", "retention": "interest"}, driver.Topology{}, driver.ErrOption, "ordered"},
		{map[string]any{"pull_batch": 1, "pull_threshold": 2}, driver.Topology{}, driver.ErrOption, "pull_threshold"},
		{map[string]any{"heartbeat": "20s"}, driver.Topology{}, driver.ErrOption, "pull_expires"},
		{map[string]any{"heartbeat": "200ms", "client": "library"}, driver.Topology{}, driver.ErrOption, "500ms"},
		{map[string]any{"consume": "fetch"}, driver.Topology{}, driver.ErrOption, "client library"},
		{map[string]any{"double_ack": true}, driver.Topology{}, driver.ErrOption, "client library"},
		{map[string]any{"publish": "client", "receive": "direct"}, driver.Topology{}, driver.ErrOption, "give client alone"},
		{map[string]any{"api_prefix": "a", "domain": "b"}, driver.Topology{}, driver.ErrOption, "one of the two"},
		{map[string]any{"persist": "async", "storage": "memory"}, driver.Topology{}, driver.ErrOption, "async"},
		{map[string]any{"max_message_size": "1KiB"}, driver.Topology{MaxSize: 2000}, driver.ErrTooLarge, "max_message_size"},
	} {
		refusedWith(t, driver.Target{URL: b.URL, Options: test.options}, test.topology, test.class, test.word)
	}
}

func TestWithoutJetStream(t *testing.T) {
	b := startBroker(t, brokers.Options{Settings: map[string]string{"jetstream": "false"}})
	refusedWith(t, driver.Target{URL: b.URL}, driver.Topology{}, driver.ErrUnsupported, "JetStream is not enabled", "-js")
}

func TestTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("a variant")
	}
	files := brokertest.NewCertificates(t)
	for _, clients := range []bool{false, true} {
		b := startBroker(t, brokers.Options{TLS: files.Server(clients)})
		sem := works(t, driver.Target{URL: b.URL, TLS: files.Client(clients)}, driver.Topology{}, driver.ConsumerSpec{})
		if !strings.Contains(sem.Transport, "tls") {
			t.Errorf("transport %q", sem.Transport)
		}
		refusedWith(t, driver.Target{URL: b.URL, TLS: &driver.TLS{ServerName: "elsewhere"}}, driver.Topology{}, driver.ErrNotConnected, "certificate")
		if clients {
			refusedWith(t, driver.Target{URL: b.URL, TLS: files.Client(false)}, driver.Topology{}, driver.ErrNotConnected)
		}
	}
}

// What a full stream refuses is refused, not lost.
func TestFullStreamRefuses(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, client := range []string{"direct", "library"} {
		s := open(t, b.URL, false, map[string]any{"client": client, "max_messages": 10, "discard": "new"}, nil)
		var acks sessiontest.Counter
		p := sessiontest.Produce(t, s, &acks)
		for i := range 25 {
			if err := p.Send(uint64(i), []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		sessiontest.Until(t, "answers", func() bool { return acks.Count() == 25 })
		if failed := acks.Failed(); len(failed) != 15 {
			t.Errorf("%s: %d of 25 messages to a stream of 10 are refused: %v", client, len(failed), failed)
		}
	}
}

// A server that loses its memory loses the stream: it is made again, and all
// goes on.
func TestMemoryIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("restarts take their time")
	}
	b := startBroker(t, brokers.Options{})
	for _, way := range []struct{ client, consume string }{
		{"direct", "ordered"}, {"direct", "push"}, {"direct", "pull"},
		{"library", "ordered"}, {"library", "push"}, {"library", "pull"}, {"library", "fetch"},
	} {
		var acks, got sessiontest.Counter
		s := open(t, b.URL, false, map[string]any{"storage": "memory", "client": way.client, "consume": way.consume}, nil)
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
		p := sessiontest.Produce(t, s, &acks)
		pass := func() {
			before := got.Count()
			i := uint64(0)
			sessiontest.Until(t, way.client+", "+way.consume+": messages", func() bool {
				p.Send(i, []byte("hello")) // it may not be back yet
				i++
				time.Sleep(time.Millisecond)
				return got.Count() > before
			})
		}
		pass()
		brokertest.Restart(t, b)()
		pass()
		p.Close(t.Context())
		s.Deprovision(t.Context())
		s.Close(t.Context())
	}
}

// One server of three is killed: messages go on being stored and delivered,
// and come back with it.
func TestOneOfThreeIsKilled(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("a cluster takes its time")
	}
	b := startBroker(t, brokers.Options{Nodes: 3})
	s := open(t, b.URL, false, map[string]any{"replicas": 3, "consume": "pull"}, nil)
	var acks, got sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
	p := sessiontest.Produce(t, s, &acks)
	sent := 0
	pass := func(count int) {
		t.Helper()
		before := got.Count()
		sessiontest.Until(t, "messages", func() bool {
			if p.Send(uint64(sent), []byte("hello")) == nil {
				sent++
			}
			time.Sleep(time.Millisecond)
			return got.Count() >= before+count
		})
	}
	pass(20)
	if err := b.Nodes()[2].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	pass(20)
	sessiontest.Until(t, "every message's fate", func() bool { return acks.Count() == sent })
}

// A reading is of the copy that it is said to be of, however JetStream places consumers: the leader's, or that of the
// server that was named.
func TestReadsTheCopyThatIsNamed(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("a cluster takes its time")
	}
	b := startBroker(t, brokers.Options{Nodes: 3})
	s := open(t, b.URL, false, map[string]any{"replicas": 3}, nil)
	var acks sessiontest.Counter
	p := sessiontest.Produce(t, s, &acks)
	if err := p.Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	sessiontest.Until(t, "the acknowledgement", func() bool { return acks.Count() == 1 })
	leader := ""
	// at returns the server of the stream's only consumer, as another client sees it.
	at := func() (server string) {
		if err := look(b, "test", nil, func(st js.Stream) error {
			info, err := st.Info(t.Context())
			if err != nil {
				return err
			}
			leader = info.Cluster.Leader
			for c := range st.ListConsumers(t.Context()).Info() {
				server = c.Cluster.Leader
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		return server
	}
	place, found := driver.Place{Topic: "t0", Log: true}, ""
	take := func(driver.Kept) { found = at() }
	for range 5 {
		if r, err := s.(driver.BackReader).ReadBack(t.Context(), place, take); err != nil || r.Copy != "leader" || found != leader {
			t.Errorf("read at %s, and the leader is %s: %+v, %v", found, leader, r, err)
		}
	}
	all, err := s.(driver.ReplicaReader).Replicas(t.Context(), place)
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, x := range all {
		if r, err := s.(driver.ReplicaReader).ReadReplica(t.Context(), place, x, take); err != nil || r.Messages != 1 || found != x.Name || x.Leader != (x.Name == leader) {
			t.Errorf("%+v was read at %s: %+v, %v", x, found, r, err)
		}
	}
}
