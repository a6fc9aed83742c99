package mqtt_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// A message allocates nothing, neither when it is sent nor when it is
// acknowledged or delivered.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := mosquitto(t, brokers.Options{})
	for _, version := range []string{"5", "3.1.1"} {
		for qos := range 3 {
			for _, batch := range []bool{false, true} {
				var acks, got sessiontest.Counter
				s := open(t, driver.Target{URL: c.URL, Batch: batch, Options: map[string]any{"version": version, "qos": qos}})
				sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
				// Timers and the poller may allocate now and then.
				if n := sessiontest.Allocations(t, sessiontest.Produce(t, s, &acks), &acks, &got, 100); n > 10 {
					t.Errorf("version %s, quality %d, batch %v: 100 messages allocate %v times", version, qos, batch, n)
				}
				if failed := acks.Failed(); failed != nil {
					t.Error(failed)
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
				var acks sessiontest.Counter
				p := sessiontest.Produce(b, s, &acks)
				b.ReportAllocs()
				b.ResetTimer()
				start := cpu(b)
				for range b.N {
					if err := p.Send(1, payload); err != nil {
						b.Fatal(err)
					}
				}
				acks.Await(b, b.N)
				b.ReportMetric(float64(cpu(b)-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
