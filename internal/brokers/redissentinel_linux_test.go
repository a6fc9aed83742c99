package brokers_test

import (
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// Sentinels make a replica the master, by themselves and when asked to, and a killed master comes back as a
// replica.
func TestRedisFailsOver(t *testing.T) {
	c := clustered{brokertest.Start(t, "redis", brokers.Options{Nodes: 3, User: "ada", Password: "lovelace",
		Settings: map[string]string{"min-replicas-to-write": "1", "sentinel.down-after-milliseconds": "1000"}}), brokers.Destination{}, nil}
	if c.Settings["sentinel.down-after-milliseconds"] != "1000" || c.Settings["min-replicas-to-write"] != "1" {
		t.Errorf("%v", c.Settings)
	}
	c.frozen(t)
	c.fails(t)
	c.transferred(t)
	c.stopped(t)
}
