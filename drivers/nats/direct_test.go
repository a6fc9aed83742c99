package nats_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nats"
)

// under reports whether a method of a type with that name is on the caller's
// stack. The client's is Conn, the driver has none such.
func under(name string) bool {
	text := make([]byte, 16<<10)
	return strings.Contains(string(text[:runtime.Stack(text, false)]), "(*"+name+")")
}

// observer tells who wrote to the connections that it makes, and who delivered.
type observer struct {
	wrote, delivered   atomic.Int64 // messages, not batches, of which the driver wrote or delivered
	byClient, toClient atomic.Int64 // and those of which the client did
}

func (w *observer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &observed{c, w}, err
}

type observed struct {
	net.Conn
	observer *observer
}

func (c *observed) Write(p []byte) (int, error) {
	if n := int64(strings.Count(string(p), "PUB ")); !under("Conn") {
		c.observer.wrote.Add(n)
	} else {
		c.observer.byClient.Add(n)
	}
	return c.Conn.Write(p)
}

func (w *observer) deliver(driver.Message) {
	if under("frameReader") {
		w.delivered.Add(1)
	} else {
		w.toClient.Add(1)
	}
}

// TestWhoCarries wants messages to go past the client where they are said to,
// and again after the broker was killed.
func TestWhoCarries(t *testing.T) {
	b := startBroker(t, "")
	for _, test := range []struct {
		name         string
		batch, slow  bool
		client       string
		past, handed bool
	}{
		{"paced", false, false, "direct", true, true},
		{"batch", true, false, "direct", true, true},
		{"slow consumer", false, true, "direct", true, false},
		{"library", false, false, "library", false, false},
		{"library, batch", true, false, "library", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w observer
			s, err := nats.Entry().Driver.Open(t.Context(), driver.Target{URL: b.url.String(), Run: "test", Batch: test.batch, Dial: w.dial,
				Options: map[string]any{"client": test.client}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(context.Background())
			semantics, err := s.Provision(t.Context(), driver.Topology{Slow: test.slow})
			if err != nil {
				t.Fatal(err)
			}
			client := semantics.Client.String()
			if strings.HasPrefix(client, "direct") != test.past || strings.Contains(semantics.Consumption, "reads") != test.handed {
				t.Errorf("semantics say %q and %q", client, semantics.Consumption)
			}
			c, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Slow: test.slow}, w.deliver)
			if err != nil {
				t.Fatal(err)
			}
			p := sessiontest.Produce(t, s, &sessiontest.Counter{})
			const n = 50
			send := func() (refused int) {
				for i := range n {
					if p.Send(uint64(i), []byte("hello")) != nil {
						refused++
					}
				}
				if f, ok := p.(driver.Flusher); ok {
					f.Flush()
				}
				return refused
			}
			if refused := send(); refused > 0 {
				t.Fatalf("%d sends failed", refused)
			}
			sessiontest.Until(t, "the first messages", func() bool { return w.delivered.Load()+w.toClient.Load() == n })
			if (w.wrote.Load() == n) != test.past || (w.delivered.Load() == n) != test.handed {
				t.Errorf("before the restart: %d written, %d handed over", w.wrote.Load(), w.delivered.Load())
			}
			b.restart()
			sessiontest.Until(t, "messages by the same way after the restart", func() bool {
				wrote, delivered := w.wrote.Load(), w.delivered.Load()
				byClient, toClient := w.byClient.Load(), w.toClient.Load()
				if send() > 0 || p.(driver.Syncer).Sync(t.Context()) != nil {
					return false
				}
				sent, got := w.wrote.Load()-wrote, w.delivered.Load()-delivered
				if !test.past {
					sent = w.byClient.Load() - byClient
				}
				if !test.handed {
					got = w.toClient.Load() - toClient
				}
				return sent >= n && got > 0
			})
			if test.handed && w.toClient.Load() > 0 {
				t.Errorf("the client delivered %d messages", w.toClient.Load())
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCloseWaitsForDeliver closes a consumer whose Deliver is busy.
func TestCloseWaitsForDeliver(t *testing.T) {
	b := startBroker(t, "")
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			s := openWith(t, b, false, map[string]any{"client": client})
			busy, leave := make(chan struct{}), make(chan struct{})
			once := sync.OnceFunc(func() { close(busy) })
			var running, after atomic.Bool
			c, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {
				running.Store(true)
				once()
				<-leave
				if after.Load() {
					t.Error("Deliver runs after Close")
				}
				running.Store(false)
			})
			if err != nil {
				t.Fatal(err)
			}
			p := sessiontest.Produce(t, s, &sessiontest.Counter{})
			for range 10 {
				if err := p.Send(1, []byte("hello")); err != nil {
					t.Fatal(err)
				}
			}
			<-busy
			short, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.Close(short); err == nil {
				t.Error("Close does not say that Deliver still runs")
			}
			closed := make(chan error)
			go func() {
				err := c.Close(t.Context())
				if running.Load() {
					t.Error("Close returns while Deliver runs")
				}
				after.Store(true)
				closed <- err
			}()
			close(leave)
			if err := <-closed; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManyConsumersOfAConnection gives each of them its own messages: the
// numbers of subscriptions must be counted right, also after some have gone.
func TestManyConsumersOfAConnection(t *testing.T) {
	b := startBroker(t, "")
	s := open(t, b, false)
	var seen [6]sessiontest.Counter
	spec := driver.ConsumerSpec{Topics: []string{"t0", "t1"}}
	for i := range seen {
		c, err := s.Consumer(t.Context(), spec, seen[i].Deliver)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := sessiontest.Produce(t, s, &sessiontest.Counter{})
	for range 100 {
		if err := p.Send(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range seen {
		want := 100
		if i%2 == 1 {
			want = 0
		}
		sessiontest.Until(t, "all messages", func() bool { return seen[i].Count() >= want })
		if got := seen[i].Count(); got != want {
			t.Errorf("consumer %d got %d messages, want %d", i, got, want)
		}
	}
}

// TestCloseOfStuckBatch closes a session whose broker does not read, with a
// batch that cannot be written and a sender that waits for it.
func TestCloseOfStuckBatch(t *testing.T) {
	b := startBroker(t, "")
	s := open(t, b, true)
	p := sessiontest.Produce(t, s, &sessiontest.Counter{})
	b.freeze()
	defer b.thaw()
	var sent atomic.Int64
	ended := make(chan error, 1)
	go func() {
		payload := make([]byte, 32<<10)
		for {
			if err := p.Send(1, payload); err != nil {
				ended <- err
				return
			}
			sent.Add(1)
		}
	}()
	// The kernel takes some of it; stuck is what does not go on for a while.
	for last := int64(-1); last != sent.Load(); {
		last = sent.Load()
		pause := time.NewTimer(200 * time.Millisecond)
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-pause.C:
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	s.Close(ctx)
	if err := <-ended; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Send ends with %v", err)
	}
	if err := p.(driver.Flusher).Flush(); err != nil && driver.Class(err) == nil {
		t.Errorf("Flush after Close: %v", err)
	}
}

// TestLargeMessages sends what no buffer holds at first, in both directions and
// among small messages.
func TestLargeMessages(t *testing.T) {
	b := startBroker(t, "max_payload: 8000000\nmax_pending: 100000000")
	for _, batch := range []bool{false, true} {
		s := openWith(t, b, batch, nil)
		sizes := []int{1, 100_000, 3, 8_000_000, 0, 65_536, 65_500, 2_000_000, 5}
		got := make(chan int, len(sizes))
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) {
			for i, c := range m.Payload {
				if c != byte(i%251) {
					t.Errorf("byte %d of %d is %d", i, len(m.Payload), c)
					break
				}
			}
			got <- len(m.Payload)
		}); err != nil {
			t.Fatal(err)
		}
		p := sessiontest.Produce(t, s, &sessiontest.Counter{})
		for _, size := range sizes {
			payload := make([]byte, size)
			for i := range payload {
				payload[i] = byte(i % 251)
			}
			if err := p.Send(1, payload); err != nil {
				t.Fatal(err)
			}
		}
		for _, size := range sizes { // without a flush
			if n := <-got; n != size {
				t.Fatalf("got %d bytes, want %d", n, size)
			}
		}
	}
}
