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

// Down ends the processes of a product that [Up] started, frozen ones, too, and
// none else: each is recognised by its number together with the instant it was
// made. Its data are removed unless they are to be kept; then the processes are
// asked to end, and killed only after 20 s. The state is what it was before. The
// error wraps [ErrNotRunning] if there is nothing to end.
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
	// The nodes before what they stand on.
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
	// On Linux the handle stays with the process that has the number now: what
	// comes after the comparison cannot hit another.
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return nil // no such broker
	}
	defer handle.Release()
	if !s.alive(p) {
		return nil
	}
	if gently && ctx.Err() == nil {
		thaw(handle) // a frozen one hears nothing
		if terminate(handle) == nil && s.ended(ctx, p, stopGrace) {
			return nil
		}
	}
	// One that stands still cannot end by itself and leave its number to another
	// before the signal to its group.
	handle.Signal(stopSignal())
	if s.alive(p) {
		killGroup(handle)
	}
	handle.Kill()
	if s.ended(context.WithoutCancel(ctx), p, killLimit) {
		return nil
	}
	return fmt.Errorf("%s (process %d) does not end although it was killed: it hangs in the kernel, or belongs to another user; look at it with ps", p.Name, p.PID)
}

// ended waits until the process has ended, at most for limit and until ctx ends.
func (s *State) ended(ctx context.Context, p Process, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return poll(ctx, nil, func(context.Context) error {
		if s.alive(p) {
			return errors.New("it still runs")
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
