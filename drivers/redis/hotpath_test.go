package redis_test

import (
	"context"
	"sync/atomic"
	"testing"

	client "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// tally counts without a lock, and tells when it has come to its goal.
type tally struct {
	n, goal atomic.Int64
	reached chan struct{}
}

func newTally() *tally { return &tally{reached: make(chan struct{}, 1)} }

func (a *tally) Done(uint64, error)     { a.add() }
func (a *tally) deliver(driver.Message) { a.add() }

func (a *tally) add() {
	if a.n.Add(1) == a.goal.Load() {
		a.reached <- struct{}{}
	}
}

// TestMessagesDoNotAllocate counts allocations of sender, of the reader of
// answers and of the consumer together.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := start(t, brokers.Options{})
	for name, test := range map[string]struct {
		batch   bool
		options map[string]any
	}{
		"paced":          {false, nil},
		"batch":          {true, nil},
		"silent":         {false, map[string]any{"acks": "none"}},
		"silent batches": {true, map[string]any{"acks": "none"}},
	} {
		s := openTarget(t, driver.Target{URL: c.URL, Batch: test.batch, Options: test.options})
		acks, got := newTally(), newTally()
		consumerOf(t, s, got.deliver)
		p := producerOf(t, s, acks)
		payload := make([]byte, 256)
		round := func() {
			acks.goal.Add(100)
			got.goal.Add(100)
			for range 100 {
				if err := p.Send(1, payload); err != nil {
					t.Fatal(err)
				}
			}
			if f, ok := p.(driver.Flusher); ok {
				if err := f.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			<-acks.reached
			<-got.reached
		}
		for range 30 { // until buffers have grown
			round()
		}
		if n := testing.AllocsPerRun(50, round); n > 3 { // of the runtime's own
			t.Errorf("%s: %v allocations for each 100 messages", name, n)
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	c := brokertest.Start(b, "redis", brokers.Options{})
	payload := make([]byte, 256)
	for name, batch := range map[string]bool{"paced": false, "batch": true} {
		b.Run(name, func(b *testing.B) {
			s := openTarget(b, driver.Target{URL: c.URL, Batch: batch})
			p := producerOf(b, s, newTally())
			b.ReportAllocs()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			p.(driver.Syncer).Sync(context.Background())
		})
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
	c := brokertest.Start(b, "redis", brokers.Options{})
	payload := make([]byte, 256)
	for _, receive := range []string{"direct", "client"} {
		b.Run(receive, func(b *testing.B) {
			s := openTarget(b, driver.Target{URL: c.URL, Batch: true, Options: map[string]any{"receive": receive}})
			all := make(chan struct{})
			n := 0
			consumer := consumerOf(b, s, func(driver.Message) {
				if n++; n == b.N {
					close(all)
				}
			})
			p := producerOf(b, s, newTally())
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
