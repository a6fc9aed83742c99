package nats_test

import (
	"context"
	"testing"

	client "github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nats"
)

// open opens a session with b; it ends with the test.
func open(t testing.TB, b *broker, batch bool) driver.Session {
	t.Helper()
	return openWith(t, b, batch, nil)
}

func openWith(t testing.TB, b *broker, batch bool, options map[string]any) driver.Session {
	t.Helper()
	s, err := nats.Entry().Driver.Open(context.Background(), driver.Target{URL: b.url.String(), Run: "test", Batch: batch, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// bare connects the client as a plain program would that cares for latency or
// for rate.
func bare(t testing.TB, b *broker, batch bool) *client.Conn {
	t.Helper()
	size := 1
	if batch {
		size = 64 << 10
	}
	nc, err := client.Connect(b.url.String(), client.WriteBufferSize(size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func TestSendDoesNotAllocate(t *testing.T) {
	b := startBroker(t, "")
	for name, test := range map[string]struct {
		batch   bool
		options map[string]any
	}{
		"direct":         {false, nil},
		"library":        {false, map[string]any{"client": "library"}},
		"batch":          {true, nil},
		"library, batch": {true, map[string]any{"client": "library"}},
	} {
		var acks sessiontest.Counter
		p := sessiontest.Produce(t, openWith(t, b, test.batch, test.options), &acks)
		payload := make([]byte, 256)
		if n := testing.AllocsPerRun(1000, func() {
			if err := p.Send(1, payload); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: Send allocates %v times", name, n)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	server := startBroker(b, "")
	payload := make([]byte, 256)
	for name, batch := range map[string]bool{"paced": false, "batch": true} {
		for _, client := range []string{"direct", "library"} {
			b.Run(name+"/"+client, func(b *testing.B) {
				p := sessiontest.Produce(b, openWith(b, server, batch, map[string]any{"client": client}), &sessiontest.Counter{})
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					if err := p.Send(uint64(i), payload); err != nil {
						b.Fatal(err)
					}
				}
				p.(driver.Syncer).Sync(context.Background())
			})
		}
		b.Run(name+"/bare", func(b *testing.B) {
			nc := bare(b, server, batch)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := nc.Publish("s9.test.t0", payload); err != nil {
					b.Fatal(err)
				}
			}
			nc.Flush()
		})
	}
}

// BenchmarkPingPong times one message at a time from Send to Deliver and back
// to the sender by a channel.
func BenchmarkPingPong(b *testing.B) {
	server := startBroker(b, "")
	payload := make([]byte, 1024)
	got := make(chan struct{}, 1)
	for _, client := range []string{"direct", "library"} {
		b.Run(client, func(b *testing.B) {
			s := openWith(b, server, false, map[string]any{"client": client})
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
			c, err := s.Consumer(context.Background(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) { got <- struct{}{} })
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(context.Background())
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
				<-got
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		in, out := bare(b, server, false), bare(b, server, false)
		if _, err := in.Subscribe("s9.test.t0", func(*client.Msg) { got <- struct{}{} }); err != nil {
			b.Fatal(err)
		}
		in.Flush()
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if err := out.Publish("s9.test.t0", payload); err != nil {
				b.Fatal(err)
			}
			<-got
		}
	})
}

// BenchmarkStream times messages from the first Send until the last has been
// delivered.
func BenchmarkStream(b *testing.B) {
	server := startBroker(b, "")
	payload := make([]byte, 256)
	for _, client := range []string{"direct", "library"} {
		b.Run(client, func(b *testing.B) {
			s := openWith(b, server, true, map[string]any{"client": client})
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
			all := make(chan struct{})
			n := 0
			c, err := s.Consumer(context.Background(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {
				if n++; n == b.N {
					close(all)
				}
			})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(context.Background())
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			p.(driver.Syncer).Sync(context.Background())
			<-all
		})
	}
}
