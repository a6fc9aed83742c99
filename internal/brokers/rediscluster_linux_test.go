package brokers_test

import (
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// The key of a slot has a master and its replica, which takes over when the master is killed or as planned. Other keys have
// other masters.
func TestRedisClusterFailsOver(t *testing.T) {
	c := brokertest.Start(t, "redis-cluster", brokers.Options{Nodes: 6, User: "ada", Password: "lovelace", Settings: map[string]string{"cluster-node-timeout": "1000"}})
	if c.Settings["cluster-node-timeout"] != "1000" || !strings.HasPrefix(c.URL, "redis+cluster://") || len(c.Members()) != 6 {
		t.Errorf("%v at %s", c.Settings, c.URL)
	}
	leaders := map[int]bool{}
	for _, key := range []string{"a", "b", "c", "d", "e"} { // slots 15495, 3300, 7365, 11298, 15363
		p, err := c.Leader(t.Context(), brokers.Destination{Name: key})
		if err != nil || p.Leader > 2 || len(p.Followers) != 1 || p.Followers[0] != p.Leader+3 {
			t.Errorf("%s: %+v, %v", key, p, err)
		}
		leaders[p.Leader] = true
	}
	if len(leaders) != 3 {
		t.Errorf("the keys are at %v", leaders)
	}
	k := clustered{c, brokers.Destination{Name: "{b}:t0"}, []int{0, 3}}
	k.frozen(t)
	k.fails(t)
	k.transferred(t)
	k.stopped(t)
}

// Without replicas nobody takes over, and leadership cannot be moved.
func TestRedisClusterWithoutReplicas(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "redis-cluster", brokers.Options{Nodes: 3, TLS: certificates.Server(true)})
	if p, err := c.Leader(t.Context(), brokers.Destination{Name: "b"}); err != nil || p.Leader != 0 || len(p.Followers) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.Transfer(t.Context(), brokers.Destination{Name: "b"}); err == nil {
		t.Error("it was moved")
	}
	brokertest.Restart(t, c)()
	if p, err := c.Leader(t.Context(), brokers.Destination{Name: "b"}); err != nil || p.Leader != 0 {
		t.Errorf("after a restart: %+v, %v", p, err)
	}
	if !strings.HasPrefix(c.URL, "rediss+cluster://") {
		t.Error(c.URL)
	}
}
