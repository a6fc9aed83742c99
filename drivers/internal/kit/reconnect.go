package kit

import (
	"context"
	"errors"
	"time"

	"sixnines/driver"
)

const (
	// mostRefusals is how often in a row a broker may refuse a login, or hang up on what
	// the user may not do, before nothing more is tried: brokers and directories lock
	// accounts for more.
	mostRefusals = 5
	// refusalPause is the pause after the first of them, at least; each of the following
	// is twice as long.
	refusalPause = 200 * time.Millisecond
)

// Refusals counts in a row how often a broker has refused who connects or what it was
// asked for: errors of class driver.ErrUnauthorized. The zero value has counted none.
type Refusals struct{ n int }

// Add counts err, and returns how long to wait before the next attempt where the usual
// pause is as given; false: no pause.
func (r *Refusals) Add(err error, usual time.Duration) (pause time.Duration, again bool) {
	if !errors.Is(err, driver.ErrUnauthorized) {
		return usual, true
	}
	r.n++
	return max(usual, refusalPause) << (r.n - 1), r.n < mostRefusals
}

// Reset forgets them: the broker has taken for some time what it was asked for.
func (r *Refusals) Reset() { r.n = 0 }

// Reconnect calls connect until that succeeds, at once and then with a pause
// after each failure. It ends with an error when ctx has ended, or when the broker has
// refused so often that asking again would do harm, see Refusals: then with its last
// answer, of class driver.ErrUnauthorized. refused counts on from what it has.
//
// A broker that is away is no news, one that refuses is: tell is called with
// errors of other classes than driver.ErrNotConnected, again only when the text
// has changed.
func Reconnect[W any](ctx context.Context, pause time.Duration, refused *Refusals, connect func(context.Context) (W, error), tell func(error)) (W, error) {
	var none W
	wait := time.NewTimer(0)
	defer wait.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-wait.C:
		}
		w, err := connect(ctx)
		if err == nil {
			return w, nil
		}
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		next, again := refused.Add(err, pause)
		if !again {
			return none, err
		}
		away := errors.Is(err, driver.ErrNotConnected) && !errors.Is(err, driver.ErrUnauthorized)
		if !away && err.Error() != said {
			said = err.Error()
			tell(err)
		}
		wait.Reset(next)
	}
}
