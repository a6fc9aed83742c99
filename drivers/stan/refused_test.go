package stan_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire/natswiretest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestLockedOut has the server refuse the login of a session that was there before.
func TestLockedOut(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	dial, lock := natswiretest.LockOut(t)
	sessiontest.LockedOut(t, stan.Entry().Driver, driver.Target{URL: c.URL, Dial: dial}, lock, "Authorization Violation")
}
