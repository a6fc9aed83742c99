package jetstream_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

// counter counts what it is told of.
type counter struct{ done, failed, got atomic.Int64 }

func (c *counter) Done(_ uint64, err error) {
	if err != nil {
		c.failed.Add(1)
	}
	c.done.Add(1)
}

func (c *counter) deliver(driver.Message) { c.got.Add(1) }

// until waits for a condition, and fails if it does not come.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.Now().Add(60 * time.Second)
	for !holds() {
		if time.Now().After(limit) {
			t.Fatal("waited in vain for " + what)
		}
		runtime.Gosched()
	}
}

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

func producerOf(t testing.TB, s driver.Session, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(context.Background(), driver.ProducerSpec{Topic: "t0"}, acks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
}

// A message costs no allocation of the driver's: from Send to its
// acknowledgement and delivery, by whatever writes it.
func TestAllocations(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, batch := range []bool{false, true} {
		for _, consume := range []string{"ordered", "push", "pull"} {
			t.Run(fmt.Sprintf("%s, batch %v", consume, batch), func(t *testing.T) {
				if got := allocations(t, b.URL, batch, consume); got > 0.05 {
					t.Errorf("%.2f allocations a message", got)
				}
			})
		}
	}
}

// allocations counts those of a message.
func allocations(t *testing.T, url string, batch bool, consume string) float64 {
	s := open(t, url, batch, map[string]any{"storage": "memory", "consume": consume}, nil)
	var n counter
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, n.deliver); err != nil {
		t.Fatal(err)
	}
	p := producerOf(t, s, &n)
	payload := make([]byte, 256)
	const each = 1000
	sent := int64(0)
	round := func() {
		for range each {
			if err := p.Send(uint64(sent), payload); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		if f, ok := p.(driver.Flusher); ok {
			f.Flush()
		}
		until(t, "messages and acknowledgements", func() bool { return n.done.Load() == sent && n.got.Load() == sent })
	}
	round() // buffers grow
	// A heartbeat or a pull request may come between; a message must not.
	got := testing.AllocsPerRun(5, round) / each
	if n.failed.Load() > 0 {
		t.Errorf("%d messages failed", n.failed.Load())
	}
	return got
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
				var n counter
				p := producerOf(b, s, &n)
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
					until(b, "acknowledgements", func() bool { return n.done.Load() == int64(count) })
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
