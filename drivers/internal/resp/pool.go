package resp

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// Shared is what a Pool holds.
type Shared interface {
	comparable
	// Close ends it by ctx's deadline.
	Close(ctx context.Context) error
}

// Pool holds connections that are shared by those who ask for the same key, as
// long as somebody uses them. It is safe for concurrent use.
type Pool[L Shared] struct {
	driver string          // for the beginning of errors
	life   context.Context // ends with the pool
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	places map[int]*place[L]
}

// place is that of a connection which may still be made.
type place[L Shared] struct {
	ready chan struct{} // closed when link or err is set
	link  L
	err   error
	users int // guarded by the pool's mu
}

// NewPool returns an empty pool for the driver.
func NewPool[L Shared](driver string) *Pool[L] {
	p := &Pool[L]{driver: driver, places: map[int]*place[L]{}}
	p.life, p.cancel = context.WithCancel(context.Background())
	return p
}

func (p *Pool[L]) errClosed() error {
	return fmt.Errorf("%s: connect: session %w", p.driver, driver.ErrClosed)
}

// Acquire returns what is called key, making it for its first user. Each
// Acquire without an error wants a Release.
func (p *Pool[L]) Acquire(ctx context.Context, key int, connect func(context.Context) (L, error)) (L, error) {
	var none L
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return none, p.errClosed()
	}
	pl, shared := p.places[key]
	if !shared {
		pl = &place[L]{ready: make(chan struct{})}
		p.places[key] = pl
	}
	pl.users++
	p.mu.Unlock()
	if shared {
		select {
		case <-pl.ready:
			return pl.link, pl.err // the place of one that failed is gone
		case <-ctx.Done():
			p.leave(ctx, key, pl)
			return none, fmt.Errorf("%s: connect: %w: %w", p.driver, driver.ErrNotConnected, context.Cause(ctx))
		}
	}
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.life, cancel)
	l, err := connect(both)
	stop()
	cancel()
	p.mu.Lock()
	late := err == nil && p.closed
	if p.closed {
		err = p.errClosed()
	}
	if err != nil {
		pl.err = err
		if p.places[key] == pl {
			delete(p.places, key)
		}
	} else {
		pl.link = l
	}
	close(pl.ready)
	p.mu.Unlock()
	if late {
		l.Close(ctx)
	}
	return pl.link, pl.err
}

// Release gives l back, and closes it after its last user.
func (p *Pool[L]) Release(ctx context.Context, key int, l L) error {
	p.mu.Lock()
	pl := p.places[key]
	p.mu.Unlock()
	if pl == nil || pl.link != l { // the session has closed it
		return nil
	}
	return p.leave(ctx, key, pl)
}

func (p *Pool[L]) leave(ctx context.Context, key int, pl *place[L]) error {
	p.mu.Lock()
	if p.places[key] != pl {
		p.mu.Unlock()
		return nil
	}
	pl.users--
	last := pl.users == 0
	if last {
		delete(p.places, key)
	}
	p.mu.Unlock()
	var none L
	if last && pl.link != none {
		return pl.link.Close(ctx)
	}
	return nil
}

// Close closes all that the pool holds, and lets it hold nothing more.
func (p *Pool[L]) Close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	places := p.places
	p.places = map[int]*place[L]{}
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, pl := range places {
		closing.Go(func() {
			select {
			case <-pl.ready: // Acquire closes what comes too late
				var none L
				if pl.link != none {
					pl.link.Close(ctx)
				}
			case <-ctx.Done():
			}
		})
	}
	closing.Wait()
}
