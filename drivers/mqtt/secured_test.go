package mqtt_test

import (
	"maps"
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestSecured is the suite at a secured broker, with a user that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	_, target := brokertest.Secured(t, "mosquitto", mqtt.Entry(), brokers.Options{})
	for name, options := range map[string]map[string]any{
		"5": {}, "5 by the library": {"client": "library"}, "3.1.1": {"version": "3.1.1"}, "3.1.1 by the library": {"version": "3.1.1", "client": "library"},
	} {
		t.Run(name, func(t *testing.T) {
			target := target
			target.Options = maps.Clone(target.Options)
			maps.Copy(target.Options, options)
			drivertest.RunLimited(t, drivertest.Harness{Entry: mqtt.Entry(), Target: target})
		})
	}
}
