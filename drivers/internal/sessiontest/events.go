package sessiontest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
)

// Events collects what a session reports, by its Notify. It is safe for
// concurrent use. The zero value has none.
type Events struct {
	mu  sync.Mutex
	all []driver.Event
}

// Notify is for driver.Target.
func (e *Events) Notify(ev driver.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// All returns all events so far.
func (e *Events) All() []driver.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

// Count returns how many events of the kind there are, and how many messages
// they count.
func (e *Events) Count(kind driver.EventKind) (events, messages int) {
	for _, ev := range e.All() {
		if ev.Kind == kind {
			events++
			messages += ev.Count
		}
	}
	return events, messages
}

// Await waits for n events of the kind.
func (e *Events) Await(t testing.TB, kind driver.EventKind, n int) {
	t.Helper()
	for limit := time.Now().Add(Patience); ; time.Sleep(time.Millisecond) {
		if got, _ := e.Count(kind); got >= n {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("no %d events %q among %v", n, kind, e.All())
		}
	}
}
