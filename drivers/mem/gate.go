package mem

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate is what everything in the broker passes on its way, and what a frozen
// broker keeps shut. The zero value is open.
type gate struct {
	shut atomic.Pointer[chan struct{}] // nil while open; closed when it opens

	mu      sync.Mutex
	holders int // who keep it shut
}

func (g *gate) freeze() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holders++; g.holders == 1 {
		c := make(chan struct{})
		g.shut.Store(&c)
	}
}

func (g *gate) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holders == 0 {
		panic("mem: Thaw without Freeze")
	}
	if g.holders--; g.holders == 0 {
		close(*g.shut.Swap(nil))
	}
}

// pass returns true when the gate is open, or false if giveUp is closed first.
func (g *gate) pass(giveUp <-chan struct{}) bool {
	for {
		shut := g.shut.Load()
		if shut == nil {
			return true
		}
		select {
		case <-*shut:
		case <-giveUp:
			return false
		}
	}
}

// reach passes the gate as one who wants an answer and has a context.
func (g *gate) reach(ctx context.Context) error {
	if ctx.Err() != nil || !g.pass(ctx.Done()) {
		return context.Cause(ctx)
	}
	return nil
}
