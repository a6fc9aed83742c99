package kit

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// Pool holds the links of one session by their keys. A link connects for its
// first user and is closed after its last. Methods are safe for concurrent use,
// and none holds a lock while it connects or closes.
type Pool[K, L comparable] struct {
	product string // begins every error
	connect func(context.Context, K) (L, error)
	close   func(context.Context, L)

	mu     sync.Mutex
	closed bool
	slots  map[K]*slot[L]
}

// slot is the place of a link that may still be connecting.
type slot[L comparable] struct {
	ready chan struct{} // closed when link or err is set
	link  L
	err   error
	users int // guarded by the pool's mu
}

// NewPool returns an empty pool. connect makes a link and leaves nothing behind
// if it fails. It must end soon after its context, and after the session has
// begun to close, for Close waits for it. close ends a link by the deadline of
// its context, and is called once for each. Errors of the pool's own begin with
// the product's name.
func NewPool[K, L comparable](product string, connect func(context.Context, K) (L, error), close func(context.Context, L)) *Pool[K, L] {
	return &Pool[K, L]{product: product, connect: connect, close: close, slots: map[K]*slot[L]{}}
}

// Acquire returns the link called key, connecting it if nobody has it. Who comes
// while it is being connected waits for that until ctx ends, with an error of
// class driver.ErrNotConnected, and shares its result: an error is everybody's,
// and whoever comes after it connects anew. Once Close has begun the error is of
// class driver.ErrClosed. Each link that was acquired is to be released once.
func (p *Pool[K, L]) Acquire(ctx context.Context, key K) (L, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		var none L
		return none, p.over()
	}
	s, shared := p.slots[key]
	if !shared {
		s = &slot[L]{ready: make(chan struct{})}
		p.slots[key] = s
	}
	s.users++
	p.mu.Unlock()
	if !shared {
		p.fill(ctx, key, s)
		return s.link, s.err
	}
	select {
	case <-s.ready:
		return s.link, s.err
	case <-ctx.Done():
		p.leave(ctx, key, s)
		var none L
		return none, fmt.Errorf("%s: connect: %w: %w", p.product, driver.ErrNotConnected, context.Cause(ctx))
	}
}

func (p *Pool[K, L]) over() error {
	return fmt.Errorf("%s: connect: session %w", p.product, driver.ErrClosed)
}

// fill connects for all that wait for s.
func (p *Pool[K, L]) fill(ctx context.Context, key K, s *slot[L]) {
	l, err := p.connect(ctx, key)
	p.mu.Lock()
	taken := p.slots[key] != s // by Drain or Close
	late := taken && err == nil
	if late {
		err = p.over()
	}
	if err == nil {
		s.link = l
	} else if s.err = err; !taken {
		delete(p.slots, key)
	}
	close(s.ready)
	p.mu.Unlock()
	if late {
		p.close(ctx, l)
	}
}

// Release gives the link called key back, and closes it by ctx's deadline if
// nobody else has it. It does nothing if Drain or Close has taken the link.
func (p *Pool[K, L]) Release(ctx context.Context, key K, link L) {
	p.mu.Lock()
	s := p.slots[key]
	ours := s != nil && s.link == link
	p.mu.Unlock()
	if ours {
		p.leave(ctx, key, s)
	}
}

// leave takes a user from s, unless it is no longer what key stands for: it has
// failed, or has been taken.
func (p *Pool[K, L]) leave(ctx context.Context, key K, s *slot[L]) {
	p.mu.Lock()
	if p.slots[key] != s {
		p.mu.Unlock()
		return
	}
	s.users--
	last := s.users == 0
	if last {
		delete(p.slots, key)
	}
	p.mu.Unlock()
	if last { // who connected has it until then, so it is connected
		p.close(ctx, s.link)
	}
}

// Drain closes all links at the same time, though they have users, and returns
// when that is done or ctx has ended. What is being connected is closed by who
// connects it, with an error of class driver.ErrClosed for all that wait for it.
// Who acquires a link from now on connects anew.
func (p *Pool[K, L]) Drain(ctx context.Context) { p.drain(ctx, false) }

// Close does what Drain does, and lets no more links be acquired.
func (p *Pool[K, L]) Close(ctx context.Context) { p.drain(ctx, true) }

func (p *Pool[K, L]) drain(ctx context.Context, last bool) {
	p.mu.Lock()
	p.closed = p.closed || last
	slots := p.slots
	p.slots = map[K]*slot[L]{}
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, s := range slots {
		closing.Go(func() {
			select {
			case <-s.ready: // before ctx is looked at: it may have ended already
				if s.err == nil {
					p.close(ctx, s.link)
				}
				return
			default:
			}
			select {
			case <-s.ready: // closed by who connected it
			case <-ctx.Done():
			}
		})
	}
	closing.Wait()
}
