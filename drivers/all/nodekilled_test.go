package all_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
	"sixnines/internal/faults"
	"sixnines/result"
)

// everyCluster has TestNodeKilled try the cluster that takes half a minute, too.
const everyCluster = "SIXNINES_FAULTS"

// A node of a cluster is killed in mid-run: the run goes on at the others, each message is in one
// account, and the result says for how long nothing was answered.
func TestNodeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, driver, product, options string
		nodes                          int
		settings                       map[string]string
		down                           []int // nodes that are down before the run
		action                         string
		slow                           bool // it takes long to start
		keeps                          bool // what it has acknowledged
	}{
		{name: "NATS whose first node is down", driver: "nats", product: "nats", nodes: 3, down: []int{0}, action: "kill: {node: 1}"},
		{name: "Redis with Sentinels", driver: "redis-streams", product: "redis", nodes: 3, settings: map[string]string{"sentinel.down-after-milliseconds": "1000"},
			action: "kill: {node: leader}"},
		{name: "Redis Cluster", driver: "redis-streams", product: "redis-cluster", nodes: 6, settings: map[string]string{"cluster-node-timeout": "1000"},
			action: "kill: {node: leader}"},
		// 3.10 refuses all that comes by a channel which was opened before the others had a new leader, until the node is back.
		{name: "RabbitMQ", driver: "rabbitmq", product: "rabbitmq", options: "queue_type: quorum", nodes: 3, action: "kill: {node: leader}, restart: 200ms", slow: true, keeps: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.slow && os.Getenv(everyCluster) != "all" {
				t.Skip("takes half a minute: make faults")
			}
			t.Parallel()
			c := brokertest.Start(t, tt.product, brokers.Options{Nodes: tt.nodes, Settings: tt.settings, Home: brokers.Home{Self: []string{self, becomeBroker}}})
			if len(tt.down) > 0 {
				if _, err := c.Kill(t.Context(), tt.down...); err != nil {
					t.Fatal(err)
				}
			}
			e, _ := all.Set().Lookup(tt.driver)
			s := parse(t, `
workload: {rate: 500/s, size: 256B, groups: 1}
phases: {warmup: 500ms, duration: 2m, drain: 5s}
record: {interval: 100ms}
target: {nodes: 3, options: {`+tt.options+`}}
actions: [{at: 1500ms, `+tt.action+`}]
`)
			conf := config(e, c, s)
			target := &faults.Target{Cluster: c, Seed: 1}
			conf.Doer, conf.Provisioned = target.Doer, target.Provisioned
			ctx, end := context.WithCancel(t.Context())
			defer end()
			before := int64(-1) // what was received before the node was killed
			conf.Observer = func(p engine.Progress) {
				running := 0
				for _, m := range c.Members() {
					if m.State == brokers.NodeRunning {
						running++
					}
				}
				switch received := p.Counters.Received; {
				case before < 0 && running == tt.nodes-len(tt.down):
				case before < 0:
					before = received
				case received > before+500:
					end()
				}
			}
			run := measure(ctx, t, conf)
			n := run.Counters
			if n.Violations+n.Corrupted+n.Foreign > 0 || tt.keeps && n.LostAcked > 0 || before <= 0 || n.Received <= before {
				t.Errorf("%d received before the kill: %+v", before, n)
			}
			if !slices.ContainsFunc(run.Events, func(e result.Event) bool { return e.Kind == result.EventReconnected }) {
				t.Error("no connection came back")
			}
			if len(run.Summary.Costs) != 1 {
				t.Fatalf("%d costs: %+v", len(run.Summary.Costs), run.Events)
			}
			cost := run.Summary.Costs[0]
			t.Logf("unavailable %+v, recovered %+v; %d refused, %+v; %+v", cost.Unavailable, cost.Recovered, cost.Refused, cost.Reconnects, n)
			if cost.Effect != result.ImpactSeen || cost.Unavailable == nil || cost.Unavailable.Most <= 0 {
				t.Errorf("it is not said how long the failover took: %+v", cost)
			}
		})
	}
}
