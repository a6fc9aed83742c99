package all_test

import (
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/result"
)

// A run in a stream and a group of the operator's counts what others had left there, leaves none of its own
// unconsumed, and the stream and the group as they are. Without consumers it says what it leaves.
func TestTopicOfTheOperator(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{})
	conn, err := redis.DialURL(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const others = 7
	for range others {
		if _, err := conn.Do("XADD", "orders", "*", "m", "of another program"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Do("XGROUP", "CREATE", "orders", "audit", "0"); err != nil {
		t.Fatal(err)
	}
	e, _ := all.Set().Lookup("redis-streams")
	run := measure(t.Context(), t, config(e, c, parse(t, `
workload: {rate: 500/s}
phases: {warmup: 200ms, duration: 500ms, drain: 20s}
target: {url: `+c.URL+`, topic: orders, group: audit}
`)))
	if n := run.Counters; n.Foreign != others || n.Received != n.Expected || n.Received == 0 || run.Closing.Unconsumed != 0 || run.Header.Topic != "orders" {
		t.Errorf("%+v, %+v, topic %q", n, run.Closing, run.Header.Topic)
	}
	waiting, err := redis.Values(conn.Do("XPENDING", "orders", "audit"))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := redis.Values(conn.Do("XINFO", "CONSUMERS", "orders", "audit"))
	if n, _ := waiting[0].(int64); n != 0 || len(groups) != 0 || err != nil {
		t.Errorf("%d messages wait in the group, which has %d consumers, %v", n, len(groups), err)
	}
	before, err := redis.Int64(conn.Do("XLEN", "orders"))
	if err != nil || before < others+run.Counters.Received {
		t.Errorf("the stream has %d messages, %v", before, err)
	}
	run = measure(t.Context(), t, config(e, c, parse(t, `
workload: {rate: 500/s, pattern: publish}
phases: {warmup: 0s, duration: 500ms, drain: 20s}
target: {url: `+c.URL+`, topic: orders}
`)))
	after, err := redis.Int64(conn.Do("XLEN", "orders"))
	if left := run.Closing.Unconsumed; err != nil || left < run.Counters.Acked || left > after-before || left == 0 {
		t.Errorf("%d of %d messages are said to be left, and the stream has %d more, %v", left, run.Counters.Acked, after-before, err)
	}
	if !slices.ContainsFunc(run.Summary.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonLeft }) {
		t.Errorf("no reason says so: %+v", run.Summary.Verdict.Reasons)
	}
}

// Connections that come and go, as producers, are for the operator's topic, and for none that nobody has made.
func TestConnectionsToTopicOfTheOperator(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{})
	conn, err := redis.DialURL(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Do("XGROUP", "CREATE", "orders", "audit", "0", "MKSTREAM"); err != nil {
		t.Fatal(err)
	}
	e, _ := all.Set().Lookup("redis-streams")
	run := measure(t.Context(), t, config(e, c, parse(t, `
workload: {rate: 200/s, connections: {rate: 20/s, hold: 50ms, as: producer}}
phases: {warmup: 0s, duration: 500ms, drain: 20s}
target: {url: `+c.URL+`, topic: orders, group: audit}
`)))
	if n := run.Connections; n == nil || n.Opened == 0 || n.Refused != 0 {
		t.Errorf("%+v", n)
	}
	if keys, err := redis.Strings(conn.Do("KEYS", "*")); err != nil || !slices.Equal(keys, []string{"orders"}) {
		t.Errorf("the server has %q, %v", keys, err)
	}
}
