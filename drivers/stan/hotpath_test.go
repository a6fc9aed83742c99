package stan_test

import (
	"context"
	"sync/atomic"
	"testing"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// counter counts what it is told of, and says when it has got to a number.
type counter struct {
	n, failed atomic.Int64
	goal      int64
	reached   chan struct{}
}

func newCounter(goal int) *counter {
	return &counter{goal: int64(goal), reached: make(chan struct{})}
}

func (c *counter) count() {
	if c.n.Add(1) == c.goal {
		close(c.reached)
	}
}

func (c *counter) Done(_ uint64, err error) {
	if err != nil {
		c.failed.Add(1)
	}
	c.count()
}

func (c *counter) deliver(driver.Message) { c.count() }

// wait waits until the goal has been reached.
func (c *counter) wait(t testing.TB) {
	t.Helper()
	select {
	case <-c.reached:
	case <-t.Context().Done():
		t.Fatalf("%d of %d", c.n.Load(), c.goal)
	}
}

// open opens a session in the run "test" and provisions the topic t0; it ends
// with the test.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	target.Run = "test"
	s, err := stan.Driver{}.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	return s
}

func producerOf(t testing.TB, s driver.Session, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, acks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func consumerOf(t testing.TB, s driver.Session, spec driver.ConsumerSpec, deliver driver.Deliver) driver.Consumer {
	t.Helper()
	spec.Topics = []string{"t0"}
	c, err := s.Consumer(t.Context(), spec, deliver)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSendAllocatesLittle counts the sender's side and the acknowledgement's
// together: nats.go makes a message of each that arrives.
func TestSendAllocatesLittle(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	for _, batch := range []bool{false, true} {
		const n = 2000
		payload := make([]byte, 256)
		p := func(acks driver.Acks) driver.Producer {
			return producerOf(t, open(t, driver.Target{URL: c.URL, Batch: batch}), acks)
		}
		acks := newCounter(n)
		measured := p(acks)
		allocs := testing.AllocsPerRun(1, func() {
			*acks = counter{goal: n, reached: make(chan struct{})}
			for i := range n {
				if err := measured.Send(uint64(i), payload); err != nil {
					t.Fatal(err)
				}
			}
			acks.wait(t)
		}) / n
		if allocs > 4 { // it makes three, and some more happen beside
			t.Errorf("batch %v: a message allocates %v times until it is acknowledged", batch, allocs)
		}
		if failed := acks.failed.Load(); failed > 0 {
			t.Errorf("batch %v: %d sends failed", batch, failed)
		}
	}
}

// BenchmarkPublish sends flat out until all is acknowledged. Times are the
// server's; -cpuprofile and allocations are the client's.
func BenchmarkPublish(b *testing.B) {
	c := brokertest.Start(b, "nats-streaming", brokers.Options{Settings: map[string]string{"max_msgs": "10000"}})
	payload := make([]byte, 256)
	for _, publish := range []string{"direct", "client"} {
		b.Run(publish, func(b *testing.B) {
			acks := newCounter(b.N)
			p := producerOf(b, open(b, driver.Target{URL: c.URL, Batch: true, Options: map[string]any{"publish": publish, "max_pub_acks_inflight": 1024}}), acks)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			acks.wait(b)
		})
	}
	b.Run("bare", func(b *testing.B) {
		sc, err := client.Connect("test-cluster", "bare", client.NatsURL(c.URL), client.MaxPubAcksInflight(1024))
		if err != nil {
			b.Fatal(err)
		}
		defer sc.Close()
		acks := newCounter(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := sc.PublishAsync("bare", payload, func(_ string, err error) { acks.Done(0, err) }); err != nil {
				b.Fatal(err)
			}
		}
		acks.wait(b)
	})
}
