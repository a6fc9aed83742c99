package drivertest

import (
	"context"
	"fmt"
	"sync"
)

// watch is a lock whose changes can be waited for.
type watch struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil: nobody waits
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

// wait returns when ok, which runs with the lock held, is true, or with an
// error that what describes when ctx ends.
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
