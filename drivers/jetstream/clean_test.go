package jetstream_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

func TestLeftoversAreListed(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, prefix := range []string{"", "bench.left."} {
		sessiontest.Cleans(t, jetstream.Entry().Driver, driver.Target{URL: b.URL, Prefix: prefix})
	}
}
