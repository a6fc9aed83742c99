package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sixnines/internal/pid"
)

// Kinds are the kinds that concern processes. Other packages have their own.
func Kinds() []Kind {
	return []Kind{
		{Name: continueKind, New: func() Undoing { return new(Continue) }},
		{Name: endKind, New: func() Undoing { return new(End) }},
	}
}

const (
	continueKind = "continue"
	endKind      = "end"
)

// Process is a process that Sixnines started.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // see pid.Start
	Name  string `json:"name"`  // for people
}

// ProcessOf returns the process with the number, which must live.
func ProcessOf(number int, name string) (Process, error) {
	start, err := pid.Start(number)
	return Process{number, start, name}, err
}

// Check refuses numbers that mean more than one process, and those of the system.
func (p Process) Check() error {
	if p.PID <= 1 || p.Start == "" || p.PID == os.Getpid() {
		return fmt.Errorf("process %d, made at %q, cannot be one that sixnines has started", p.PID, p.Start)
	}
	return nil
}

func (p Process) String() string { return fmt.Sprintf("process %d (%s)", p.PID, p.Name) }

// signal calls send with a handle of the process, unless it is gone; ok reports whether it was there.
func (p Process) signal(send func(*os.Process) error) (ok bool, err error) {
	// On Linux the handle (a pidfd) refers to the process that has the number now. The check of the start
	// comes after, so the signal cannot reach another process.
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return false, nil // it is gone
	}
	defer handle.Release()
	if !pid.Alive(p.PID, p.Start) {
		return false, nil
	}
	if err := send(handle); errors.Is(err, os.ErrProcessDone) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// Continue continues a process that is stopped (SIGSTOP).
type Continue struct{ Process }

// Kind is the name of the kind.
func (*Continue) Kind() string { return continueKind }

func (c *Continue) String() string { return "continue " + c.Process.String() }

// Undo sends SIGCONT, which does nothing to a process that runs.
func (c *Continue) Undo(context.Context) (did bool, err error) { return c.signal(resume) }

// End kills a process, stopped or not.
type End struct{ Process }

// Kind is the name of the kind.
func (*End) Kind() string { return endKind }

func (e *End) String() string { return "end " + e.Process.String() }

// Undo sends SIGKILL and waits until the process is gone.
func (e *End) Undo(ctx context.Context) (did bool, err error) {
	did, err = e.signal((*os.Process).Kill)
	for did && pid.Alive(e.PID, e.Start) {
		select {
		case <-ctx.Done():
			return true, fmt.Errorf("it does not end although it was killed: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return did, err
}
