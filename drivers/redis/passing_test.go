package redis_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/internal/brokers"
)

// TestLoading has the server load its data while a run is set up.
func TestLoading(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for _, command := range []string{"PING", "INFO", "CONFIG"} {
		t.Run(command, func(t *testing.T) {
			works(t, resptest.Loading(t, driver.Target{URL: c.URL}, command, 10))
		})
	}
}
