//go:build !zeromq || !cgo || windows

package zeromq

import "sixnines/driver"

// newDriver returns one that says how to come by what it stands for.
func newDriver(bool) driver.Driver {
	return driver.New(DefaultOptions(), func(driver.Target, Options) (driver.Session, error) {
		return nil, &driver.AbsentError{Driver: "zeromq", Lacks: "libzmq",
			Build: "run sixnines broker install zeromq, then build with CGO_ENABLED=1 go build -tags zeromq ./cmd/sixnines"}
	}, nil)
}
