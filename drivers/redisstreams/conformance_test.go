package redisstreams_test

import (
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
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
			c := resptest.Start(t, brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1 << 20, Settings: mode.settings})
			h := c.Harness(t, redisstreams.Entry(), mode.options)
			h.Leftovers = leftovers(c)
			h.Unacked = unacked(c)
			drivertest.Run(t, h)
		})
	}
}
