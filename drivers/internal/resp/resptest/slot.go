package resptest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// MovesSlot moves the slot of sessions' streams or channels, which are of one slot, from a master to another while messages
// flow: first the keys, when commands are answered with ASK, and then the slot, when they are answered with MOVED. All
// messages must be acknowledged, and those of streams arrive once, also while the slot is where it was. The cluster has no login.
func MovesSlot(t *testing.T, c *brokers.Cluster, sides ...*Side) {
	t.Helper()
	addresses := strings.Split(strings.TrimPrefix(c.URL, "redis+cluster://"), ",")
	do := func(node int, command string, args ...any) any {
		t.Helper()
		conn, err := redis.Dial("tcp", addresses[node])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		reply, err := conn.Do(command, args...)
		if err != nil {
			t.Fatalf("%s %v: %v", command, args, err)
		}
		return reply
	}
	// pass sends at once what a session has, and waits for the answers.
	pass := func() {
		t.Helper()
		for _, on := range sides {
			for range 200 {
				if !on.send() {
					t.Fatalf("%s: it is not connected", on.Name)
				}
			}
		}
		for _, on := range sides {
			if failed := on.acks.Await(t, int(on.sent)); failed != nil {
				t.Fatalf("%s: %d of %d failed, the first because of %v", on.Name, len(failed), on.sent, failed[0])
			}
		}
	}
	slot := do(0, "CLUSTER", "KEYSLOT", sides[0].Key)
	p, err := c.Leader(t.Context(), brokers.Destination{Name: sides[0].Key})
	if err != nil {
		t.Fatal(err)
	}
	from, to := p.Leader, (p.Leader+1)%3
	pass()
	do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", do(from, "CLUSTER", "MYID"))
	do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", do(to, "CLUSTER", "MYID"))
	pass()
	host, port, _ := strings.Cut(addresses[to], ":")
	keys, err := redis.Strings(do(from, "CLUSTER", "GETKEYSINSLOT", slot, 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys { // channels are no keys
		do(from, "MIGRATE", host, port, key, 0, 5000)
		pass()
	}
	// arrived waits for all that was sent, where it is kept.
	arrived := func() {
		t.Helper()
		for _, on := range sides {
			if len(keys) > 0 {
				sessiontest.Until(t, fmt.Sprintf("all %d messages arrive through %s", on.sent, on.Name), func() bool { return on.got.Count() >= int(on.sent) })
			}
		}
	}
	arrived()
	for _, node := range []int{to, from, 3 - to - from} {
		do(node, "CLUSTER", "SETSLOT", slot, "NODE", do(to, "CLUSTER", "MYID"))
	}
	pass()
	for _, on := range sides {
		on.Flow(t)
	}
	if p, err := c.Leader(t.Context(), brokers.Destination{Name: sides[0].Key}); err != nil || p.Leader != to {
		t.Errorf("%+v, %v; want node %d", p, err, to)
	}
	arrived()
	for _, on := range sides {
		if n := on.disorder.Load(); n > 0 {
			t.Errorf("%s: %d messages are out of order, or came again", on.Name, n)
		}
	}
}
