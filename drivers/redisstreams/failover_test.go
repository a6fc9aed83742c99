package redisstreams_test

import (
	"fmt"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
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
			replicaIsAway(t, c, sides[0])
		})
	}
}

// replicaIsAway ends a replica, and wants the session to tell of it.
func replicaIsAway(t *testing.T, c *brokers.Cluster, on *resptest.Side) {
	t.Helper()
	p, err := c.Leader(t.Context(), brokers.Destination{Name: on.Key})
	if err != nil {
		t.Fatal(err)
	}
	// are waits for the master and its replicas, of which some are away.
	are := func(n, away int) {
		t.Helper()
		sessiontest.Until(t, fmt.Sprintf("the session tells of %d copies and %d away", n, away), func() bool {
			all, err := on.Session.(driver.ReplicaReader).Replicas(t.Context(), driver.Place{Topic: "t0"})
			gone := 0
			for i, r := range all {
				if r.Leader != (i == 0) {
					return false
				}
				if r.NotAskable == driver.NotAskableOffline {
					gone++
				}
			}
			return err == nil && len(all) == n && gone == away
		})
	}
	are(1+len(p.Followers), 0)
	if _, err := c.Kill(t.Context(), p.Followers[0]); err != nil {
		t.Fatal(err)
	}
	are(1+len(p.Followers), 1)
}
