package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit/rabbittest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/semantics"
)

// testOptions sends messages with each kind of queue, exchange and
// acknowledgement, to a group and to a subscriber of its own.
func testOptions(t *testing.T, b *broker) {
	for _, tt := range []struct {
		name    string
		options map[string]any
		group   bool
		holds   func(s driver.Semantics) bool
	}{
		{"quorum", map[string]any{"queue_type": "quorum", "quorum_group_size": 1}, true,
			func(s driver.Semantics) bool { return s.Levels.Durability == semantics.Synced }},
		{"stream", map[string]any{"queue_type": "stream", "ack_every": 1}, false,
			func(s driver.Semantics) bool { return s.Settings["prefetch"] == "1000" }},
		{"fanout", map[string]any{"exchange": "fanout"}, true, nil},
		{"topic", map[string]any{"exchange": "topic", "routing_key": "a.b.c", "binding_key": "a.#"}, true, nil},
		{"headers", map[string]any{"exchange": "headers"}, true, nil},
		{"default exchange", map[string]any{"exchange": "default"}, true, nil},
		{"default exchange, one subscriber", map[string]any{"exchange": "default"}, false, nil},
		{"persistent", map[string]any{"persistent": true}, true,
			func(s driver.Semantics) bool { return s.Levels.Durability == semantics.Synced }},
		{"transient", map[string]any{"durable": false}, true, nil},
		{"transactions", map[string]any{"transaction": 7}, true,
			func(s driver.Semantics) bool { return strings.HasPrefix(s.Acknowledgment, "tx.commit-ok") }},
		{"transactions by the library, as it was called before", map[string]any{"transaction": 7, "client": "amqp091"}, true,
			func(s driver.Semantics) bool { return s.Client.Name == "amqp091-go" }},
		{"shared channel", map[string]any{"channels": 1}, true, nil},
		{"small frames", map[string]any{"frame_max": "4KiB"}, true,
			func(s driver.Semantics) bool { return s.Settings["frame_max"] == "4KiB" }},
		{"arguments", map[string]any{"queue_arguments": []any{"x-max-length=100000", "x-overflow=reject-publish"}}, true,
			func(s driver.Semantics) bool {
				return len(s.Warnings) == 1 && s.Settings["queue_max-length"] == "100000"
			}},
		{"prefetch", map[string]any{"ack_every": 5, "prefetch": 10}, true,
			func(s driver.Semantics) bool { return strings.Contains(s.Consumption, "prefetch 10") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := rabbittest.NewOutcomes()
			s := b.open(t, tt.options, o.Notify)
			topology := driver.Topology{Topics: []string{"t0", "t1"}, Producers: 2, Consumers: 1, MaxSize: 10_000}
			spec := driver.ConsumerSpec{Topics: topology.Topics}
			if tt.group {
				topology.Groups, spec.Group = []string{"g0"}, "g0"
			}
			semantics, err := s.Provision(t.Context(), topology)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Deprovision(context.WithoutCancel(t.Context()))
			if tt.holds != nil && !tt.holds(semantics) {
				t.Errorf("semantics %+v", semantics)
			}
			if _, err := s.Consumer(t.Context(), spec, o.Deliver); err != nil {
				t.Fatal(err)
			}
			const n = 50
			for i, topic := range topology.Topics {
				p, err := s.Producer(t.Context(), driver.ProducerSpec{ID: i, Topic: topic}, o)
				if err != nil {
					t.Fatal(err)
				}
				send(t, p, i*n, n)
			}
			o.Until(t, "all is done and delivered", func() bool { return len(o.Errs) == 2*n && len(o.Payloads) == 2*n }, nil)
			for token, err := range o.Errs {
				if err != nil {
					t.Fatalf("message %d: %v", token, err)
				}
			}
			if len(o.Events) > 0 {
				t.Errorf("events %v", o.Events)
			}
		})
	}
}

// testUnroutable: what leads to no queue must not look like delivered, although
// the broker confirms it.
func testUnroutable(t *testing.T, b *broker) {
	for _, client := range []string{"direct", "library"} {
		for _, confirms := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, confirms %v", client, confirms), func(t *testing.T) {
				o := rabbittest.NewOutcomes()
				s := b.open(t, map[string]any{"exchange": "topic", "routing_key": "elsewhere", "binding_key": "here", "client": client, "confirms": confirms}, o.Notify)
				if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 1}); err != nil {
					t.Fatal(err)
				}
				defer s.Deprovision(context.WithoutCancel(t.Context()))
				p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
				if err != nil {
					t.Fatal(err)
				}
				const n = 300
				send(t, p, 0, n)
				o.Until(t, "all came back", func() bool {
					returned := 0
					for _, e := range o.Events {
						if e.Kind == driver.Returned {
							returned += e.Count
						}
					}
					return returned == n && len(o.Errs) == n
				}, nil)
				for token, err := range o.Errs {
					if confirms != errors.Is(err, driver.ErrNoTopic) {
						t.Fatalf("message %d: %v", token, err)
					}
				}
			})
		}
	}
	// A queue that refuses more than it holds nacks, which is another thing.
	t.Run("refused", func(t *testing.T) {
		o := rabbittest.NewOutcomes()
		s := b.open(t, map[string]any{"queue_arguments": "x-max-length=3,x-overflow=reject-publish", "channels": 1}, o.Notify)
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 1}); err != nil {
			t.Fatal(err)
		}
		defer s.Deprovision(context.WithoutCancel(t.Context()))
		p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
		if err != nil {
			t.Fatal(err)
		}
		send(t, p, 0, 20)
		o.Until(t, "all is done", func() bool { return len(o.Errs) == 20 }, nil)
		refused := 0
		for token, err := range o.Errs {
			if errors.Is(err, driver.ErrRejected) && strings.Contains(err.Error(), `"t0"`) {
				refused++
			} else if err != nil {
				t.Errorf("message %d: %v", token, err)
			}
		}
		if refused == 0 || refused == 20 {
			t.Errorf("%d of 20 messages were refused by a queue for 3", refused)
		}
	})
}

