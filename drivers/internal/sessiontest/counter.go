package sessiontest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
)

// Counter counts acknowledgements, as a driver.Acks, or deliveries, by its
// Deliver. It is safe for concurrent use, and neither locks nor allocates unless
// a send fails. The zero value counts from 0.
type Counter struct {
	n atomic.Int64

	mu     sync.Mutex
	failed []error
}

// Done implements driver.Acks.
func (c *Counter) Done(_ uint64, err error) {
	if err != nil {
		c.mu.Lock()
		c.failed = append(c.failed, err)
		c.mu.Unlock()
	}
	c.n.Add(1)
}

// Deliver is a driver.Deliver.
func (c *Counter) Deliver(driver.Message) { c.n.Add(1) }

// Count returns how many there have been.
func (c *Counter) Count() int { return int(c.n.Load()) }

// Failed returns the failures among them, or nil.
func (c *Counter) Failed() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failed)
}

// Await waits until there have been n, and returns the failures among them.
func (c *Counter) Await(t testing.TB, n int) []error {
	t.Helper()
	if !comes(func() bool { return c.Count() >= n }) {
		t.Fatalf("%d of %d have come", c.Count(), n)
	}
	return c.Failed()
}

// Until waits for what something else brings about, and ends the test if that does not come.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !comes(holds) {
		t.Fatal("waited in vain for " + what)
	}
}

// comes reports whether a condition holds in time.
func comes(holds func() bool) bool {
	for limit := time.Now().Add(Patience); !holds(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(limit) {
			return false
		}
	}
	return true
}
