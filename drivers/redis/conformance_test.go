package redis_test

import (
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redis"
	"sixnines/internal/brokers"
)

func TestConformance(t *testing.T) {
	c := resptest.Start(t, brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1 << 20})
	for _, mode := range []struct {
		name    string
		options map[string]any
		always  bool // also in a short run
	}{
		{"channels", nil, true},
		{"library", map[string]any{"client": "library"}, false},
		{"patterns", map[string]any{"subscribe": "pattern"}, false},
		{"sharded", map[string]any{"sharded": true}, false},
		{"patterns by the library", map[string]any{"client": "library", "subscribe": "pattern"}, false},
		{"sharded by the library", map[string]any{"client": "library", "sharded": true}, false},
		{"no acknowledgements", map[string]any{"acks": "none"}, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && !mode.always {
				t.Skip("a variant, skipped in short runs")
			}
			h := c.Harness(t, redis.Entry(), mode.options)
			h.Leftovers = leftovers(c)
			drivertest.Run(t, h)
		})
	}
}
