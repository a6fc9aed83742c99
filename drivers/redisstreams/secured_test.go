package redisstreams_test

import (
	"testing"

	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redisstreams"
)

// TestSecured is the suite at a secured server, with a user that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			resptest.Secured(t, "redis", 1, redisstreams.Entry(), map[string]any{"client": client})
		})
	}
	t.Run("a cluster", func(t *testing.T) { resptest.Secured(t, "redis-cluster", 3, redisstreams.Entry(), nil) })
}
