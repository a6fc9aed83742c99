package redisstreams_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// A session that was given Sentinels, or servers of a cluster, finds the new master when the master is killed or frozen:
// producer and consumer of both clients connect to it, and messages go on.
func TestFailover(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	sentinels := map[string]string{"sentinel.down-after-milliseconds": "1000", "sentinel.failover-timeout": "1000"}
	timeout := map[string]string{"cluster-node-timeout": "1000"}
	for name, test := range map[string]struct {
		product string
		options brokers.Options
		over    *driver.TLS
	}{
		"Sentinels":        {"redis", brokers.Options{Nodes: 3, Settings: sentinels}, nil},
		"Sentinels by TLS": {"redis", brokers.Options{Nodes: 3, Settings: sentinels, TLS: certificates.Server(true)}, certificates.Client(true)},
		"a cluster by TLS": {"redis-cluster", brokers.Options{Nodes: 6, Settings: timeout, TLS: certificates.Server(true)}, certificates.Client(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := brokertest.Start(t, test.product, test.options)
			var sides []*resptest.Side
			for _, client := range []string{"direct", "library"} {
				sides = append(sides, resptest.NewSide(t, client, redisstreams.Entry(), driver.Target{URL: c.URL, TLS: test.over, Run: client,
					Prefix: "{one}", Options: map[string]any{"client": client}})) // one slot, and so one master
			}
			resptest.FailsOver(t, c, sides...)
		})
	}
}
