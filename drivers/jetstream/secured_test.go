package jetstream_test

import (
	"maps"
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestSecured is the suite at a secured server, with an account that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	_, target := brokertest.Secured(t, "nats", jetstream.Entry(), builtIn(t, brokers.Options{Settings: map[string]string{"jetstream.max_file_store": "64GB"}}))
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			target := target
			target.Options = maps.Clone(target.Options)
			target.Options["client"] = client
			drivertest.RunLimited(t, drivertest.Harness{Entry: jetstream.Entry(), Target: target,
				Given: func(run, topic string) (string, string) { return "bench." + run + "." + topic, "bench_dg0" }})
		})
	}
}
