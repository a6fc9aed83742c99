package redisstreams_test

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestConformance(t *testing.T) {
	for _, mode := range []struct {
		name     string
		settings map[string]string
		options  map[string]any
		always   bool // also in a short run
	}{
		{"memory", nil, nil, true},
		{"append-only file", map[string]string{"appendonly": "yes", "appendfsync": "everysec"},
			map[string]any{"count": 3, "field": "payload"}, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && !mode.always {
				t.Skip("a variant, skipped in short runs")
			}
			o := brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1 << 20, Settings: mode.settings}
			c := start(t, o)
			login := map[string]any{"user": "ada", "password": "lovelace"}
			maps.Copy(login, mode.options)
			wrong := maps.Clone(login)
			wrong["password"] = "byron"
			drivertest.Run(t, drivertest.Harness{
				Entry:         redisstreams.Entry(),
				Target:        driver.Target{URL: c.URL, Options: login},
				At:            func(address string) driver.Target { return driver.Target{URL: "redis://" + address, Options: login} },
				WrongPassword: &driver.Target{URL: c.URL, Options: wrong},
				MaxPayload:    1 << 20,
				TooLarge:      1<<20 + 1,
				Freeze:        brokertest.Freeze(t, c),
				Thaw:          brokertest.Thaw(t, c),
				Restart:       brokertest.Restart(t, c),
				Leftovers:     leftovers(t, c, o),
				Unacked:       unacked(t, c, o),
			})
		})
	}
}
