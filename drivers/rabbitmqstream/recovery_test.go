package rabbitmqstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmqstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// patience is how long to wait for what must happen; it decides only how long a
// failure takes.
const patience = 60 * time.Second

// outcomes implements driver.Acks, and counts deliveries and events as well.
type outcomes struct {
	mu       sync.Mutex
	changed  chan struct{}
	sent     int
	errs     map[uint64]error
	payloads []string
	events   map[driver.EventKind]int
}

func newOutcomes() *outcomes {
	return &outcomes{changed: make(chan struct{}), errs: map[uint64]error{}, events: map[driver.EventKind]int{}}
}

func (o *outcomes) update(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *outcomes) Done(token uint64, err error) { o.update(func() { o.errs[token] = err }) }

func (o *outcomes) deliver(m driver.Message) {
	o.update(func() { o.payloads = append(o.payloads, string(m.Payload)) })
}

func (o *outcomes) notify(e driver.Event) { o.update(func() { o.events[e.Kind]++ }) }

// until waits for ok, which is called with the lock held, and calls meanwhile in
// between.
func (o *outcomes) until(t *testing.T, what string, ok func() bool, meanwhile func()) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		o.mu.Lock()
		reached, changed := ok(), o.changed
		o.mu.Unlock()
		if reached {
			return
		}
		select {
		case <-changed:
		case <-tick.C:
			meanwhile()
		case <-limit:
			o.mu.Lock()
			defer o.mu.Unlock()
			t.Fatalf("%s: sent %d, done %d, delivered %d, events %v", what, o.sent, len(o.errs), len(o.payloads), o.events)
		}
	}
}

func nothing() {}

// TestRecovery kills the broker under a producer and a consumer, which come back
// by themselves. What was confirmed arrives once.
func TestRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("another broker takes a while")
	}
	c := brokertest.Start(t, "rabbitmq", brokers.Options{User: user, Password: password})
	o := newOutcomes()
	s, err := rabbitmqstream.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URLFor("rabbitmq-stream"), Run: "test", Options: with(nil), Notify: o.notify})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
		t.Fatal(err)
	}
	if found, err := leftovers(t, c, "test"); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", found, err)
	}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, o.deliver); err != nil {
		t.Fatal(err)
	}
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	send := func() {
		token := uint64(o.sent)
		switch err := p.Send(token, fmt.Appendf(nil, "message %d", token)); {
		case err == nil:
			o.sent++
		case !errors.Is(err, driver.ErrNotConnected):
			t.Errorf("send: %v", err)
		}
	}
	for range 100 {
		send()
	}
	o.until(t, "before the restart", func() bool { return len(o.payloads) == 100 && len(o.errs) == 100 }, nothing)
	restart(t, c)()
	o.until(t, "after the restart", func() bool {
		return o.events[driver.Disconnected] >= 2 && o.events[driver.Reconnected] >= 2 && len(o.payloads) >= 200
	}, send)
	o.until(t, "at the end", func() bool { return len(o.errs) == o.sent }, nothing)
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	seen := map[string]int{}
	o.until(t, "what was confirmed", func() bool {
		clear(seen)
		for _, payload := range o.payloads {
			seen[payload]++
		}
		for token, err := range o.errs {
			if err == nil && seen[fmt.Sprintf("message %d", token)] == 0 {
				return false
			}
		}
		return true
	}, nothing)
	for payload, n := range seen {
		if n > 1 {
			t.Errorf("%q was delivered %d times", payload, n)
		}
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	if found, err := leftovers(t, c, "test"); err != nil || len(found) != 0 {
		t.Errorf("after Deprovision found %q, %v", found, err)
	}
}

// restart kills the broker, but not before it has written down that it has a
// coordinator of streams: it does so half a second after it has made one, and
// when it is killed before, no stream ever comes back.
func restart(t *testing.T, c *brokers.Cluster) func() {
	return func() {
		t.Helper()
		limit := time.After(30 * time.Second) // only how long a failure takes
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for {
			files, err := filepath.Glob(filepath.Join(c.Dir, "*", "data", "*", "coordination", "*", "names.dets"))
			if err != nil || len(files) == 0 {
				t.Fatalf("the broker's register of coordinators is not where it was: %v", err)
			}
			if text, err := os.ReadFile(files[0]); err != nil {
				t.Fatal(err)
			} else if bytes.Contains(text, []byte("rabbit_stream_coordinator")) {
				break
			}
			select {
			case <-look.C:
			case <-limit:
				t.Fatal("the broker does not write down that it has a coordinator of streams")
			}
		}
		brokertest.Restart(t, c)()
	}
}
