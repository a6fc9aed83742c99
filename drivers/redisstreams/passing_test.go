package redisstreams_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/internal/brokers"
)

// TestLoading has the server load its data while a run is set up.
func TestLoading(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for _, command := range []string{"PING", "UNLINK", "XGROUP"} {
		t.Run(command, func(t *testing.T) {
			s := open(t, resptest.Loading(t, driver.Target{URL: c.URL}, command, 10))
			if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}}); err != nil {
				t.Error(err)
			}
		})
	}
}
