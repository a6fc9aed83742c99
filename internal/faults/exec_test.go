//go:build unix

package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/result"
	"sixnines/scenario"
)

// commands returns what does an action with commands in a directory, which they find in the variable D.
func commands(t *testing.T, text string) (doer actions.Doer, j *journal.Journal, dir, undo string) {
	t.Helper()
	dir, undo = t.TempDir(), t.TempDir()
	t.Setenv("D", dir)
	s, err := scenario.Parse("x.yaml", []byte("actions: ["+text+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.AllowExec()
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	j = journal.New(undo)
	if doer, err = (&Target{Journal: j}).Doer(&s.Acts()[0]); err != nil {
		t.Fatal(err)
	}
	return doer, j, dir, undo
}

// wrote returns what commands have written into a file.
func wrote(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(b)), " ")
}

// left returns how many files of journals remain when the journal is closed.
func left(t *testing.T, j *journal.Journal, undo string) int {
	t.Helper()
	_ = j.Close(t.Context())
	files, err := filepath.Glob(filepath.Join(undo, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func script(text string) string { return `[sh, -c, "` + text + `"]` }

// An action's command runs at its instant and the other one undoes it; the events have what they wrote.
func TestExecIsDoneAndUndone(t *testing.T) {
	doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: "+script("echo do >>$D/log; echo parted")+", undo: "+script("echo undo >>$D/log; echo whole")+"}, for: 1s}")
	at := clock.Now() + int64(400*time.Millisecond)
	began, err := doer.Do(t.Context(), at)
	if err != nil || began < at || wrote(t, dir) != "do" {
		t.Fatalf("%v, %v after its instant: %q", err, time.Duration(began-at), wrote(t, dir))
	}
	var did, over result.Event
	did.Action, over.Action = &result.Acted{}, &result.Acted{}
	doer.(actions.Describer).Describe(&did)
	ended, err := doer.(actions.Undoer).Undo(t.Context())
	doer.(actions.Describer).Describe(&over)
	if err != nil || ended <= began || wrote(t, dir) != "do undo" {
		t.Errorf("%v: %q", err, wrote(t, dir))
	}
	if c := did.Action.Command; c == nil || c.Output != "parted\n" || c.Took <= 0 {
		t.Errorf("do: %+v", c)
	}
	if c := over.Action.Command; c == nil || c.Output != "whole\n" {
		t.Errorf("undo: %+v", c)
	}
	if n := left(t, j, undo); n != 0 || wrote(t, dir) != "do undo" {
		t.Errorf("%d journals are left, and the commands wrote %q", n, wrote(t, dir))
	}
}

// What is not to be undone is no Undoer: nothing waits for its end.
func TestExecWithoutUndo(t *testing.T) {
	doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: "+script("echo do >>$D/log")+"}}")
	if _, is := doer.(actions.Undoer); is {
		t.Error("it is undone")
	}
	if _, err := doer.Do(t.Context(), clock.Now()); err != nil || wrote(t, dir) != "do" || left(t, j, undo) != 0 {
		t.Errorf("%v: %q", err, wrote(t, dir))
	}
}

// A command that fails says how and what it wrote at last. What it may have done is undone.
func TestExecFails(t *testing.T) {
	doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: "+script("echo do >>$D/log; seq 9; echo no such rule >&2; exit 3")+", undo: "+script("echo undo >>$D/log")+"}, for: 1s}")
	_, err := doer.Do(t.Context(), clock.Now())
	if err == nil || err.Error() != "do: exit status 3: 8 | 9 | no such rule" {
		t.Errorf("%v", err)
	}
	if _, err := doer.(actions.Undoer).Undo(t.Context()); err != nil || wrote(t, dir) != "do undo" || left(t, j, undo) != 0 {
		t.Errorf("%v: %q", err, wrote(t, dir))
	}
}

// An undo that fails is tried again when the process ends, and then kept: later processes name it, and run it only
// if they are asked to.
func TestExecUndoFails(t *testing.T) {
	doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: [\"true\"], undo: "+script("echo undo >>$D/log; test -e $D/mended")+"}, for: 1s}")
	if _, err := doer.Do(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := doer.(actions.Undoer).Undo(t.Context()); err == nil || err.Error() != "undo: exit status 1" {
		t.Errorf("%v", err)
	}
	if n := left(t, j, undo); n != 1 || wrote(t, dir) != "undo undo" {
		t.Errorf("%d journals are left: %q", n, wrote(t, dir))
	}
	if err := os.WriteFile(filepath.Join(dir, "mended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := journal.Recover(t.Context(), undo, Kinds())
	if err != nil || len(found) != 1 || found[0].State != journal.ToUndo || !found[0].Asked || !strings.Contains(found[0].Text, "test -e $D/mended") || wrote(t, dir) != "undo undo" {
		t.Fatalf("%v: %+v, and the commands wrote %q", err, found, wrote(t, dir))
	}
	asked := Kinds()
	asked[0].Asked = false
	found, err = journal.Recover(t.Context(), undo, asked)
	if err != nil || len(found) != 1 || found[0].State != journal.Undone || wrote(t, dir) != "undo undo undo" || left(t, j, undo) != 0 {
		t.Errorf("%v: %+v, and the commands wrote %q", err, found, wrote(t, dir))
	}
}

// A command that takes too long is killed with what it has started; so is one whose act is to be undone.
func TestExecIsBounded(t *testing.T) {
	for name, limit := range map[string]string{"limit": "300ms", "interrupted": "20s"} {
		t.Run(name, func(t *testing.T) {
			doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: "+script("sleep 60 & echo $! >$D/log; wait")+", undo: [\"true\"], limit: "+limit+"}, for: 1s}")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "interrupted" {
				go func() {
					for wrote(t, dir) == "" {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			_, err := doer.Do(ctx, clock.Now())
			if name == "interrupted" != errors.Is(err, context.Canceled) || err == nil {
				t.Errorf("%v", err)
			}
			if name == "limit" && !strings.Contains(err.Error(), "it had not ended after 300ms, and was killed") {
				t.Errorf("%v", err)
			}
			child := wrote(t, dir)
			for range 500 { // it takes a moment until the child is reaped
				if b, err := os.ReadFile("/proc/" + child + "/stat"); err != nil || strings.Contains(string(b), ") Z ") {
					child = ""
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if child != "" {
				t.Errorf("process %s goes on", child)
			}
			if _, err := doer.(actions.Undoer).Undo(t.Context()); err != nil || left(t, j, undo) != 0 {
				t.Errorf("%v", err)
			}
		})
	}
}

// What was not begun is not undone.
func TestExecThatDidNotHappen(t *testing.T) {
	doer, j, dir, undo := commands(t, "{at: 1s, exec: {do: "+script("echo do >>$D/log")+", undo: "+script("echo undo >>$D/log")+"}, for: 1s}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := doer.Do(ctx, clock.Now()+int64(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := doer.(actions.Undoer).Undo(t.Context()); err != nil || wrote(t, dir) != "" || left(t, j, undo) != 0 {
		t.Errorf("%v: %q", err, wrote(t, dir))
	}
	doer, _, _, _ = commands(t, "{at: 1s, exec: {do: no-such-program-here}}")
	if _, err := doer.Do(t.Context(), clock.Now()); err == nil || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("%v", err)
	}
}

// Commands that were not written into the user's own file are refused.
func TestExecOfOthers(t *testing.T) {
	s, err := scenario.Parse("x.yaml", []byte("actions: [{at: 1s, exec: {do: id}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if d, err := (&Target{}).Doer(&s.Acts()[0]); !errors.Is(err, ErrForeignCommands) || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}
