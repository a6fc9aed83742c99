package stream

import (
	"errors"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/engine/plan"
)

// trial is what the broker answered to the first messages of a stream, which are no part
// of the load. The methods are safe for concurrent use.
type trial struct {
	Passed  atomic.Bool           // the broker has acknowledged one
	Refused atomic.Pointer[error] // the newest answer, if it is a refusal that may change; the setup takes it
}

// Answered takes an answer, on the client's goroutines. A refusal that will not change ends the run.
func (t *trial) Answered(c *plan.Control, err error) {
	switch {
	case err == nil:
		t.Refused.Store(nil)
		t.Passed.Store(true)
	case driver.Final(err):
		c.Refuse(fmt.Errorf("first message: %w", err))
	case errors.Is(err, driver.ErrTimeout), errors.Is(err, driver.ErrClosed),
		errors.Is(err, driver.ErrNotConnected), errors.Is(err, driver.ErrThrottled): // not refused
	default:
		t.Refused.Store(&err)
	}
}
