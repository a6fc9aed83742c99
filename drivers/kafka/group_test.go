package kafka_test

import (
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
)

// committed returns the offset that a group has committed for the only
// partition of its topic.
func committed(t *testing.T, address string, run, group string) int64 {
	t.Helper()
	offsets, err := admin(t, address).FetchOffsets(t.Context(), "s9."+run+"."+group)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := offsets.Lookup("s9."+run+".t0", 0)
	if !ok {
		return -1
	}
	return at.At
}

func testGroupCommits(t *testing.T, address string) {
	for _, test := range []struct {
		ack          driver.ConsumerAck
		before, left int64 // committed before and after the member has left, of 25; -1: does not matter
	}{
		{driver.ConsumerAck{Mode: driver.AckNone}, 0, 0},
		{driver.ConsumerAck{Mode: driver.AckEvery, Every: 10}, 20, 25},
		{driver.ConsumerAck{Mode: driver.AckEach}, -1, 25},
		{driver.ConsumerAck{}, -1, 25},
	} {
		s, run := session(t, address, nil)
		provision(t, s, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}})
		m, consumer := consume(t, s, driver.ConsumerSpec{Group: "g0", Ack: test.ack})
		send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 0, 25)
		m.wait(t, 25)
		// A commit follows its Deliver, which the mailbox has seen.
		if got := committed(t, address, run, "g0"); test.before >= 0 && got > 25 {
			t.Errorf("%+v: committed %d before the end", test.ack, got)
		}
		if err := consumer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := committed(t, address, run, "g0"); got != test.left {
			t.Errorf("%+v: committed %d, want %d", test.ack, got, test.left)
		}
	}
}

func testLoneCommits(t *testing.T, address string) {
	for _, ack := range []driver.ConsumerAck{{Mode: driver.AckEach}, {Mode: driver.AckEvery, Every: 10}} {
		s, run := session(t, address, nil)
		provision(t, s, driver.Topology{Topics: []string{"t0"}})
		m, consumer := consume(t, s, driver.ConsumerSpec{ID: 7, Ack: ack})
		send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 0, 25)
		m.wait(t, 25)
		if err := consumer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := committed(t, address, run, "consumer-7"); got != 25 {
			t.Errorf("%+v: committed %d", ack, got)
		}
	}
}

// testGrowingGroup adds and removes members of a group while messages flow:
// each must come to one of them once.
func testGrowingGroup(t *testing.T, address string) {
	for _, options := range []map[string]any{
		{"partitions": 4, "partitioner": "roundrobin", "heartbeat_interval": "100ms"},
		{"partitions": 4, "partitioner": "roundrobin", "heartbeat_interval": "100ms", "balancer": "range"},
		{"partitions": 4, "partitioner": "roundrobin", "balancer": "server"},
	} {
		s, _ := session(t, address, options)
		provision(t, s, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 3})
		m := newMailbox()
		join := func(id int) driver.Consumer {
			consumer, err := s.Consumer(t.Context(), driver.ConsumerSpec{ID: id, Group: "g0", Topics: []string{"t0"}}, m.deliver)
			if err != nil {
				t.Fatal(err)
			}
			return consumer
		}
		p := sessiontest.Produce(t, s, &sessiontest.Counter{})
		var stop atomic.Bool
		sent := make(chan int)
		go func() {
			n := 0
			for ; !stop.Load(); n += 10 {
				send(t, p, n, 10)
			}
			sent <- n
		}()
		first := join(0)
		join(1)
		join(2)
		if err := first.Close(t.Context()); err != nil {
			t.Error(err)
		}
		stop.Store(true)
		m.wait(t, <-sent)
	}
}
