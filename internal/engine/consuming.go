package engine

import (
	"context"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/send"
	"sixnines/result"
)

const (
	// emptyLook is how often a load that only consumes checks whether it is done. The broker's
	// answer that it has no more counts if nothing has come for emptyAfter.
	emptyLook  = 20 * time.Millisecond
	emptyAfter = 500 * time.Millisecond
)

// consuming sends nothing: the load has consumers only, of what earlier runs left.
// Its window ends when as many messages have come as were asked for, or when the
// broker says that it has no more, or when its time is over.
type consuming struct {
	*send.Sending
	receiving *receive.Receiving
}

// Mode is that of result.Header.Mode.
func (c consuming) Mode() string { return result.ModeConsume }

// Prepare: there is nothing to warm up.
func (c consuming) Prepare(context.Context) (ahead time.Duration, err error) { return 0, nil }

// Finish: no send is under way.
func (c consuming) Finish(aborted bool) bool { return aborted }

// Start starts a goroutine that ends the window when the load is done.
func (c consuming) Start() {
	c.Senders.Go(func() {
		for c.SleepUntil(clock.Now()+int64(emptyLook)) && clock.Now() < c.End.Load() && !c.enough() && !c.empty() {
		}
		c.EndBy(clock.Now())
		c.Past.Store(int64(c.Several))
		c.SignalPast()
	})
}

// enough reports whether the number of messages that was asked for has come.
func (c consuming) enough() bool {
	var n int64
	for _, k := range c.receiving.Consumers {
		n += k.Earlier.Load()
	}
	most := int64(c.Workload.Messages)
	return most > 0 && n >= most
}

// empty reports whether the broker has answered, after the last message had come, that
// it has no more, and nothing has come for emptyAfter or twice the time of a consumer's work.
func (c consuming) empty() bool {
	start := c.Plan.Start.Load()
	newest := max(start, c.receiving.Earlier.Last.Load())
	depth := c.receiving.Depth.Last.Load()
	return depth != nil && depth.Messages == 0 && start+depth.At > newest &&
		clock.Now()-newest > int64(max(emptyAfter, 2*c.Workload.Consumer.Work))
}
