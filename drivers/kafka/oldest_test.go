package kafka_test

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestOldestProtocol speaks with a broker of 2015, which knows neither groups
// nor how to create a topic when asked to.
func TestOldestProtocol(t *testing.T) {
	if testing.Short() {
		t.Skip("starts virtual machines of its own; not with -short")
	}
	t.Parallel()
	address := brokertest.Start(t, "kafka-0.8", brokers.Options{Settings: map[string]string{"java.heap": "256m"}}).URL
	for _, acks := range []string{"0", "1", "all"} {
		s, run := session(t, address, map[string]any{"version": "0.8.2", "acks": acks})
		sem := provision(t, s, driver.Topology{Topics: []string{"t0"}})
		if !strings.Contains(strings.Join(sem.Warnings, " "), run) || sem.Settings["idempotence"] != "false" {
			t.Errorf("warnings %q, idempotence %s", sem.Warnings, sem.Settings["idempotence"])
		}
		var boxes []*mailbox
		for id := range 2 {
			m, _ := consume(t, s, driver.ConsumerSpec{ID: id})
			boxes = append(boxes, m)
		}
		p := sessiontest.Produce(t, s, &sessiontest.Counter{})
		for i := range 200 {
			if err := p.Send(uint64(i), []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range boxes {
			m.wait(t, 200)
		}
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}}); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("a group: %v", err)
		}
	}
	s, _ := session(t, address, map[string]any{"version": "0.8.2", "topic": "nowhere", "create": false})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t1"}}); !errors.Is(err, driver.ErrNoTopic) {
		t.Errorf("a topic that there is not: %v", err)
	}
}
