package amqp10_test

import (
	"errors"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/amqp10"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

func TestOptionsThatContradict(t *testing.T) {
	for word, options := range map[string]map[string]any{
		"quarter": {"ack_every": 26, "credit": 100},
		"address": {"source": "/queues/{topic}"},
		"tls.key": {"login": "external"},
	} {
		sessiontest.Refused(t, amqp10.Entry().Driver, driver.Target{URL: "amqp://127.0.0.1:9", Options: options}, driver.ErrOption, word)
	}
}

// testWays has a message pass in each of the ways that the suite does not take.
func testWays(t *testing.T, c *brokers.Cluster, ways map[string]map[string]any) {
	for name, options := range ways {
		t.Run(name, func(t *testing.T) {
			target := driver.Target{URL: c.URL, Options: with(options)}
			semantics := sessiontest.Works(t, amqp10.Entry().Driver, target)
			if want, asked := options["routing"]; asked && semantics.Settings["routing"] != want {
				t.Errorf("the routing is %q", semantics.Settings["routing"])
			}
			s := sessiontest.Open(t, amqp10.Entry().Driver, target)
			for _, topology := range []driver.Topology{
				{Topics: []string{"t0"}, Groups: []string{"a", "b"}},
				{Topics: []string{"t0"}, Consumers: 2},
				{Topics: []string{"a/b"}, Consumers: 1},
			} {
				if _, err := s.Provision(t.Context(), topology); !errors.Is(err, driver.ErrUnsupported) {
					t.Errorf("%+v: %v", topology, err)
				}
			}
		})
	}
}
