package rabbitmq_test

import (
	"fmt"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
)

// broker is a RabbitMQ of the test's own.
type broker struct{ *brokers.Cluster }

// open opens a session in the run "test".
func (b *broker) open(t *testing.T, options map[string]any, notify func(driver.Event)) driver.Session {
	t.Helper()
	return sessiontest.Open(t, rabbitmq.Entry().Driver, driver.Target{URL: b.URL, Options: with(options), Notify: notify})
}

// send sends n messages, and flushes.
func send(t *testing.T, p driver.Producer, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if err := p.Send(uint64(i), []byte(fmt.Sprintf("message %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if f, ok := p.(driver.Flusher); ok {
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}
