package all_test

import (
	"os"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// atSecured starts a secured broker for each driver whose broker starts quickly, and calls test with it, in parallel.
func atSecured(t *testing.T, test func(t *testing.T, name string, e driver.Entry, c *brokers.Cluster, target driver.Target)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for product, names := range map[string][]string{"nats": {"nats", "jetstream"}, "redis": {"redis", "redis-streams"}, "mosquitto": {"mqtt"}} {
		for _, name := range names {
			e, ok := all.Set().Lookup(name)
			if !ok || e.Rights == nil {
				t.Errorf("driver %s has no rights", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c, target := brokertest.Secured(t, product, e, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}})
				test(t, name, e, c, target)
			})
		}
	}
}
