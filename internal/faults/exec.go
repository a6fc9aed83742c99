package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/result"
	"sixnines/scenario"
)

// Kinds are what this package notes in a journal. Commands are the user's, so they are run only where somebody asks.
func Kinds() []journal.Kind {
	return []journal.Kind{{Name: commandKind, New: func() journal.Undoing { return new(undoing) }, Lasting: true, Asked: true}}
}

const commandKind = "command"

// newExec returns what runs the commands of an act. Commands from elsewhere than the user's own file are refused.
func (t *Target) newExec(a *scenario.Act) (actions.Doer, error) {
	if !a.Exec.Allowed() {
		return nil, ErrForeignCommands
	}
	x := &execute{target: t, act: a, commands: *a.Exec}
	if len(a.Exec.Undo) == 0 {
		return x, nil
	}
	return lasting{x}, nil
}

// ErrForeignCommands refuses to run commands that the user has not written into a file and named.
var ErrForeignCommands = errors.New("commands are run only from a scenario file that is named on the command line")

// execute runs commands of the user's.
type execute struct {
	target   *Target
	act      *scenario.Act
	commands scenario.Exec

	undo    *undoing       // nil: nothing undoes it
	noted   *journal.Entry // nil: no journal
	started bool           // the command may have had an effect
	ran     *result.Command
}

// Ahead implements actions.Early: how it is undone is noted on disk first.
func (x *execute) Ahead() time.Duration { return early + noting }

// Describe implements actions.Describer.
func (x *execute) Describe(e *result.Event) { e.Action.Command = x.ran }

// Do implements actions.Doer. It happened when the command started.
func (x *execute) Do(ctx context.Context, at int64) (happened int64, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	do, err := newCommand(x.commands.Do, dir, x.commands.Bound())
	if err != nil {
		return 0, err
	}
	if len(x.commands.Undo) > 0 {
		undo, err := newCommand(x.commands.Undo, dir, x.commands.Bound())
		if err != nil {
			return 0, fmt.Errorf("undo: %w", err)
		}
		x.undo = &undoing{command: undo, Action: x.act.String()}
		if j := x.target.Journal; j != nil {
			if x.noted, err = j.Note(x.act.String(), x.undo); err != nil {
				return 0, err
			}
		}
	}
	if err := until(ctx, at); err != nil {
		return 0, err
	}
	x.started = true
	x.ran, happened, err = do.run(ctx)
	if err != nil {
		return happened, fmt.Errorf("do: %w", err)
	}
	return happened, nil
}

// lasting is an execute that is undone.
type lasting struct{ *execute }

// Undo implements actions.Undoer. It happened when the command had ended.
func (x lasting) Undo(ctx context.Context) (happened int64, err error) {
	switch {
	case !x.started && x.noted != nil:
		return 0, x.noted.Erase()
	case !x.started:
		return 0, nil
	case x.noted != nil:
		err = x.noted.Undo(ctx)
	default:
		_, err = x.undo.Undo(ctx)
	}
	happened, x.ran = clock.Now(), x.undo.ran
	if err != nil {
		return happened, fmt.Errorf("undo: %w", err)
	}
	return happened, nil
}

// undoing is how an act is undone, as the journal has it.
type undoing struct {
	command
	Action string `json:"action"` // as the scenario has it, with the names of variables

	ran *result.Command
}

// Kind implements journal.Undoing.
func (*undoing) Kind() string { return commandKind }

// String implements journal.Undoing.
func (u *undoing) String() string { return "run the command undo of the action " + u.Action }

// Check implements journal.Undoing.
func (u *undoing) Check() error {
	if len(u.Args) == 0 || !filepath.IsAbs(u.Args[0]) || u.Limit <= 0 {
		return fmt.Errorf("%q, for %v at most, is not a command that sixnines has noted", u.Args, u.Limit)
	}
	return nil
}

// Undo implements journal.Undoing.
func (u *undoing) Undo(ctx context.Context) (did bool, err error) {
	u.ran, _, err = u.run(ctx)
	return true, err
}

// newCommand finds the program of a command.
func newCommand(words scenario.Command, dir string, limit time.Duration) (command, error) {
	c := command{Args: append([]string(nil), words...), Dir: dir, Limit: limit}
	path, err := exec.LookPath(c.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	c.Args[0] = path
	return c, err
}
