package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"sixnines/internal/thread"
	"sixnines/result"
	"sixnines/scenario"
)

// Child is a run in a process of its own, which can be stopped, starved and
// killed without an effect on this process.
type Child struct {
	cmd    *exec.Cmd
	dir    string
	ended  chan struct{} // closed when the process has ended
	err    error         // of the process's end; may be read only after ended is closed
	stderr bytes.Buffer  // may be read only after ended is closed
}

// childGrace is how long a run may take to end after SIGINT.
const childGrace = 10 * time.Second

// Child runs this program with a scenario in a process of its own. The scenario
// names its broker, or lets the child start one. prepare, if not nil, may change
// the command before it is started. When ctx ends, the process gets SIGINT and,
// after 10 s, is killed.
func (b *Bench) Child(ctx context.Context, s *scenario.Scenario, prepare func(*exec.Cmd)) (*Child, error) {
	return b.child(ctx, s, prepare, startUnbound)
}

// child is [Bench.Child] with a function that starts the command.
func (b *Bench) child(ctx context.Context, s *scenario.Scenario, prepare func(*exec.Cmd), start func(*exec.Cmd) error) (*Child, error) {
	dir, err := os.MkdirTemp(b.Dir, "child-")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s) // JSON is YAML
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	c := &Child{dir: dir, ended: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, b.Executable, "run", file, "--quiet", "--out", dir)
	c.cmd.Env = b.Environ
	c.cmd.Stderr = &c.stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	c.cmd.WaitDelay = childGrace
	if prepare != nil {
		prepare(c.cmd)
	}
	if err := start(c.cmd); err != nil {
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// startUnbound starts a command with the scheduling that this program started with.
func startUnbound(c *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread.Reset()
	return c.Start()
}

// Process is the child's process.
func (c *Child) Process() *os.Process { return c.cmd.Process }

// file returns the path of the child's result, empty until it exists.
func (c *Child) file() string {
	matches, _ := filepath.Glob(filepath.Join(c.dir, "*.jsonl")) // the pattern is well formed
	if len(matches) == 0 {
		return ""
	}
	return matches[0]
}

// Measuring returns nil when the child has written the first interval of the
// measured window, or an error if the child or ctx ends before.
func (c *Child) Measuring(ctx context.Context) error {
	look := time.NewTicker(10 * time.Millisecond) // a file does not report its growth
	defer look.Stop()
	for {
		if f := c.file(); f != "" {
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			if bytes.Contains(text, []byte(`"phase":"`+result.PhaseMeasure+`"`)) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ended:
			return c.fault("it ended before anything was measured")
		case <-look.C:
		}
	}
}

// Wait waits for the child's end and returns its result, whatever its verdict. Without
// a complete result it returns an error with the child's standard error.
func (c *Child) Wait() (*result.Run, error) {
	<-c.ended
	f := c.file()
	if f == "" {
		return nil, c.fault("it left no result")
	}
	run, err := result.Load(f)
	if err != nil {
		return nil, err
	}
	if run.Summary == nil {
		return nil, c.fault("its result was cut short")
	}
	return run, nil
}

// Kill ends the child at once, if it still runs, and waits for its end.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.ended
}

// fault describes a child that failed.
func (c *Child) fault(what string) error {
	err := c.err
	if err == nil {
		err = errors.New("exit status 0")
	}
	return fmt.Errorf("a run in a process of its own: %s: %w: %s", what, err, bytes.TrimSpace(c.stderr.Bytes()))
}
