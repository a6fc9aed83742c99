package sixnines

import (
	"context"
	"sync/atomic"
	"time"
)

// deadline makes the contexts of one worker's requests. It reuses one context with
// a new deadline for each request, until a deadline is missed: a new context for
// each request would cost four allocations and a timer. Contexts that a request
// derives from it attach to the embedded context, which is the standard library's,
// so that they cost no goroutine. begin, end and close are called by the worker's
// goroutine only.
type deadline struct {
	parent  context.Context
	timeout time.Duration
	current *requestContext
	timer   *time.Timer
}

// requestContext is a context that is reused until it has ended.
type requestContext struct {
	context.Context
	cancel context.CancelFunc
	began  time.Time
	until  atomic.Int64 // the deadline, since began; atomic, as goroutines that a request left behind may read it
	missed atomic.Bool  // set by the timer before it cancels, so that Err sees it
}

// Deadline returns when the request's time is up.
func (c *requestContext) Deadline() (time.Time, bool) {
	return c.began.Add(time.Duration(c.until.Load())), true
}

// Err returns context.DeadlineExceeded for a missed deadline, and the parent's error
// at the run's end.
func (c *requestContext) Err() error {
	err := c.Context.Err()
	if err != nil && c.missed.Load() {
		return context.DeadlineExceeded
	}
	return err
}

func newDeadline(parent context.Context, timeout time.Duration) *deadline {
	return &deadline{parent: parent, timeout: timeout}
}

// begin returns the context of the next request.
func (d *deadline) begin() *requestContext {
	if d.current == nil {
		c := &requestContext{began: time.Now()}
		c.Context, c.cancel = context.WithCancel(d.parent)
		c.until.Store(int64(d.timeout))
		d.current = c
		d.timer = time.AfterFunc(d.timeout, func() {
			c.missed.Store(true)
			c.cancel()
		})
		return c
	}
	d.current.until.Store(int64(time.Since(d.current.began) + d.timeout))
	d.timer.Reset(d.timeout)
	return d.current
}

// end takes the context back and reports whether its deadline was missed.
func (d *deadline) end() (missed bool) {
	if d.timer.Stop() {
		return false
	}
	<-d.current.Done() // Stop came too late: the timer's function runs, and cancels
	d.current = nil
	return true
}

// close ends the context for good.
func (d *deadline) close() {
	if d.current != nil {
		d.timer.Stop()
		d.current.cancel()
		d.current = nil
	}
}
