package nsq_test

import (
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// The options that both clients have are handed to go-nsq.
func TestLibraryOptions(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	for _, more := range []map[string]any{nil, {"snappy": true}, {"deflate": true}, {"write_buffer": "4KiB"}} {
		options := map[string]any{"client": "library"}
		for name, value := range more {
			options[name] = value
		}
		var acks, got sessiontest.Counter
		s := open(t, driver.Target{URL: c.URL, Options: options})
		topology := driver.Topology{Topics: []string{"t0"}, MaxSize: 64}
		sem, err := s.Provision(t.Context(), topology)
		if err != nil || sem.Client.String() != "go-nsq 1.1.0" || len(sem.Warnings) == 0 {
			t.Fatalf("%v: %+v, %v", more, sem, err)
		}
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
		p := sessiontest.Produce(t, s, &acks)
		const many = 300
		for range many {
			if err := p.Send(1, make([]byte, 64)); err != nil {
				t.Fatal(err)
			}
		}
		sessiontest.Until(t, "answers and deliveries", func() bool { return acks.Count() == many && got.Count() == many })
		if failed := acks.Failed(); failed != nil {
			t.Errorf("%v: %v", more, failed)
		}
		if err := s.Deprovision(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// go-nsq does not end a connection, nor make the next, while messages of it have no
// answer: those that are held to be finished together.
func TestLibraryComesBackWithHeldMessages(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	restart := brokertest.Restart(t, c)
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"client": "library"}})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	var acks, got sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 100}}, got.Deliver)
	p := sessiontest.Produce(t, s, &acks)
	const held = 3
	for range held {
		if err := p.Send(1, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	sessiontest.Until(t, "messages that are held", func() bool { return got.Count() == held })
	restart()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	sessiontest.Until(t, "messages are delivered again", func() bool {
		<-pace.C
		_ = p.Send(1, []byte("y")) // fails until nsqd is back
		return got.Count() > held
	})
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
}
