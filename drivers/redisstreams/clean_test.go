package redisstreams_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
)

func TestLeftoversAreListed(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for _, prefix := range []string{"", "bench:"} {
		sessiontest.Cleans(t, redisstreams.Entry().Driver, driver.Target{URL: c.URL, Prefix: prefix}, prefix == "")
	}
}
