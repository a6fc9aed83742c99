package relay_test

import (
	"testing"
	"time"

	"sixnines"
	"sixnines/driver"
	"sixnines/driver/drivertest"
	relay "sixnines/examples/driver"
	"sixnines/scenario"
)

func TestConformance(t *testing.T) {
	b := startBroker(t)
	drivertest.Run(t, drivertest.Harness{
		Entry:    relay.Entry(),
		Target:   driver.Target{URL: b.url()},
		At:       func(address string) driver.Target { return driver.Target{URL: "relay://" + address} },
		TooLarge: 1<<20 + 1,
		Freeze:   b.frozen.Lock,
		Thaw:     b.frozen.Unlock,
	})
}

// The driver in a run: its own set, beside or instead of drivers/all.
func TestRun(t *testing.T) {
	b := startBroker(t)
	s := &scenario.Scenario{
		Target:   scenario.Target{Driver: "relay", URL: b.url()},
		Workload: scenario.Workload{Rate: scenario.PerSecond(1000), Consumers: 2},
		Phases:   scenario.Phases{Warmup: 100 * time.Millisecond, Duration: 500 * time.Millisecond},
	}
	r, err := sixnines.Run(t.Context(), s, driver.NewSet(relay.Entry()))
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Counters; c.Sent != 500 || c.Received != 1000 || c.Missing != 0 {
		t.Errorf("%+v", c)
	}
}
