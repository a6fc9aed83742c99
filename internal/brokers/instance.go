package brokers

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// stopGrace is how long Stop waits for the broker to end by itself, as it may have to write
// its data, and killLimit how long the kernel may take to end a killed process.
const (
	stopGrace = 20 * time.Second
	killLimit = 10 * time.Second
)

// Instance is a process of a broker. Its exported fields do not change; its
// methods are safe for concurrent use.
type Instance struct {
	Name string // unique in the cluster: "nats-1"
	Log  string // the file with the process's output
	PID  int    // the process

	begun   int64     // just before the process was started, CLOCK_MONOTONIC
	stdin   io.Closer // nil: the process is detached
	process *os.Process
	done    chan struct{} // closed when the process has been waited for

	// How and when it ended. Written before done is closed, and to be read only after.
	status  error
	endedAt time.Time

	mu       sync.Mutex // guards the fields below
	stopping bool       // we end it: the end is no failure
	frozen   bool       // by Freeze
}

// ended records the end of the process. The goroutine that waits for it calls it once.
func (i *Instance) ended(status error) {
	i.status, i.endedAt = status, time.Now()
	close(i.done)
}

// Done returns a channel that is closed when the broker's process has ended,
// for whatever reason.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Err returns nil while the broker runs and if we ended it. If it ended by itself,
// the error has its exit status and the likely cause from its log.
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
	return fmt.Errorf("brokers: %s (process %d) ended unexpectedly: %s: %s", i.Name, i.PID, i.how(), i.lastWords())
}

// how describes how the process ended. done must be closed.
func (i *Instance) how() string {
	if i.status == nil {
		return "exit status 0"
	}
	return i.status.Error()
}

// Stop ends the broker, frozen or not, by SIGTERM, and returns when its process is gone.
// After 20 s, or as soon as ctx ends, it sends SIGKILL. It returns an error only if the
// process does not end even then. Stopping twice is allowed.
func (i *Instance) Stop(ctx context.Context) error {
	if !i.endsByUs() {
		return nil
	}
	if ctx.Err() == nil && i.terminate() == nil && i.gone(ctx, stopGrace) {
		i.closeInput()
		return nil
	}
	return i.destroy(ctx)
}

// endsByUs records that the end of the process that is to come is ours. It returns false if the
// process has ended already: then its number may be another process's.
func (i *Instance) endsByUs() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over() {
		return false
	}
	i.stopping = true
	return true
}

// terminate sends SIGTERM, and continues a frozen process, which would not handle it. Systems
// without freezing return an error for that, which does not matter.
func (i *Instance) terminate() error {
	thaw(i.process)
	return terminate(i.process)
}

// destroy kills the process and all of its group, and waits until it is gone.
func (i *Instance) destroy(ctx context.Context) error {
	defer i.closeInput()
	if !i.endsByUs() {
		return nil
	}
	i.kill()
	return i.killed(ctx)
}

// killed waits until the process, which was sent SIGKILL, is gone.
func (i *Instance) killed(ctx context.Context) error {
	if i.gone(context.WithoutCancel(ctx), killLimit) {
		return nil
	}
	return fmt.Errorf("brokers: %s (process %d) did not end although it was killed: it hangs in the kernel; inspect it with ps", i.Name, i.PID)
}

func (i *Instance) closeInput() {
	if i.stdin != nil {
		i.stdin.Close()
	}
}

// gone waits for the end of the process, for at most limit and until ctx ends,
// and reports whether it has ended.
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

// kill sends SIGKILL to the process and its group. It fails only if the process is
// already gone.
func (i *Instance) kill() {
	killGroup(i.process)
	i.process.Kill()
}

// Freeze stops the broker's process (SIGSTOP): its connections stay open and
// unserved. On Linux it returns when every thread of the process has stopped, and
// fails if that takes more than a second. Freezing twice is allowed. On Windows it
// returns an error that wraps [ErrUnavailable].
func (i *Instance) Freeze() error {
	if err := freeze(i.process); err != nil {
		return i.failed("freeze", err)
	}
	return i.rest()
}

// rest waits until every thread has stopped, after freeze.
func (i *Instance) rest() error {
	if err := awaitFrozen(i.process); err != nil {
		return i.failed("freeze", err)
	}
	i.freezes(true)
	return nil
}

// Thaw continues a frozen broker (SIGCONT). It does nothing to one that is not
// frozen. On Windows it returns an error that wraps [ErrUnavailable].
func (i *Instance) Thaw() error {
	if err := thaw(i.process); err != nil {
		return i.failed("thaw", err)
	}
	i.freezes(false)
	return nil
}

// freezes records whether the process is frozen.
func (i *Instance) freezes(frozen bool) {
	i.mu.Lock()
	i.frozen = frozen
	i.mu.Unlock()
}

func (i *Instance) failed(what string, err error) error {
	return fmt.Errorf("brokers: %s %s (process %d): %w", what, i.Name, i.PID, err)
}
