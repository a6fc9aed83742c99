package kit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
)

// The first and the longest pause between two attempts; each is twice as long as
// the one before.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 100 * time.Millisecond
)

// Await repeats an attempt that a broker cannot serve yet, because it elects a leader, loads
// its data, or has not informed all its servers. It calls attempt until it succeeds, fails
// with an error for which passes returns false, or ctx ends. In the last case the error
// begins with what, and wraps the cause of ctx and the last failure before that.
func Await(ctx context.Context, what string, passes func(error) bool, attempt func() error) error {
	var last error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := attempt()
		if err == nil {
			return nil
		}
		ended := ctx.Err()
		// An attempt that ctx has ended says nothing about the broker.
		cut := ended != nil && (errors.Is(err, ended) || errors.Is(err, context.Cause(ctx)))
		switch {
		case cut && last == nil, !cut && !passes(err):
			return err
		case !cut:
			last = err
		}
		if ended == nil {
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
			}
		}
		class := driver.ErrTimeout
		if errors.Is(ctx.Err(), context.Canceled) {
			class = driver.ErrClosed
		}
		return fmt.Errorf("%s: %w: %w; last: %w", what, class, context.Cause(ctx), last)
	}
}

// moment is how long Moment is true.
const moment = time.Second

// Moment returns a function that is true for a second: for failures that pass by
// themselves at once, if at all, and are somebody's mistake else.
func Moment() func() bool {
	end := time.Now().Add(moment)
	return func() bool { return time.Now().Before(end) }
}
