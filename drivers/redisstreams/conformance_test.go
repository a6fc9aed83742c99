package redisstreams_test

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
)

// observe reads a stream from its beginning.
func observe(c *resptest.Server) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		key, after := "s9:"+run+":"+topic, "-"
		return func() (o drivertest.Observed, err error) {
			for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
				entries, err := redis.Values(c.Do("XRANGE", key, after, "+", "COUNT", 1))
				if err != nil {
					return o, err
				}
				if len(entries) == 0 {
					continue
				}
				entry := entries[0].([]any)
				after = "(" + string(entry[0].([]byte))
				fields, err := redis.ByteSlices(entry[1], nil)
				if err != nil {
					return o, err
				}
				o.Headers = map[string]string{}
				for i := 0; i < len(fields)-2; i += 2 {
					o.Headers[string(fields[i])] = string(fields[i+1])
				}
				o.Payload = fields[len(fields)-1]
				return o, nil
			}
			return o, ctx.Err()
		}, nil
	}
}

func TestConformance(t *testing.T) {
	for _, mode := range []struct {
		name     string
		settings map[string]string
		options  map[string]any
		always   bool // also in a short run
	}{
		{"memory", nil, nil, true},
		{"library", nil, map[string]any{"client": "library"}, false},
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
			h.Observe = observe(c)
			drivertest.Run(t, h)
		})
	}
}
