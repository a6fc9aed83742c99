package redisstreams_test

import (
	"fmt"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestCluster(t *testing.T) {
	c := brokertest.Start(t, "redis-cluster", brokers.Options{Nodes: 3})
	target := func(client string) driver.Target {
		return driver.Target{URL: c.URL, Run: client, Prefix: "{one}", Options: map[string]any{"client": client}}
	}
	t.Run("moves a slot", func(t *testing.T) {
		var sides []*resptest.Side
		for _, client := range []string{"direct", "library"} {
			for name, spec := range map[string]driver.ConsumerSpec{
				"alone":         {},
				"a group":       {Group: "g"},
				"a group, by 7": {Group: "g", Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 7}},
			} {
				to := target(client)
				to.Run = fmt.Sprintf("%s-%d", client, len(sides))
				sides = append(sides, resptest.NewSideOf(t, client+", "+name, redisstreams.Entry(), to, spec))
			}
		}
		resptest.MovesSlot(t, c, sides...)
	})
	t.Run("lists what runs left", func(t *testing.T) {
		sessiontest.Cleans(t, redisstreams.Entry().Driver, driver.Target{URL: c.URL, Prefix: "bench:"}, false)
	})
	t.Run("conforms", func(t *testing.T) {
		drivertest.Run(t, resptest.ClusterHarness(t, c, redisstreams.Entry(), nil))
	})
}
