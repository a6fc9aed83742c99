package stan_test

import (
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestSecured is the suite at a secured server, with an account that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	c, target := brokertest.Secured(t, "nats-streaming", stan.Entry(), brokers.Options{})
	target.Options["http_url"] = c.Info["monitoring"]
	drivertest.RunLimited(t, drivertest.Harness{Entry: stan.Entry(), Target: target, Forgets: true})
}
