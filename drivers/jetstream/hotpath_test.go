package jetstream_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

// open opens a session and provisions t0.
func open(t testing.TB, url string, batch bool, options map[string]any, notify func(driver.Event)) driver.Session {
	t.Helper()
	s, err := jetstream.Entry().Driver.Open(context.Background(), driver.Target{URL: url, Run: "test", Batch: batch, Options: options, Notify: notify})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Deprovision(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close(context.Background())
	})
	if _, err := s.Provision(context.Background(), driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// A message costs no allocation of the driver's: from Send to its
// acknowledgement and delivery, by whatever writes it.
func TestAllocations(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, batch := range []bool{false, true} {
		for _, consume := range []string{"ordered", "push", "pull"} {
			t.Run(fmt.Sprintf("%s, batch %v", consume, batch), func(t *testing.T) {
				s := open(t, b.URL, batch, map[string]any{"storage": "memory", "consume": consume}, nil)
				var acks, got sessiontest.Counter
				sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
				// A heartbeat or a pull request may come between; a message must not.
				const each = 200
				if n := sessiontest.Allocations(t, sessiontest.Produce(t, s, &acks), &acks, &got, each) / each; n > 0.05 {
					t.Errorf("%.2f allocations a message", n)
				}
				if failed := acks.Failed(); failed != nil {
					t.Error(failed)
				}
			})
		}
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPublish compares the driver with what the client library and "nats
// bench js pub async" do: the same number under way, memory storage. What counts
// is cpu-ns/op, this process's own work; the rest is the server's.
func BenchmarkPublish(b *testing.B) {
	const underWay = 500
	c := startBroker(b, brokers.Options{})
	for _, size := range []int{256, 1024} {
		payload := make([]byte, size)
		report := func(b *testing.B, run func(n int)) {
			b.ReportAllocs()
			before := processorTime()
			run(b.N)
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		}
		for _, who := range []string{"direct", "library"} {
			b.Run(fmt.Sprintf("driver, %s/%d", who, size), func(b *testing.B) {
				s := open(b, c.URL, true, map[string]any{"client": who, "storage": "memory", "max_in_flight": underWay}, nil)
				var acks sessiontest.Counter
				p := sessiontest.Produce(b, s, &acks)
				b.ResetTimer()
				report(b, func(count int) {
					for i := range count {
						if err := p.Send(uint64(i), payload); err != nil {
							b.Fatal(err)
						}
					}
					if f, ok := p.(driver.Flusher); ok {
						f.Flush()
					}
					acks.Await(b, count)
				})
			})
		}
		b.Run(fmt.Sprintf("client/%d", size), func(b *testing.B) {
			nc, err := client.Connect(c.URL)
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			j, err := js.New(nc)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := j.CreateStream(b.Context(), js.StreamConfig{Name: "bench", Subjects: []string{"bench"}, Storage: js.MemoryStorage, MaxBytes: 1 << 30}); err != nil {
				b.Fatal(err)
			}
			defer j.DeleteStream(context.Background(), "bench")
			b.ResetTimer()
			report(b, func(count int) {
				// A batch, then all its acknowledgements.
				for sent := 0; sent < count; {
					n := min(underWay, count-sent)
					futures := make([]js.PubAckFuture, n)
					for i := range n {
						if futures[i], err = j.PublishAsync("bench", payload); err != nil {
							b.Fatal(err)
						}
					}
					<-j.PublishAsyncComplete()
					for _, f := range futures {
						select {
						case <-f.Ok():
						case err := <-f.Err():
							b.Fatal(err)
						}
					}
					sent += n
				}
			})
		})
	}
}
