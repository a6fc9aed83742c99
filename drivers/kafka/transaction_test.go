package kafka_test

import (
	"errors"
	"sync"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
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
		var done sessiontest.Counter
		p := keyed(t, s, driver.ProducerSpec{Topic: "t0", KeySize: 16}, &done)
		send(t, p, 0, 320) // the last ones are committed by Sync, or by time
		if n := done.Count(); n != 320 || errors.Join(done.Failed()...) != nil {
			t.Errorf("%d messages are done after all transactions, %v", n, errors.Join(done.Failed()...))
		}
		m.wait(t, 320)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// outcomes are the errors of Done by token.
type outcomes struct {
	mu  sync.Mutex
	err map[uint64]error
}

func (o *outcomes) Done(token uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err[token] = err
}

// testAbortedTransaction has a record of a transaction refused: the others are
// refused with it, each for its own reason, and the next transaction goes on.
func testAbortedTransaction(t *testing.T, address string) {
	s, _ := session(t, address, map[string]any{"transactions": true, "transaction_messages": 3, "transaction_interval": "1m"})
	provision(t, s, driver.Topology{Topics: []string{"t0"}})
	m, _ := consume(t, s, driver.ConsumerSpec{})
	done := &outcomes{err: map[uint64]error{}}
	p := sessiontest.Produce(t, s, done)
	for token, size := range []int{100, 4 << 20, 100} {
		if err := p.Send(uint64(token), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.(driver.Syncer).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	done.mu.Lock()
	for token, class := range []error{driver.ErrRejected, driver.ErrTooLarge, driver.ErrRejected} {
		if err := done.err[uint64(token)]; !errors.Is(err, class) {
			t.Errorf("message %d: %v, want %v", token, err, class)
		}
	}
	done.mu.Unlock()
	send(t, p, 10, 6)
	m.wait(t, 6) // and none of the first
}
