package engine

import (
	"context"
	"time"
)

// sender issues the messages of a load. There are three: paced by a schedule,
// closed, which waits for answers, and flat out. What they have in common, such as
// lanes, slots and transmit, is the load's.
type sender interface {
	// prepare brings the load to where the start of its window may be fixed, and
	// returns how long before the window start is to be called.
	prepare(ctx context.Context) (ahead time.Duration, err error)
	// start begins to send. The window is fixed.
	start()
	// finish is called once, when the window has ended, and returns whether the run
	// is aborted: it waits for what the sender does before answers are awaited.
	finish(aborted bool) bool
	// mode is one of those of result.Header.Mode.
	mode() string
}

// chooseSender decides how the load is sent.
func (ld *load) chooseSender() {
	switch {
	case ld.schedule != nil:
		ld.sender, ld.several = paced{ld}, ld.laneCount()
	case ld.timed:
		ld.sender, ld.several = closed{ld}, ld.workload.Producers
	default:
		ld.sender, ld.several = &flatOut{load: ld, done: make(chan struct{})}, ld.laneCount()
	}
}
