package rabbitmq_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
)

// patience is how long to wait for what must happen; it decides only how long a
// failure takes.
const patience = 30 * time.Second

// broker is a RabbitMQ of the test's own.
type broker struct{ *brokers.Cluster }

// open opens a session in the run "test".
func (b *broker) open(t *testing.T, options map[string]any, notify func(driver.Event)) driver.Session {
	t.Helper()
	s, err := rabbitmq.Entry().Driver.Open(t.Context(), driver.Target{URL: b.URL, Run: "test", Options: with(options), Notify: notify})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// outcomes implements driver.Acks, and counts deliveries as well.
type outcomes struct {
	mu       sync.Mutex
	changed  chan struct{}
	errs     map[uint64]error
	payloads []string
	events   []driver.Event
}

func newOutcomes() *outcomes {
	return &outcomes{changed: make(chan struct{}), errs: map[uint64]error{}}
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

func (o *outcomes) notify(e driver.Event) { o.update(func() { o.events = append(o.events, e) }) }

// until waits for ok, which is called with the lock held.
func (o *outcomes) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		o.mu.Lock()
		reached, changed := ok(), o.changed
		o.mu.Unlock()
		if reached {
			return
		}
		select {
		case <-changed:
		case <-limit:
			o.mu.Lock()
			defer o.mu.Unlock()
			t.Fatalf("%s: done %d, delivered %d, events %v", what, len(o.errs), len(o.payloads), o.events)
		}
	}
}

// send sends n messages, and flushes.
func send(t *testing.T, p driver.Producer, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if err := p.Send(uint64(i), []byte(fmt.Sprintf("message %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if f, ok := p.(driver.Flusher); ok {
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}
