package kafka_test

import (
	"testing"

	"sixnines/driver"
)

func testTransactions(t *testing.T, address string) {
	for _, options := range []map[string]any{
		{"transactions": true, "transaction_messages": 50, "transaction_interval": "1m"},
		{"transactions": true, "transaction_interval": "5ms"},
	} {
		s, _ := session(t, address, options)
		sem := provision(t, s, driver.Topology{Topics: []string{"t0"}})
		if sem.Settings["isolation"] != "read_committed" || sem.Delivery != "exactly once" {
			t.Errorf("isolation %q, delivery %q", sem.Settings["isolation"], sem.Delivery)
		}
		m, _ := consume(t, s, driver.ConsumerSpec{})
		var done counter
		p := producerOf(t, s, &done)
		send(t, p, 0, 320) // the last ones are committed by Sync, or by time
		if n := done.n.Load(); n != 320 || done.err() != nil {
			t.Errorf("%d messages are done after all transactions, %v", n, done.err())
		}
		m.wait(t, 320)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
