package brokers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"sixnines/internal/filelock"
)

// Down ends the processes of a product that [Up] started, frozen ones included. It
// identifies each process by its number and its start time, so that it never ends
// another one. With keep, the processes get 20 s to end by themselves and the data
// stay; without, they are killed and the data removed. It returns the state before.
// The error wraps [ErrNotRunning] if the product is not started.
func Down(ctx context.Context, h Home, product string, keep bool) (*State, error) {
	fail := func(s *State, err error) (*State, error) {
		return s, fmt.Errorf("brokers: stop %s: %w", product, err)
	}
	if s, err := ReadState(h, product); s == nil {
		if err == nil {
			err = ErrNotRunning
		}
		return fail(nil, err)
	}
	unlock, err := filelock.Take(h.Path("run", product+".lock"))
	if err != nil {
		return fail(nil, err)
	}
	defer unlock()
	s, err := ReadState(h, product)
	if err != nil {
		return fail(nil, err)
	}
	if s == nil {
		return fail(nil, ErrNotRunning)
	}
	if s.Condition() == Elsewhere {
		return fail(s, fmt.Errorf("it was started on %s, and can be stopped only there", s.Host))
	}
	// Nodes first: they depend on the helpers.
	for _, nodes := range []bool{true, false} {
		if err := s.endAll(ctx, nodes, keep); err != nil {
			return fail(s, err)
		}
	}
	if err := s.forget(h, keep); err != nil {
		return fail(s, err)
	}
	return s, nil
}

func (s *State) endAll(ctx context.Context, nodes, gently bool) error {
	errs := make([]error, len(s.List))
	var ending sync.WaitGroup
	for k, p := range s.List {
		if p.Node == nodes {
			ending.Go(func() { errs[k] = s.end(ctx, p, gently) })
		}
	}
	ending.Wait()
	return errors.Join(errs...)
}

// end ends a process that is not a child of this one.
func (s *State) end(ctx context.Context, p Process, gently bool) error {
	// On Linux the handle (a pidfd) refers to the process that has the number now. The
	// check of the start time comes after, so a later signal cannot reach another process.
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return nil // the process is gone
	}
	defer handle.Release()
	if !s.alive(p) {
		return nil
	}
	if gently && ctx.Err() == nil {
		thaw(handle) // a frozen process does not handle SIGTERM
		if terminate(handle) == nil && s.ended(ctx, p, stopGrace) {
			return nil
		}
	}
	// killGroup uses the number, not the handle. A stopped process cannot end by itself, so
	// its number cannot pass to another process between the check and the signal.
	handle.Signal(stopSignal())
	if s.alive(p) {
		killGroup(handle)
	}
	handle.Kill()
	if s.ended(context.WithoutCancel(ctx), p, killLimit) {
		return nil
	}
	return fmt.Errorf("%s (process %d) did not end although it was killed: it hangs in the kernel or belongs to another user; inspect it with ps", p.Name, p.PID)
}

// ended waits until the process has ended, for at most limit and until ctx ends, and
// reports whether it has.
func (s *State) ended(ctx context.Context, p Process, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return poll(ctx, nil, func(context.Context) error {
		if s.alive(p) {
			return errors.New("it is still running")
		}
		return nil
	}) == nil
}

// compareNames orders names so that "node-10" comes after "node-9".
func compareNames(a, b string) int {
	if n := cmp.Compare(len(a), len(b)); n != 0 {
		return n
	}
	return strings.Compare(a, b)
}
