package null_test

import (
	"os"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/null"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/nullbroker"
)

// becomeBroker makes the test binary the null broker.
const becomeBroker = "__broker"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == becomeBroker {
		os.Exit(brokers.Serve(os.Stdin, os.Stderr, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// start starts a null broker in a process of its own.
func start(t testing.TB, settings map[string]string) *brokers.Cluster {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return brokertest.Start(t, "null", brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}, Settings: settings})
}

func TestConformance(t *testing.T) {
	c := start(t, nil)
	delayed := start(t, map[string]string{"delay": "lognormal(median=200us,sigma=0.5)"})
	for _, mode := range []struct {
		name    string
		cluster *brokers.Cluster
		options map[string]any
		ordered bool
	}{
		{"no acknowledgements", c, nil, true},
		{"acknowledged", c, map[string]any{"ack": "broker"}, true},
		{"acknowledged and held back", delayed, map[string]any{"ack": "broker"}, false},
	} {
		if testing.Short() && !mode.ordered {
			continue // what is held back takes its time
		}
		t.Run(mode.name, func(t *testing.T) {
			e := null.Entry()
			e.Capabilities.Ordered = mode.ordered
			drivertest.Run(t, drivertest.Harness{
				Entry:  e,
				Target: driver.Target{URL: mode.cluster.URL, Options: mode.options},
				At: func(address string) driver.Target {
					return driver.Target{URL: "null://" + address, Options: mode.options}
				},
				TooLarge: nullbroker.MaxPayload + 1,
				Freeze:   brokertest.Freeze(t, mode.cluster),
				Thaw:     brokertest.Thaw(t, mode.cluster),
				Restart:  brokertest.Restart(t, mode.cluster),
			})
		})
	}
}
