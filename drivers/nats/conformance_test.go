package nats_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/nats"
)

func TestConformance(t *testing.T) {
	b := startBroker(t, `
		max_payload: 1000000
		authorization { user: ada, password: lovelace }
	`)
	login := map[string]any{"user": "ada", "password": "lovelace"}
	drivertest.Run(t, drivertest.Harness{
		Entry:  nats.Entry(),
		Target: driver.Target{URL: b.url.String(), Options: login},
		At:     func(address string) driver.Target { return driver.Target{URL: "nats://" + address, Options: login} },
		WrongPassword: &driver.Target{URL: b.url.String(),
			Options: map[string]any{"user": "ada", "password": "byron"}},
		MaxPayload: 1_000_000,
		TooLarge:   1_000_001,
		Freeze:     b.freeze,
		Thaw:       b.thaw,
		Restart:    b.restart,
		Leftovers:  b.subjects,
	})
}
