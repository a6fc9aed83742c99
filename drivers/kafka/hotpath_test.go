package kafka_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// window lets a sender be so many messages ahead of their acknowledgements, as
// the engine's limit of messages in flight does.
type window struct {
	sessiontest.Counter
	free chan struct{}
}

func newWindow(n int) *window {
	w := &window{free: make(chan struct{}, n)}
	for range n {
		w.free <- struct{}{}
	}
	return w
}

func (w *window) Done(token uint64, err error) {
	w.Counter.Done(token, err)
	w.free <- struct{}{}
}

// open opens a session with one topic, which ends with the test.
func open(t testing.TB, address string, batch bool, options map[string]any) driver.Session {
	t.Helper()
	s, err := kafka.Entry().Driver.Open(context.Background(), driver.Target{URL: address, Run: "test", Batch: batch, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Deprovision(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close(context.Background())
	})
	if _, err := s.Provision(context.Background(), driver.Topology{Topics: []string{"t0"}, MaxSize: 1 << 10}); err != nil {
		t.Fatal(err)
	}
	return s
}

// keyedProducer sends every message with the same key.
type keyedProducer struct {
	driver.Producer
	driver.Syncer
	keys driver.KeySender
	key  []byte
}

func (k keyedProducer) Send(token uint64, payload []byte) error {
	return k.keys.SendKeyed(token, payload, k.key)
}

func keyed(t testing.TB, s driver.Session, spec driver.ProducerSpec, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(context.Background(), spec, acks)
	if err != nil {
		t.Fatal(err)
	}
	return keyedProducer{p, p.(driver.Syncer), p.(driver.KeySender), make([]byte, spec.KeySize)}
}

const ahead = 20000

// sendMany sends n messages and waits for their acknowledgements.
func sendMany(t testing.TB, p driver.Producer, w *window, n int) {
	t.Helper()
	payload := make([]byte, 256)
	for i := range n {
		<-w.free
		if err := p.Send(uint64(i), payload); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.(driver.Syncer).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Failed()...); err != nil {
		t.Fatal(err)
	}
}

// testSendDoesNotAllocate: the client allocates for each request, and neither
// it nor the driver for each message.
func testSendDoesNotAllocate(t *testing.T, address string) {
	for _, key := range []string{"none", "unique", "zipf", "workload"} {
		w := newWindow(1000)
		var p driver.Producer
		if key == "workload" {
			p = keyed(t, open(t, address, true, nil), driver.ProducerSpec{Topic: "t0", KeySize: 16, Headers: []driver.Header{{Name: "a", Value: "b"}}}, w)
		} else {
			p = sessiontest.Produce(t, open(t, address, true, map[string]any{"key": key}), w)
		}
		const n = 20000
		sendMany(t, p, w, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sendMany(t, p, w, n)
		runtime.ReadMemStats(&after)
		if each := float64(after.Mallocs-before.Mallocs) / n; each > 0.5 {
			t.Errorf("with key %s: %.2f allocations for each message", key, each)
		}
	}
}

// BenchmarkSend sends 1 KiB messages flat out, through the driver and through
// the client alone. Look at the processor's time, not at the rate.
func BenchmarkSend(b *testing.B) {
	address := brokertest.Start(b, "kafka", brokers.Options{}).URL
	payload := make([]byte, 1024)
	for _, acks := range []string{"1", "all"} {
		b.Run("driver/acks="+acks, func(b *testing.B) {
			w := newWindow(ahead)
			p := sessiontest.Produce(b, open(b, address, true, map[string]any{"acks": acks}), w)
			b.ReportAllocs()
			cpu := processor(b)
			b.ResetTimer()
			for i := range b.N {
				<-w.free
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			if err := p.(driver.Syncer).Sync(context.Background()); err != nil {
				b.Fatal(err)
			}
			cpu()
		})
	}
	b.Run("client/acks=1", func(b *testing.B) {
		open(b, address, true, map[string]any{"acks": "1"})
		client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()),
			kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxProduceRequestsInflightPerBroker(5), kgo.MaxBufferedRecords(ahead))
		if err != nil {
			b.Fatal(err)
		}
		defer client.Close()
		b.ReportAllocs()
		cpu := processor(b)
		b.ResetTimer()
		for range b.N {
			client.Produce(context.Background(), &kgo.Record{Topic: "s9.test.t0", Value: payload}, nil)
		}
		if err := client.Flush(context.Background()); err != nil {
			b.Fatal(err)
		}
		cpu()
	})
}

// BenchmarkStream delivers 1 KiB messages that are there already.
func BenchmarkStream(b *testing.B) {
	address := brokertest.Start(b, "kafka", brokers.Options{}).URL
	payload := make([]byte, 1024)
	s := open(b, address, true, map[string]any{"acks": "1"})
	all, got := make(chan struct{}), 0
	w := newWindow(ahead)
	p := sessiontest.Produce(b, s, w)
	consumer, err := s.Consumer(context.Background(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {
		if got++; got == b.N {
			close(all)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	defer consumer.Close(context.Background())
	b.ReportAllocs()
	cpu := processor(b)
	b.ResetTimer()
	for i := range b.N {
		<-w.free
		if err := p.Send(uint64(i), payload); err != nil {
			b.Fatal(err)
		}
	}
	<-all
	cpu()
}
