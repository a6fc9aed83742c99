package brokers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// How long Stop leaves the broker to end by itself before it insists, and how
// long the kernel may take for what cannot be refused.
const (
	stopGrace = 3 * time.Second
	termGrace = time.Second
	killLimit = 10 * time.Second
	// signalGrace is for brokers that write down what they hold.
	signalGrace = 20 * time.Second
)

// Instance is a running broker. Its fields are set when it is returned and do
// not change; its methods are safe for concurrent use.
type Instance struct {
	Name       string // the product, "nats-server"
	Version    string // the product's version, "2.15.2"
	URL        string // where clients connect, in the product's notation
	Dir        string // the process's working directory; empty: the one of its parent
	Log        string // the file with the process's output; may be empty
	PID        int    // the process
	Processors int    // the process's GOMAXPROCS; 0 if it is not a Go program

	stdin   io.Closer // nil: it outlives us
	process *os.Process
	stderr  tail
	// signalled: it is asked to end by SIGTERM; else by the end of its input.
	signalled bool
	done      chan struct{} // closed when the process has been waited for

	// How and when it ended; readable once done is closed.
	status  error
	endedAt time.Time

	mu       sync.Mutex
	stopping bool
}

// ended notes that the process is gone.
func (i *Instance) ended(status error) {
	i.status, i.endedAt = status, time.Now()
	close(i.done)
}

// Done returns a channel that is closed when the broker's process has ended,
// for whatever reason.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Err returns nil while the broker runs and after Stop; if it ended by itself,
// the way it ended and the last words of its standard error.
func (i *Instance) Err() error {
	select {
	case <-i.done:
	default:
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopping {
		return nil
	}
	return fmt.Errorf("brokers: %s (process %d) ended by itself: %s: %s", i.Name, i.PID, i.how(), i.lastWords())
}

// how says in what way the process ended, which it must have.
func (i *Instance) how() string {
	if i.status == nil {
		return "exit status 0"
	}
	return i.status.Error()
}

// Stop ends the broker, frozen or not, and returns when its process is gone.
// A server of [StartNATS] is asked to shut down by the end of its standard
// input; where that does not help in 3 s it gets SIGTERM, and 1 s later or as
// soon as ctx ends SIGKILL. Others get SIGTERM at once, and have 20 s. How it
// had to be ended is no error. Stopping twice is allowed.
func (i *Instance) Stop(ctx context.Context) error {
	i.mu.Lock()
	i.stopping = true
	i.mu.Unlock()
	if i.signalled {
		return i.stopBySignal(ctx)
	}
	i.stdin.Close()
	// A frozen process reads nothing, not even the end of its input.
	if err := thaw(i.process); err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, os.ErrProcessDone) {
		i.kill()
	}
	if i.gone(ctx, stopGrace) {
		return nil
	}
	if ctx.Err() == nil && terminate(i.process) == nil && i.gone(ctx, termGrace) {
		return nil
	}
	return i.destroy(ctx)
}

// stopBySignal is Stop for a process that knows what SIGTERM means.
func (i *Instance) stopBySignal(ctx context.Context) error {
	select {
	case <-i.done: // its number may already be somebody else's
		return nil
	default:
	}
	thaw(i.process) // a frozen one hears nothing; that there is no such thing here is no matter
	if ctx.Err() == nil && terminate(i.process) == nil && i.gone(ctx, signalGrace) {
		i.closeInput()
		return nil
	}
	return i.destroy(ctx)
}

// destroy kills the process and all of its group, and waits until it is gone.
func (i *Instance) destroy(ctx context.Context) error {
	i.mu.Lock()
	i.stopping = true
	i.mu.Unlock()
	defer i.closeInput()
	select {
	case <-i.done:
		return nil
	default:
	}
	i.kill()
	if i.gone(context.WithoutCancel(ctx), killLimit) {
		return nil
	}
	return fmt.Errorf("brokers: %s (process %d) does not end although it was killed: it hangs in the kernel; look at it with ps", i.Name, i.PID)
}

func (i *Instance) closeInput() {
	if i.stdin != nil {
		i.stdin.Close()
	}
}

// gone waits for the end of the process, at most for limit and until ctx ends,
// and reports whether it came.
func (i *Instance) gone(ctx context.Context, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-i.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// kill ends the process without asking it. That it may be gone already is the
// only way to fail.
func (i *Instance) kill() {
	killGroup(i.process)
	i.process.Kill()
}

// Freeze stops the broker's process where it stands (SIGSTOP): its connections
// stay open and unserved. On Linux it returns when every thread of
// the process has come to rest, and fails if that takes more than a second.
// Freezing twice is allowed. On Windows it returns an error that wraps
// [ErrUnavailable].
func (i *Instance) Freeze() error {
	if err := freeze(i.process); err != nil {
		return fmt.Errorf("brokers: freeze %s (process %d): %w", i.Name, i.PID, err)
	}
	return nil
}

// Thaw lets a frozen broker go on (SIGCONT). Thawing one that is not frozen
// does nothing. On Windows it returns an error that wraps [ErrUnavailable].
func (i *Instance) Thaw() error {
	if err := thaw(i.process); err != nil {
		return fmt.Errorf("brokers: thaw %s (process %d): %w", i.Name, i.PID, err)
	}
	return nil
}
