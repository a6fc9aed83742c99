package rabbit

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// Gate lets one call of a consumer's deliver run at a time, and none once it is
// shut: who holds its lock, and finds it open, may call.
type Gate struct {
	sync.Mutex
	Handle driver.Deliver // nil where something else is called

	protocol *Protocol
	shut     bool // guarded by the lock
}

// NewGate returns an open one.
func NewGate(p *Protocol, handle driver.Deliver) *Gate { return &Gate{Handle: handle, protocol: p} }

// IsShut reports whether nothing may be called any more. The lock is held.
func (g *Gate) IsShut() bool { return g.shut }

// Deliver calls Handle, if the gate is open.
func (g *Gate) Deliver(m driver.Message) {
	g.Lock()
	defer g.Unlock()
	if !g.shut {
		g.Handle(m)
	}
}

// Shut waits for a running call, at most until ctx ends. None follows it.
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
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: close a consumer: %w: %w", g.protocol.Driver, driver.ErrTimeout, context.Cause(ctx))
	}
}
