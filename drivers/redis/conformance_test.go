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
		{"go-redis", map[string]any{"client": "go-redis"}, false},
		{"redigo", map[string]any{"client": "redigo"}, false},
		{"patterns", map[string]any{"subscribe": "pattern"}, false},
		{"sharded", map[string]any{"sharded": true}, false},
		{"patterns by go-redis", map[string]any{"client": "go-redis", "subscribe": "pattern"}, false},
		{"sharded by go-redis", map[string]any{"client": "go-redis", "sharded": true}, false},
		{"patterns by redigo", map[string]any{"client": "redigo", "subscribe": "pattern"}, false},
		{"sharded by redigo", map[string]any{"client": "redigo", "sharded": true}, false},
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
