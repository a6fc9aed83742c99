package drivertest

import (
	"context"
	"fmt"
	"sync"
)

// watch is a lock with a condition: goroutines can wait for changes made under it.
type watch struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil: no goroutine waits
}

// update runs f with the lock held and wakes those who wait.
func (w *watch) update(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// wait returns nil when ok, which it calls with the lock held, returns true. When ctx ends
// it returns an error described by what.
func (w *watch) wait(ctx context.Context, ok func() bool, what func() string) error {
	for {
		w.mu.Lock()
		if ok() {
			w.mu.Unlock()
			return nil
		}
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			w.mu.Lock()
			defer w.mu.Unlock()
			if ok() {
				return nil
			}
			return fmt.Errorf("waited in vain: %s", what())
		}
	}
}
