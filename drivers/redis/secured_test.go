package redis_test

import (
	"testing"

	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redis"
)

// TestSecured is the suite at a secured server, with a user that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	for name, options := range map[string]map[string]any{"direct": nil, "library": {"client": "library"}, "sharded": {"sharded": true}, "no acknowledgements": {"acks": "none"}} {
		t.Run(name, func(t *testing.T) { resptest.Secured(t, "redis", 1, redis.Entry(), options) })
	}
	t.Run("a cluster", func(t *testing.T) {
		resptest.Secured(t, "redis-cluster", 3, redis.Entry(), map[string]any{"sharded": true})
	})
}
