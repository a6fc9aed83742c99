//go:build zeromq && cgo && !windows

package zeromq_test

import (
	"testing"

	client "github.com/pebbe/zmq4"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/zeromq"
)

func TestSendDoesNotAllocate(t *testing.T) {
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		s := sessiontest.Open(t, e.Driver, driver.Target{})
		var got, done sessiontest.Counter
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
		p := sessiontest.Produce(t, s, &done)
		payload := make([]byte, 256)
		if n := testing.AllocsPerRun(1000, func() {
			if err := p.Send(1, payload); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: Send and what comes of it allocate %v times", e.Name, n)
		}
		got.Await(t, done.Count())
	}
}

// BenchmarkStream times messages from the first Send until the last has been
// delivered.
func BenchmarkStream(b *testing.B) {
	payload := make([]byte, 256)
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		b.Run(e.Name, func(b *testing.B) {
			s := sessiontest.Open(b, e.Driver, driver.Target{Batch: true})
			var got sessiontest.Counter
			sessiontest.Consume(b, s, driver.ConsumerSpec{}, got.Deliver)
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			got.Await(b, b.N)
		})
	}
	b.Run("bare", func(b *testing.B) {
		in, out := bare(b)
		done := make(chan struct{})
		b.ReportAllocs()
		b.ResetTimer()
		go func() {
			defer close(done)
			for range b.N {
				if _, err := in.RecvBytes(0); err != nil {
					b.Error(err)
					return
				}
			}
		}()
		for range b.N {
			if _, err := out.SendBytes(payload, 0); err != nil {
				b.Fatal(err)
			}
		}
		<-done
	})
}

// BenchmarkPingPong times one message at a time from Send to Deliver and back to
// the sender by a channel.
func BenchmarkPingPong(b *testing.B) {
	payload := make([]byte, 256)
	got := make(chan struct{}, 1)
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		b.Run(e.Name, func(b *testing.B) {
			s := sessiontest.Open(b, e.Driver, driver.Target{})
			sessiontest.Consume(b, s, driver.ConsumerSpec{}, func(driver.Message) { got <- struct{}{} })
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
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
		in, out := bare(b)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range b.N {
				if _, err := in.RecvBytes(0); err != nil {
					b.Error(err)
					return
				}
				got <- struct{}{}
			}
		}()
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := out.SendBytes(payload, 0); err != nil {
				b.Fatal(err)
			}
			<-got
		}
		<-done
	})
}

// bare connects the usual binding of libzmq as a plain program would: PULL and
// PUSH, each in a goroutine that waits inside the library.
func bare(b *testing.B) (in, out *client.Socket) {
	b.Helper()
	c, err := client.NewContext()
	if err != nil {
		b.Fatal(err)
	}
	socket := func(kind client.Type) *client.Socket {
		s, err := c.NewSocket(kind)
		if err == nil {
			err = s.SetLinger(0)
		}
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	in, out = socket(client.PULL), socket(client.PUSH)
	b.Cleanup(func() {
		in.Close()
		out.Close()
		c.Term()
	})
	if err := out.Bind("tcp://127.0.0.1:*"); err != nil {
		b.Fatal(err)
	}
	at, err := out.GetLastEndpoint()
	if err == nil {
		err = in.Connect(at)
	}
	if err != nil {
		b.Fatal(err)
	}
	return in, out
}
