package mqtt_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// counter counts what it is told of.
type counter struct {
	done, failed, got atomic.Int64
}

func (c *counter) Done(_ uint64, err error) {
	if err != nil {
		c.failed.Add(1)
	}
	c.done.Add(1)
}

func (c *counter) deliver(driver.Message) { c.got.Add(1) }

// until waits for the condition without a clock.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// A message allocates nothing, neither when it is sent nor when it is
// acknowledged or delivered.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := mosquitto(t, brokers.Options{})
	for _, version := range []string{"5", "3.1.1"} {
		for qos := range 3 {
			for _, batch := range []bool{false, true} {
				var n counter
				s := open(t, driver.Target{URL: c.URL, Batch: batch, Options: map[string]any{"version": version, "qos": qos}})
				consumerOf(t, s, driver.ConsumerSpec{}, n.deliver)
				p := producerOf(t, s, &n)
				payload := make([]byte, 256)
				sent := int64(0)
				round := func() {
					const many = 100
					for range many {
						if err := p.Send(1, payload); err != nil {
							t.Fatal(err)
						}
					}
					if f, ok := p.(driver.Flusher); ok {
						if err := f.Flush(); err != nil {
							t.Fatal(err)
						}
					}
					sent += many
					until(t, "all is done and delivered", func() bool { return n.done.Load() == sent && n.got.Load() == sent })
				}
				round() // what grows has grown
				// Timers and the poller may allocate now and then.
				if allocs := testing.AllocsPerRun(20, round); allocs > 10 {
					t.Errorf("version %s, quality %d, batch %v: 100 messages allocate %v times", version, qos, batch, allocs)
				}
				if n.failed.Load() > 0 {
					t.Errorf("%d messages failed", n.failed.Load())
				}
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// cpu returns the processor time of the process, user's and system's.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPublish sends messages of quality 1, of which 16 are in flight, to a
// topic without subscribers, by each client.
func BenchmarkPublish(b *testing.B) {
	c := mosquitto(b, brokers.Options{})
	payload := make([]byte, 256)
	const inflight = 16
	for _, client := range []string{"direct", "library"} {
		for _, version := range []string{"5", "3.1.1"} {
			b.Run(fmt.Sprintf("%s %s", client, version), func(b *testing.B) {
				s := open(b, driver.Target{URL: c.URL, Options: map[string]any{"client": client, "version": version, "max_inflight": inflight}})
				var n counter
				p := producerOf(b, s, &n)
				b.ReportAllocs()
				b.ResetTimer()
				start := cpu(b)
				for range b.N {
					if err := p.Send(1, payload); err != nil {
						b.Fatal(err)
					}
				}
				until(b, "all is done", func() bool { return n.done.Load() == int64(b.N) })
				b.ReportMetric(float64(cpu(b)-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
