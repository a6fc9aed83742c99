package resptest

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// Secured puts a driver on trial at a secured product of some nodes: as a user that has the driver's rights under
// a prefix, and no others.
func Secured(t *testing.T, product string, nodes int, e driver.Entry, options map[string]any) {
	t.Helper()
	_, target := brokertest.Secured(t, product, e, brokers.Options{Nodes: nodes})
	maps.Copy(target.Options, options)
	drivertest.RunLimited(t, drivertest.Harness{Entry: e, Target: target})
}
