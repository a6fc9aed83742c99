package stan_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// line is a network that can be cut.
type line struct {
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the line is down")
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		l.conns = append(l.conns, c)
	}
	return c, err
}

func (l *line) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
	if down {
		for _, c := range l.conns {
			c.Close()
		}
		l.conns = nil
	}
}

// TestSubscriberGoesOnBehindWhatItSaw sends while a subscriber, who is not
// durable, is cut off.
func TestSubscriberGoesOnBehindWhatItSaw(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	l := &line{}
	lost := make(chan struct{}, 16)
	away, err := stan.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URL, Run: "test", Dial: l.dial, Notify: func(e driver.Event) {
		if e.Kind == driver.Disconnected {
			lost <- struct{}{}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close(context.Background())
	got := make(chan string, 16)
	sessiontest.Consume(t, away, driver.ConsumerSpec{}, func(m driver.Message) { got <- string(m.Payload) })
	var acks sessiontest.Counter
	p := sessiontest.Produce(t, open(t, driver.Target{URL: c.URL}), &acks)
	send := func(token uint64, text string) {
		if err := p.Send(token, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	send(0, "before")
	if text := <-got; text != "before" {
		t.Fatalf("got %q", text)
	}
	l.cut(true)
	<-lost // the consumer's: the session's own connection has no event
	send(1, "meanwhile")
	send(2, "then")
	l.cut(false)
	send(3, "after")
	for _, want := range []string{"meanwhile", "then", "after"} {
		if text := <-got; text != want {
			t.Errorf("got %q instead of %q", text, want)
		}
	}
	acks.Await(t, 4)
}

// TestSilentServerIsLost freezes the server for longer than its client waits for an
// answer to its pings, while the connection stays.
func TestSilentServerIsLost(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	events := make(chan driver.Event, 64)
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"ping_interval": "1s", "max_pings_outstanding": 2, "connect_timeout": "1s"},
		Notify: func(e driver.Event) { events <- e }})
	var got sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
	await := func(kind driver.EventKind) {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case e := <-events:
				if e.Kind == kind {
					return
				}
			case <-limit:
				t.Fatalf("no event %q", kind)
			}
		}
	}
	brokertest.Freeze(t, c)()
	await(driver.Disconnected)
	brokertest.Thaw(t, c)()
	await(driver.Reconnected)
	if err := sessiontest.Produce(t, s, new(sessiontest.Counter)).Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	got.Await(t, 1)
}
