package resptest

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// Secured puts a driver on trial at a secured server: as a user that has the driver's rights under
// a prefix, and no others.
func Secured(t *testing.T, e driver.Entry, options map[string]any) {
	t.Helper()
	_, target := brokertest.Secured(t, "redis", e, brokers.Options{})
	maps.Copy(target.Options, options)
	drivertest.RunLimited(t, drivertest.Harness{Entry: e, Target: target})
}
