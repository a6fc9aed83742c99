package selftest

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// HogCommand is the argument with which this program runs as a processor hog: its main
// then calls [ServeHog].
const HogCommand = "__selftest-hog"

// hogLimit is how long a hog runs at most.
const hogLimit = 30 * time.Second

// ServeHog keeps one thread busy until stdin ends, as it does when the parent
// process ends, but for at most half a minute. It returns the exit code.
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

// hogs starts count hog processes with start, which binds them to the processor of the
// process to be starved. They run until stop is called; stop may be called again.
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
		// The pipe stays open until this process ends, at the latest; the hog then ends.
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
