package redisstreams_test

import (
	"context"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// A session that was given Sentinels finds the new master when the master is killed or frozen: producer and consumer of
// both clients connect to it, and messages go on.
func TestFailover(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	for name, test := range map[string]struct {
		server *brokers.ServerTLS
		client *driver.TLS
	}{"plain": {}, "TLS": {certificates.Server(true), certificates.Client(true)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failsOver(t, test.server, test.client)
		})
	}
}

func failsOver(t *testing.T, server *brokers.ServerTLS, over *driver.TLS) {
	c := brokertest.Start(t, "redis", brokers.Options{Nodes: 3, TLS: server, Settings: map[string]string{"sentinel.down-after-milliseconds": "1000", "sentinel.failover-timeout": "1000"}})
	type side struct {
		acks, got sessiontest.Counter
		producer  driver.Producer
	}
	both := map[string]*side{}
	for _, client := range []string{"direct", "library"} {
		s := sessiontest.Open(t, redisstreams.Entry().Driver, driver.Target{URL: c.URL, TLS: over, Run: client, Options: map[string]any{"client": client}})
		provision(t, s)
		on := new(side)
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, on.got.Deliver)
		on.producer = sessiontest.Produce(t, s, &on.acks)
		both[client] = on
	}
	// flow sends until a message of each has arrived.
	flow := func() {
		t.Helper()
		for client, on := range both {
			before, token := on.got.Count(), uint64(0)
			sessiontest.Until(t, "a message arrives through "+client, func() bool {
				token++
				on.producer.Send(token, make([]byte, 64)) // an error: it is not connected
				time.Sleep(time.Millisecond)              // between two messages
				return on.got.Count() > before
			})
		}
	}
	flow()
	p, err := c.Leader(t.Context(), brokers.Destination{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Kill(t.Context(), p.Leader); err != nil {
		t.Fatal(err)
	}
	flow()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if after, err := c.Leader(ctx, brokers.Destination{}); err != nil || after.Leader == p.Leader {
		t.Errorf("after node %d was killed: %+v, %v", p.Leader, after, err)
	}
	if _, err := c.Resume(ctx, p.Leader); err != nil {
		t.Error(err)
	}
	flow()
	// A master that is frozen keeps its connections open. Messages go on when another one is the master, while it is frozen.
	if p, err = c.Leader(ctx, brokers.Destination{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Freeze(ctx, p.Leader); err != nil {
		t.Fatal(err)
	}
	flow()
	if _, err := c.Thaw(ctx, p.Leader); err != nil {
		t.Error(err)
	}
}
