// Package rabbittest keeps what becomes of messages in tests of RabbitMQ's
// drivers, one by one, and waits for it.
package rabbittest

import (
	"sync"
	"testing"
	"time"

	"sixnines/driver"
)

// patience is how long to wait for what must happen; it decides only how long a
// failure takes.
const patience = 60 * time.Second

// Outcomes implements driver.Acks, and keeps deliveries and events as well. The
// fields are read in a condition of Until, or when nothing more is to come.
type Outcomes struct {
	Errs     map[uint64]error // by token
	Payloads []string         // that were delivered
	Events   []driver.Event

	mu      sync.Mutex
	changed chan struct{}
}

// NewOutcomes returns outcomes of nothing.
func NewOutcomes() *Outcomes {
	return &Outcomes{Errs: map[uint64]error{}, changed: make(chan struct{})}
}

func (o *Outcomes) update(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
	close(o.changed)
	o.changed = make(chan struct{})
}

// Done implements driver.Acks.
func (o *Outcomes) Done(token uint64, err error) { o.update(func() { o.Errs[token] = err }) }

// Deliver is a driver.Deliver.
func (o *Outcomes) Deliver(m driver.Message) {
	o.update(func() { o.Payloads = append(o.Payloads, string(m.Payload)) })
}

// Notify is for driver.Target.
func (o *Outcomes) Notify(e driver.Event) { o.update(func() { o.Events = append(o.Events, e) }) }

// Told returns how many events of the kind there are. It is for conditions.
func (o *Outcomes) Told(kind driver.EventKind) (n int) {
	for _, e := range o.Events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// Until waits for a condition, which is asked while nothing changes, and calls
// meanwhile in between, if that is not nil.
func (o *Outcomes) Until(t testing.TB, what string, ok func() bool, meanwhile func()) {
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
			if meanwhile != nil {
				meanwhile()
			}
		case <-limit:
			o.mu.Lock()
			defer o.mu.Unlock()
			t.Fatalf("%s: done %d, delivered %d, events %v", what, len(o.Errs), len(o.Payloads), o.Events)
		}
	}
}
