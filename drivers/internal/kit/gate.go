package kit

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// Gate lets one call of a consumer's deliver run at a time, by whichever way its
// messages come, and none once it is shut: who holds its lock, and finds it open, may
// call.
type Gate struct {
	sync.Mutex
	deliver driver.Deliver // nil where something else is called
	shut    bool           // guarded by the lock
}

// NewGate returns an open one.
func NewGate(deliver driver.Deliver) *Gate { return &Gate{deliver: deliver} }

// IsShut reports whether nothing may be called any more. The lock is held.
func (g *Gate) IsShut() bool { return g.shut }

// Deliver hands m over if the gate is open, and reports whether it was.
func (g *Gate) Deliver(m driver.Message) bool {
	g.Lock()
	defer g.Unlock()
	if g.shut {
		return false
	}
	g.deliver(m)
	return true
}

// Shut waits for a running call, at most until ctx ends, with an error of class
// driver.ErrTimeout that does not name the driver. No call follows it.
func (g *Gate) Shut(ctx context.Context) error {
	if g.TryLock() { // as a rule, and then without a goroutine
		g.shut = true
		g.Unlock()
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Lock()
		defer g.Unlock()
		g.shut = true
	}()
	return Wait(ctx, done)
}

// Wait returns when done is closed, which it is when a consumer delivers nothing any
// more. If ctx ends before, the error is of class driver.ErrTimeout and does not name
// the driver.
func Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done: // before ctx is looked at: it may have ended already
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the last delivery: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
