package redis_test

import (
	"fmt"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redis"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// Publishers and subscribers of a cluster, of channels of both kinds and by both clients, find the new master of their slot.
func TestClusterFailsOver(t *testing.T) {
	c := brokertest.Start(t, "redis-cluster", brokers.Options{Nodes: 6, Settings: map[string]string{"cluster-node-timeout": "1000"}})
	var sides []*resptest.Side
	for _, client := range clients() {
		for _, sharded := range []bool{false, true} {
			name := fmt.Sprintf("%s-%t", client, sharded)
			sides = append(sides, resptest.NewSide(t, name, redis.Entry(), driver.Target{URL: c.URL, Run: name, Prefix: "{one}", // one slot, and so one master
				Options: map[string]any{"client": client, "sharded": sharded}}))
		}
	}
	resptest.FailsOver(t, c, sides...)
}

func TestCluster(t *testing.T) {
	c := brokertest.Start(t, "redis-cluster", brokers.Options{Nodes: 3})
	t.Run("moves a slot", func(t *testing.T) {
		var sides []*resptest.Side
		for _, client := range clients() {
			sides = append(sides, resptest.NewSide(t, client, redis.Entry(), driver.Target{URL: c.URL, Run: client, Prefix: "{one}",
				Options: map[string]any{"client": client, "sharded": true}}))
		}
		resptest.MovesSlot(t, c, sides...)
	})
	t.Run("conforms", func(t *testing.T) {
		drivertest.Run(t, resptest.ClusterHarness(t, c, redis.Entry(), map[string]any{"sharded": true}))
	})
	// Without answers nobody would hear that the channel is at another server.
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"sharded": true, "acks": "none"}}, driver.ErrOption, "acks", "sharded", "cluster")
	works(t, driver.Target{URL: c.URL, Options: map[string]any{"acks": "none"}})
}
