package redis_test

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/redis"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestConformance(t *testing.T) {
	o := brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1 << 20}
	c := start(t, o)
	for _, mode := range []struct {
		name    string
		options map[string]any
		always  bool // also in a short run
	}{
		{"channels", nil, true},
		{"client", map[string]any{"receive": "client"}, false},
		{"patterns", map[string]any{"subscribe": "pattern"}, false},
		{"sharded", map[string]any{"sharded": true}, false},
		{"no acknowledgements", map[string]any{"acks": "none"}, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && !mode.always {
				t.Skip("a variant, skipped in short runs")
			}
			login := map[string]any{"user": "ada", "password": "lovelace"}
			maps.Copy(login, mode.options)
			wrong := maps.Clone(login)
			wrong["password"] = "byron"
			drivertest.Run(t, drivertest.Harness{
				Entry:         redis.Entry(),
				Target:        driver.Target{URL: c.URL, Options: login},
				At:            func(address string) driver.Target { return driver.Target{URL: "redis://" + address, Options: login} },
				WrongPassword: &driver.Target{URL: c.URL, Options: wrong},
				MaxPayload:    1 << 20,
				TooLarge:      1<<20 + 1,
				Freeze:        brokertest.Freeze(t, c),
				Thaw:          brokertest.Thaw(t, c),
				Restart:       brokertest.Restart(t, c),
				Leftovers:     leftovers(t, c, o),
			})
		})
	}
}
