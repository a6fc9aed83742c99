package nats_test

import (
	"maps"
	"os"
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/nats"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestSecured is the suite at a secured server, with an account that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, target := brokertest.Secured(t, "nats", nats.Entry(), brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}})
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			target := target
			target.Options = maps.Clone(target.Options)
			target.Options["client"] = client
			drivertest.RunLimited(t, drivertest.Harness{Entry: nats.Entry(), Target: target})
		})
	}
}
