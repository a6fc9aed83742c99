package stan_test

import (
	"context"
	"testing"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// open opens a session in the run "test" and provisions the topic t0; it ends
// with the test.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	target.Run = "test"
	s, err := stan.Entry().Driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	return s
}

// bare returns what publishes by the library alone, set as it is by itself.
func bare(t testing.TB, url string, limit int, acks driver.Acks) func(payload []byte) error {
	t.Helper()
	sc, err := client.Connect("test-cluster", "bare", client.NatsURL(url), client.MaxPubAcksInflight(limit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sc.Close() })
	handler := func(_ string, err error) { acks.Done(0, err) }
	return func(payload []byte) error {
		_, err := sc.PublishAsync("s9.test.t1", payload, handler) // a name as long as ours: the library copies it
		return err
	}
}

// TestSendAllocatesWhatTheLibraryDoes counts the sender's side and the
// acknowledgement's together.
func TestSendAllocatesWhatTheLibraryDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("a sync.Pool forgets at random where the race detector runs")
	}
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	const n = 2000
	payload := make([]byte, 256)
	var acks sessiontest.Counter
	count := func(send func() error) float64 {
		return testing.AllocsPerRun(3, func() {
			want := acks.Count() + n
			for range n {
				if err := send(); err != nil {
					t.Fatal(err)
				}
			}
			acks.Await(t, want)
		}) / n
	}
	publish := bare(t, c.URL, n, &acks)
	library := count(func() error { return publish(payload) })
	for _, batch := range []bool{false, true} {
		p := sessiontest.Produce(t, open(t, driver.Target{URL: c.URL, Batch: batch}), &acks)
		ours := count(func() error { return p.Send(1, payload) })
		if ours > library+0.8 { // one more is a whole one; a busy machine adds parts
			t.Errorf("batch %v: a message allocates %v times until it is acknowledged, and %v times by the library alone", batch, ours, library)
		}
		if failed := acks.Failed(); failed != nil {
			t.Errorf("batch %v: %v", batch, failed)
		}
	}
}

// BenchmarkPublish sends flat out until all is acknowledged. Times are the
// server's; -cpuprofile and allocations are the client's.
func BenchmarkPublish(b *testing.B) {
	c := brokertest.Start(b, "nats-streaming", brokers.Options{Settings: map[string]string{"max_msgs": "10000"}})
	const limit = 1024
	payload := make([]byte, 256)
	for name, sender := range map[string]func(b *testing.B, acks driver.Acks) func() error{
		"driver": func(b *testing.B, acks driver.Acks) func() error {
			p := sessiontest.Produce(b, open(b, driver.Target{URL: c.URL, Batch: true, Options: map[string]any{"max_pub_acks_inflight": limit}}), acks)
			return func() error { return p.Send(1, payload) }
		},
		"bare": func(b *testing.B, acks driver.Acks) func() error {
			publish := bare(b, c.URL, limit, acks)
			return func() error { return publish(payload) }
		},
	} {
		b.Run(name, func(b *testing.B) {
			var acks sessiontest.Counter
			send := sender(b, &acks)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := send(); err != nil {
					b.Fatal(err)
				}
			}
			acks.Await(b, b.N)
		})
	}
}
