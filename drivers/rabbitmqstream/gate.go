package rabbitmqstream

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// gate lets one call of a consumer's deliver run at a time, and none once it is
// shut.
type gate struct {
	handle driver.Deliver
	mu     sync.Mutex
	closed bool // guarded by mu
}

// shut waits for a running call, at most until ctx ends. None follows it.
func (g *gate) shut(ctx context.Context) error {
	if g.mu.TryLock() { // as a rule, and then without a goroutine
		g.closed = true
		g.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.closed = true
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("rabbitmq-stream: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
