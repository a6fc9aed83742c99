//go:build !zeromq || !cgo || windows

package zeromq

import (
	"context"
	"fmt"

	"sixnines/driver"
)

// Driver stands for the one that this build does not have.
type Driver struct{}

func newDriver(bool) driver.Driver { return Driver{} }

// Open implements driver.Driver. It fails, but for wrong options before.
func (Driver) Open(_ context.Context, t driver.Target) (driver.Session, error) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("zeromq: %w: not in this build, which has no libzmq; run sixnines broker install zeromq, then build with CGO_ENABLED=1 go build -tags zeromq ./cmd/sixnines", driver.ErrUnsupported)
}
