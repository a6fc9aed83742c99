package redis_test

import (
	"context"
	"testing"

	client "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// TestMessagesDoNotAllocate counts allocations of sender, of the reader of
// answers and of the consumer together.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for name, test := range map[string]struct {
		batch   bool
		options map[string]any
	}{
		"paced":          {false, nil},
		"batch":          {true, nil},
		"silent":         {false, map[string]any{"acks": "none"}},
		"silent batches": {true, map[string]any{"acks": "none"}},
	} {
		s := open(t, driver.Target{URL: c.URL, Batch: test.batch, Options: test.options})
		var acks, got sessiontest.Counter
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
		n := sessiontest.Allocations(t, sessiontest.Produce(t, s, &acks), &acks, &got, 100)
		if n > 3 { // of the runtime's own
			t.Errorf("%s: %v allocations for each 100 messages", name, n)
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	c := resptest.Start(b, brokers.Options{})
	payload := make([]byte, 256)
	for name, batch := range map[string]bool{"paced": false, "batch": true} {
		for _, library := range clients() {
			b.Run(name+"/"+library, func(b *testing.B) {
				s := open(b, driver.Target{URL: c.URL, Batch: batch, Options: map[string]any{"client": library}})
				p := sessiontest.Produce(b, s, new(sessiontest.Counter))
				b.ReportAllocs()
				for i := range b.N {
					if err := p.Send(uint64(i), payload); err != nil {
						b.Fatal(err)
					}
				}
				p.(driver.Syncer).Sync(context.Background())
			})
		}
	}
	b.Run("client", func(b *testing.B) { // a plain loop of redigo's
		conn, err := client.DialURL(c.URL)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		b.ReportAllocs()
		for i := range b.N {
			conn.Send("PUBLISH", "c", payload)
			if i%64 == 63 {
				conn.Flush()
				for range 64 {
					conn.Receive()
				}
			}
		}
		conn.Do("PING")
	})
}

func BenchmarkReceive(b *testing.B) {
	c := resptest.Start(b, brokers.Options{})
	payload := make([]byte, 256)
	for _, name := range clients() {
		b.Run(name, func(b *testing.B) {
			s := open(b, driver.Target{URL: c.URL, Batch: true, Options: map[string]any{"client": name}})
			all := make(chan struct{})
			n := 0
			consumer := sessiontest.Consume(b, s, driver.ConsumerSpec{}, func(driver.Message) {
				if n++; n == b.N {
					close(all)
				}
			})
			p := sessiontest.Produce(b, s, new(sessiontest.Counter))
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			p.(driver.Syncer).Sync(context.Background())
			<-all
			b.StopTimer()
			consumer.Close(context.Background())
			p.Close(context.Background())
		})
	}
}
