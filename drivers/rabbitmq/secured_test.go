package rabbitmq_test

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/rabbitmq"
)

// testSecured is the suite at a secured broker, with a user that has the driver's rights and no others.
func testSecured(t *testing.T, secured driver.Target) {
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			drivertest.RunLimited(t, drivertest.Harness{Entry: rabbitmq.Entry(), Target: as(secured, map[string]any{"client": client}),
				Given: func(run, topic string) (string, string) {
					return secured.Prefix + run + "/" + topic + "/" + topic, secured.Prefix + run + "/" + topic + "/g0"
				}})
		})
	}
}

// as returns the target with more options.
func as(t driver.Target, options map[string]any) driver.Target {
	t.Options = maps.Clone(t.Options)
	maps.Copy(t.Options, options)
	return t
}