// testAlarm: a broker that is short of memory takes nothing, which is told of and
// fails what is sent.
func testAlarm(t *testing.T, b *broker) {
	o := rabbittest.NewOutcomes()
	s := b.open(t, nil, o.Notify)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
		t.Fatal(err)
	}
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := brokertest.RabbitMQControl(t, b.Cluster, "set_vm_memory_high_watermark", "absolute", "1MB"); err != nil {
		t.Fatal(err)
	}
	// The broker tells those that publish, once they do.
	var refused error
	publish := func() { refused = p.Send(1, []byte("x")) }
	o.Until(t, "the alarm is noticed", func() bool { return refused != nil }, publish)
	if !errors.Is(refused, driver.ErrThrottled) {
		t.Error(refused)
	}
	if _, err := brokertest.RabbitMQControl(t, b.Cluster, "set_vm_memory_high_watermark", "0.4"); err != nil {
		t.Fatal(err)
	}
	publish()
	o.Until(t, "the alarm is over", func() bool { return refused == nil }, publish)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("another broker takes a while")
	}
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "rabbitmq", brokers.Options{TLS: certificates.Server(true), User: "client", Password: "lovelace"})
	for _, tt := range []struct {
		name    string
		tls     *driver.TLS
		options map[string]any
		class   error
		hint    string
	}{
		{"password", certificates.Client(true), map[string]any{"user": "client", "password": "lovelace"}, nil, ""},
		{"password, by the library", certificates.Client(true), map[string]any{"user": "client", "password": "lovelace", "client": "library"}, nil, ""},
		{"certificate", certificates.Client(true), map[string]any{"login": "external"}, nil, ""},
		{"certificate, by the library", certificates.Client(true), map[string]any{"login": "external", "client": "library"}, nil, ""},
		{"wrong password", certificates.Client(true), map[string]any{"user": "client", "password": "byron"}, driver.ErrUnauthorized, "check user"},
		{"no virtual host", certificates.Client(true), map[string]any{"user": "client", "password": "lovelace", "vhost": "none"}, driver.ErrUnauthorized, "virtual host"},
		{"no certificate", certificates.Client(false), map[string]any{"user": "client", "password": "lovelace"}, driver.ErrNotConnected, "client certificate"},
		{"unknown authority", &driver.TLS{}, map[string]any{"user": "client", "password": "lovelace"}, driver.ErrNotConnected, "tls.ca"},
		{"no certificate to log in with", certificates.Client(false), map[string]any{"login": "external"}, driver.ErrOption, "tls.cert"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := driver.Target{URL: c.URL, Options: tt.options, TLS: tt.tls}
			if tt.class != nil {
				sessiontest.Refused(t, rabbitmq.Entry().Driver, target, tt.class, tt.hint)
			} else if semantics := sessiontest.Works(t, rabbitmq.Entry().Driver, target); !strings.HasPrefix(semantics.Transport, "tcp, tls") {
				t.Errorf("transport %q", semantics.Transport)
			}
		})
	}
	plain := strings.Replace(c.URL, "amqps", "amqp", 1)
	sessiontest.Refused(t, rabbitmq.Entry().Driver, driver.Target{URL: plain}, driver.ErrNotConnected, "amqps")
}

func TestOptionsThatContradict(t *testing.T) {
	for _, options := range []map[string]any{
		{"queue_type": "quorum", "durable": false},
		{"quorum_group_size": 3},
		{"queue_type": "stream", "transaction": 1},
		{"password": "x"},
		{"exchange": "default", "routing_key": "x"},
		{"queue_arguments": "x-max-length"},
		{"heartbeat": "-1s"},
	} {
		_, err := rabbitmq.Entry().Driver.Open(t.Context(), driver.Target{URL: "amqp://127.0.0.1:1", Run: "test", Options: options})
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%v: %v", options, err)
		}
	}
	for _, url := range []string{"http://x", "amqp://", "amqp://%zz"} {
		_, err := rabbitmq.Entry().Driver.Open(t.Context(), driver.Target{URL: url, Run: "test"})
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
