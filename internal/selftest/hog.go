package selftest

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// HogCommand is the argument that makes this program a processor hog; its main
// then calls [ServeHog].
const HogCommand = "__selftest-hog"

// hogLimit is how long a hog runs at most.
const hogLimit = 30 * time.Second

// ServeHog keeps one thread busy until stdin ends, which it does with the
// process that started it, or for half a minute. It returns the exit code.
func ServeHog(stdin io.Reader) int {
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // an error ends it as well
		over.Store(true)
	}()
	for began := time.Now(); !over.Load() && time.Since(began) < hogLimit; {
	}
	return 0
}

// hogs keeps a processor busy with processes that have precedence over the one that
// is to be starved there, until stop is called.
func (b *Bench) hogs(ctx context.Context, count int, start func(*exec.Cmd) error) (stop func(), err error) {
	var running []*exec.Cmd
	stop = func() {
		for _, c := range running {
			_ = c.Process.Kill() // it may have ended by itself
			_ = c.Wait()         // killed
		}
		running = nil
	}
	for range count {
		c := exec.CommandContext(ctx, b.Executable, HogCommand)
		c.Env = b.Environ
		// This process keeps it open, and the system closes it at the latest when this process ends.
		_, err := c.StdinPipe()
		if err == nil {
			err = start(c)
		}
		if err != nil {
			stop()
			return nil, err
		}
		running = append(running, c)
	}
	return stop, nil
}

// errNoStarving says that processes cannot be bound to a processor here.
var errNoStarving = errors.New("this system cannot bind a process to one processor")
