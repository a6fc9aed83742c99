package kit

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
)

// Pool holds the links of one session by key. A link is connected for its first user
// and closed after its last. Methods are safe for concurrent use, and none holds a
// lock while it connects or closes.
type Pool[K, L comparable] struct {
	product string // begins every error
	connect func(context.Context, K) (L, error)
	close   func(context.Context, L)

	mu     sync.Mutex // guards closed, slots and the slots' users; never held while connecting
	closed bool
	slots  map[K]*slot[L]
}

// slot holds a link that may still be connecting.
type slot[L comparable] struct {
	ready chan struct{} // closed when link or err is set; they do not change after that
	link  L
	err   error
	users int // guarded by the pool's mu
}

// NewPool returns an empty pool. connect makes a link and leaves nothing behind
// if it fails. It must end soon after its context, and after the session has
// begun to close, since Close waits for it. close ends a link by the deadline of
// its context, and is called once for each link. The pool's own errors begin with
// the product's name.
func NewPool[K, L comparable](product string, connect func(context.Context, K) (L, error), close func(context.Context, L)) *Pool[K, L] {
	return &Pool[K, L]{product: product, connect: connect, close: close, slots: map[K]*slot[L]{}}
}

// Acquire returns the link called key, and connects it if it has no users. A caller that
// comes while the link is being connected waits for that until ctx ends; then the error
// is of class driver.ErrNotConnected. All waiting callers share the result: a failure
// fails all of them, and later callers connect again. Once Close has begun, the error is
// of class driver.ErrClosed. Each acquired link must be released once.
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

// fill connects the link of s for all callers that wait for it.
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

// Release returns the link called key to the pool, and closes it by ctx's deadline if
// it has no other user. It does nothing if Drain or Close has taken the link.
func (p *Pool[K, L]) Release(ctx context.Context, key K, link L) {
	p.mu.Lock()
	s := p.slots[key]
	ours := s != nil && s.link == link
	p.mu.Unlock()
	if ours {
		p.leave(ctx, key, s)
	}
}

// leave removes a user from s, unless s no longer belongs to key: it has failed, or Drain
// or Close has taken it.
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
	if last { // the caller that connects is a user until it is done, so the link is connected
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
