package all_test

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
	"sixnines/result"
)

// Each copy of what a cluster keeps is asked: when all are well each has every acknowledged message, and one whose
// server is away is said to be so. Where single copies cannot be asked the result says why.
func TestReplicas(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quick := map[string]string{"java.heap": "256m", "broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}
	for _, tt := range []struct {
		driver, product, options string
		nodes                    int
		settings                 map[string]string
		why                      result.NotAskable // empty: each copy is asked
		behind                   bool              // a copy is made to be behind
	}{
		{driver: "kafka", product: "kafka", options: "partitions: 2, replication_factor: 3", nodes: 3, settings: quick},
		{driver: "jetstream", product: "nats", options: "replicas: 3", nodes: 3},
		{driver: "redis-streams", product: "redis", nodes: 3, settings: map[string]string{"sentinel.down-after-milliseconds": "1000"}, behind: true},
		{driver: "jetstream", product: "nats", nodes: 1, why: result.NotAskableOneCopy},
		{driver: "rabbitmq", product: "rabbitmq", options: "queue_type: quorum", nodes: 1, why: result.NotAskableLeaderOnly},
	} {
		t.Run(tt.driver+", "+tt.options, func(t *testing.T) {
			c := brokertest.Start(t, tt.product, brokers.Options{Nodes: tt.nodes, Settings: tt.settings, Home: brokers.Home{Self: []string{self, becomeBroker}}})
			e, _ := all.Set().Lookup(tt.driver)
			var healthy result.ReadPlace
			var acked int64
			run := func(at func(result.ReadPlace)) result.ReadPlace {
				t.Helper()
				conf := config(e, c, parse(t, `
workload: {rate: 1000/s, pattern: publish, arrivals: constant}
phases: {warmup: 0s, duration: 1s, drain: 15s, read_back: 60s}
target: {options: {`+tt.options+`}}
`))
				var once sync.Once
				conf.Observer = func(p engine.Progress) {
					if at != nil && p.Elapsed > 500*time.Millisecond {
						once.Do(func() { at(healthy) })
					}
				}
				run, err := engine.Run(t.Context(), conf)
				if err != nil {
					t.Fatal(err)
				}
				b := run.ReadBack
				if b == nil || b.Outcome != result.ReadBackDone || len(b.Places) != 1 || b.LostAcked > 0 || b.Kept != run.Counters.Acked {
					t.Fatalf("%+v, of %d acknowledged", b, run.Counters.Acked)
				}
				acked = run.Counters.Acked
				return b.Places[0]
			}
			if healthy = run(nil); healthy.NotAskable != tt.why {
				t.Errorf("%+v, want %q", healthy, tt.why)
			}
			if tt.why != "" {
				return
			}
			if len(healthy.Replicas) != tt.nodes || !slices.ContainsFunc(healthy.Replicas, func(r result.ReadReplica) bool { return r.Leader }) {
				t.Fatalf("%+v", healthy)
			}
			for _, r := range healthy.Replicas {
				if r.Answer != result.ReplicaContents || r.Has != acked || r.Behind+r.Beyond > 0 || r.Error != "" {
					t.Errorf("%+v", r)
				}
			}
			if tt.behind {
				lacking := 0
				rejoin := func() {}
				for _, r := range run(func(p result.ReadPlace) { rejoin = leave(t, p) }).Replicas {
					if r.Has+r.Behind != acked {
						t.Errorf("%+v", r)
					}
					if r.Behind > 0 {
						lacking++
					}
				}
				if lacking != 1 {
					t.Errorf("%d copies are behind when one no longer follows", lacking)
				}
				rejoin()
			}
			killed := run(func(result.ReadPlace) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				node := 0
				if p, err := c.Leader(ctx, brokers.Destination{}); err == nil {
					node = (p.Leader + 1) % tt.nodes
				}
				if _, err := c.Kill(ctx, node); err != nil {
					t.Error(err)
				}
			})
			silent := 0
			for _, r := range killed.Replicas {
				switch {
				case r.NotAskable != "" && r.Answer == "" && r.Has+r.Behind == 0:
					silent++
				case r.Answer != result.ReplicaContents || r.Has != acked || r.Behind > 0:
					t.Errorf("%+v", r)
				}
			}
			if silent != 1 {
				t.Errorf("one server was killed: %+v", killed)
			}
		})
	}
}

// leave has a replica of Redis stop to follow its master, until it is told to rejoin.
func leave(t *testing.T, p result.ReadPlace) (rejoin func()) {
	i := slices.IndexFunc(p.Replicas, func(r result.ReadReplica) bool { return !r.Leader })
	master := slices.IndexFunc(p.Replicas, func(r result.ReadReplica) bool { return r.Leader })
	host, port, _ := net.SplitHostPort(p.Replicas[master].Name)
	c, err := redis.Dial("tcp", p.Replicas[i].Name)
	if err != nil {
		t.Error(err)
		return func() {}
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Error(err)
	}
	return func() {
		_, err := c.Do("REPLICAOF", host, port)
		for end := time.Now().Add(time.Minute); err == nil; time.Sleep(50 * time.Millisecond) { // between two looks
			info, e := redis.String(c.Do("INFO", "replication"))
			if err = e; strings.Contains(info, "master_link_status:up") {
				return
			}
			if time.Now().After(end) {
				err = errors.New("it does not follow again")
			}
		}
		t.Error(err)
	}
}
