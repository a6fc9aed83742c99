package redisstreams_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// TestMessagesDoNotAllocate counts allocations of sender, of the reader of
// answers and of the consumer, which acknowledges, together.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := resptest.Start(t, brokers.Options{})
	for name, batch := range map[string]bool{"paced": false, "batch": true} {
		for _, group := range []string{"", "g0"} {
			s := open(t, driver.Target{URL: c.URL, Batch: batch})
			provision(t, s, "g0")
			var acks, got sessiontest.Counter
			sessiontest.Consume(t, s, driver.ConsumerSpec{Group: group}, got.Deliver)
			n := sessiontest.Allocations(t, sessiontest.Produce(t, s, &acks), &acks, &got, 100)
			if n > 3 { // of the runtime's own
				t.Errorf("%s, group %q: %v allocations for each 100 messages", name, group, n)
			}
			if err := s.Deprovision(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
