package brokertest

import (
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// Encrypted starts the product for the test with a certificate, and returns the target
// that at returns for it, with the authority that signed the certificate.
func Encrypted(t testing.TB, product string, o brokers.Options, at func(c *brokers.Cluster) driver.Target) *driver.Target {
	t.Helper()
	files := NewCertificates(t)
	o.TLS = files.Server(false)
	target := at(Start(t, product, o))
	target.TLS = files.Client(false)
	return &target
}
