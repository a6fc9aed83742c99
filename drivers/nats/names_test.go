package nats_test

import (
	"errors"
	"testing"

	"sixnines/driver"
)

func TestNamesAreChecked(t *testing.T) {
	s := open(t, startBroker(t, ""), false)
	for _, name := range []string{"", "*", ">", "a.*", "a.>", "a b", "a\tb", "a\r\nPUB b 0\r\n", ".a", "a.", "a..b"} {
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{name}}); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("Provision with topic %q: %v", name, err)
		}
		if _, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: name}, &counter{}); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("Producer of topic %q: %v", name, err)
		}
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{name}}, new(counter).deliver); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("Consumer of topic %q: %v", name, err)
		}
		if name != "" {
			if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Group: name}, new(counter).deliver); !errors.Is(err, driver.ErrUnsupported) {
				t.Errorf("Consumer of group %q: %v", name, err)
			}
		}
	}
}

func TestConsumerAcknowledgementsAreRefused(t *testing.T) {
	s := open(t, startBroker(t, ""), false)
	ack := driver.ConsumerAck{Mode: driver.AckEach}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Ack: ack}, new(counter).deliver); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
