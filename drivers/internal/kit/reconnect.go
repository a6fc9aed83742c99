package kit

import (
	"context"
	"errors"
	"time"

	"sixnines/driver"
)

// Reconnect calls connect until that succeeds, at once and then with a pause
// after each failure. It gives up, and returns false, when ctx has ended.
//
// A broker that is away is no news, one that refuses is: tell is called with
// errors of other classes than driver.ErrNotConnected, again only when the text
// has changed.
func Reconnect[W any](ctx context.Context, pause time.Duration, connect func(context.Context) (W, error), tell func(error)) (W, bool) {
	var none W
	wait := time.NewTimer(0)
	defer wait.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return none, false
		case <-wait.C:
		}
		w, err := connect(ctx)
		if err == nil {
			return w, true
		}
		if ctx.Err() != nil {
			return none, false
		}
		if !errors.Is(err, driver.ErrNotConnected) && err.Error() != said {
			said = err.Error()
			tell(err)
		}
		wait.Reset(pause)
	}
}
