package enginetest

import (
	"context"

	"sixnines/driver"
)

// Stating returns a [Load.Change] after which the driver states other guarantees than mem has. It has none of
// a session's optional abilities.
func Stating(change func(*driver.Semantics)) func(*driver.Entry) {
	return func(e *driver.Entry) { e.Driver = stating{e.Driver, change} }
}

type stating struct {
	driver.Driver
	change func(*driver.Semantics)
}

// Open implements driver.Driver.
func (d stating) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return statingSession{s, d.change}, err
}

type statingSession struct {
	driver.Session
	change func(*driver.Semantics)
}

// Provision implements driver.Session.
func (s statingSession) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	stated, err := s.Session.Provision(ctx, t)
	s.change(&stated)
	return stated, err
}
