package faults

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/thread"
	"sixnines/result"
)

// command is a program that is run to its end.
type command struct {
	Args  []string      `json:"args"` // the first is the program's path
	Dir   string        `json:"dir"`  // in which it runs
	Limit time.Duration `json:"limit"`
}

const (
	// mostOutput is how many bytes of what a command writes are kept: the last ones.
	mostOutput = 4 << 10
	// lastLines are those of its output that an error has.
	lastLines = 3
	// leftOpen is how long the output of a command is awaited that has ended and has left a process behind.
	leftOpen = 500 * time.Millisecond
)

// run runs the command to its end, and returns how it ended and when it started, CLOCK_MONOTONIC. When the limit is over, or the
// context ends, its process group is killed. An error has the status and the last lines of the output.
func (c command) run(ctx context.Context) (ran *result.Command, started int64, err error) {
	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	output := &lastBytes{}
	p := exec.CommandContext(limited, c.Args[0], c.Args[1:]...)
	p.Dir, p.Stdout, p.Stderr, p.WaitDelay = c.Dir, output, output, leftOpen
	ownGroup(p)
	p.Cancel = func() error { return killGroup(p.Process) }
	done := make(chan error, 1)
	go func() {
		// The kernel kills the process when the thread ends that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Reset()
		thread.SealDescriptors()
		started = clock.Now()
		done <- p.Run()
	}()
	err = <-done
	ran = &result.Command{Took: clock.Now() - started, Output: output.String()}
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && limited.Err() == nil:
		return ran, started, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it had not ended after %v, and was killed", c.Limit)
	}
	if lines := strings.Split(strings.TrimSpace(ran.Output), "\n"); lines[0] != "" {
		err = fmt.Errorf("%w: %s", err, strings.Join(lines[max(0, len(lines)-lastLines):], " | "))
	}
	return ran, started, err
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (w *lastBytes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	w.text = w.text[max(0, len(w.text)-mostOutput):]
	return len(b), nil
}

// String returns it as text.
func (w *lastBytes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.text), "�")
}
