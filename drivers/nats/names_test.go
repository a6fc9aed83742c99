package nats_test

import (
	"errors"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
)

func TestNamesAreChecked(t *testing.T) {
	s := open(t, startBroker(t, ""), false)
	for _, name := range []string{"", "*", ">", "a.*", "a.>", "a b", "a\tb", "a\r\nPUB b 0\r\n", ".a", "a.", "a..b"} {
		for what, topology := range map[string]driver.Topology{
			"topic": {Topics: []string{name}},
			"group": {Topics: []string{"t0"}, Groups: []string{name}},
		} {
			if _, err := s.Provision(t.Context(), topology); !errors.Is(err, driver.ErrUnsupported) {
				t.Errorf("Provision with %s %q: %v", what, name, err)
			}
		}
	}
}

func TestConsumerAcknowledgementsAreRefused(t *testing.T) {
	s := open(t, startBroker(t, ""), false)
	ack := driver.ConsumerAck{Mode: driver.AckEach}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Ack: ack}, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
