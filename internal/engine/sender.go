package engine

import (
	"context"
	"time"

	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/send"
)

// sender issues the messages of a load. There are four kinds: paced by a schedule,
// closed, which waits for answers, unpaced, and one that sends nothing. What they
// have in common, such as lanes, slots and transmit, is in send.Sending. The run's goroutine calls the
// methods: Prepare, Start and Finish at most once each, in this order.
type sender interface {
	// Prepare brings the load to where the start of its window may be fixed, and
	// returns how long before the window Start must be called.
	Prepare(ctx context.Context) (ahead time.Duration, err error)
	// Start begins to send, on goroutines of its own, and returns. The window is fixed.
	Start()
	// Finish is called once, when the window has ended. It waits for what the sender still does
	// before answers are awaited, and returns whether the run is aborted.
	Finish(aborted bool) bool
	// Mode is one of those of result.Header.Mode.
	Mode() string
}

// newSender returns what sends as the plan says.
func newSender(out *send.Sending, in *receive.Receiving) sender {
	switch {
	case out.Flow.Consumes:
		return consuming{out, in}
	case out.Flow.Listens:
		return listening{out}
	case out.Schedule != nil:
		return send.NewPaced(out)
	case out.Flow.Timed:
		return send.NewClosed(out)
	}
	return send.NewUnpaced(out, in.Warm, in.MarkWarm)
}
