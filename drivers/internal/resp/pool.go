package resp

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Shared is what a Pool holds: a Link, or what has one.
type Shared interface {
	comparable
	Close(ctx context.Context) error
	Stuck(ctx context.Context) error
}

// Pool holds links that several use. It is a kit.Pool with two differences:
// what is being connected is given up when the pool closes, and who releases the
// last of a link hears if it could not be closed in time.
type Pool[K comparable, L Shared] struct {
	*kit.Pool[K, L]
	cancel context.CancelFunc
}

// NewPool returns an empty pool for the driver.
func NewPool[K comparable, L Shared](product string, connect func(context.Context, K) (L, error)) *Pool[K, L] {
	life, cancel := context.WithCancel(context.Background())
	return &Pool[K, L]{cancel: cancel, Pool: kit.NewPool(product, func(ctx context.Context, key K) (L, error) {
		both, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		l, err := connect(both, key)
		if err != nil && life.Err() != nil {
			err = fmt.Errorf("%s: connect: session %w", product, driver.ErrClosed)
		}
		return l, err
	}, func(ctx context.Context, l L) {
		_ = l.Close(ctx) // Release asks whether it is stuck
	})}
}

// Release gives l back, and closes it after its last user.
func (p *Pool[K, L]) Release(ctx context.Context, key K, l L) error {
	p.Pool.Release(ctx, key, l)
	return l.Stuck(ctx)
}

// Close closes all that the pool holds, and lets it hold nothing more.
func (p *Pool[K, L]) Close(ctx context.Context) {
	p.cancel()
	p.Pool.Close(ctx)
}
