package nats_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/natswire/natswiretest"
	"sixnines/drivers/nats"
)

// TestSecured is the suite with an account that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	const prefix = "bench."
	b := startBroker(t, "authorization { users: [ { user: ada, password: lovelace, permissions: "+natswiretest.Permissions(nats.Entry().Rights(prefix))+" } ] }")
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			drivertest.RunLimited(t, drivertest.Harness{Entry: nats.Entry(),
				Target: driver.Target{URL: b.url.String(), Prefix: prefix, Options: map[string]any{"user": "ada", "password": "lovelace", "client": client}}})
		})
	}
}
