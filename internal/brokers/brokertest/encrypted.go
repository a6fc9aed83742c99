package brokertest

import (
	"sync"
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// Encrypted returns a function that starts the product for the test, with a
// certificate, and returns the target that at makes of it, with what it takes to
// believe the certificate. It starts one, however often it is called.
func Encrypted(t testing.TB, product string, o brokers.Options, at func(c *brokers.Cluster) driver.Target) func() driver.Target {
	return sync.OnceValue(func() driver.Target {
		files := NewCertificates(t)
		o.TLS = files.Server(false)
		target := at(Start(t, product, o))
		target.TLS = files.Client(false)
		return target
	})
}
