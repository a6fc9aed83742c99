// Package brokers starts, watches and stops real message brokers on this
// machine, each in a process of its own, so that it can be frozen, killed and
// weighed apart from the load generator.
//
// A broker started here cannot outlive the process that started it. It ends
// when its standard input does, which the kernel closes even for a parent that
// was killed; on Linux the kernel further kills it with its parent
// (PR_SET_PDEATHSIG), which also ends a frozen one. It sits in a process group
// of its own: a Ctrl-C meant for the generator leaves the broker alive until
// the run has drained.
package brokers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"sixnines/internal/thread"
)

// ErrUnavailable says that this operating system does not offer what was asked.
var ErrUnavailable = errors.New("not available on " + runtime.GOOS)

// launch says how to start a broker that reports itself by one JSON line on
// its standard output, see ready.
type launch struct {
	name    string
	command []string
	env     []string
	dir     string
	stderr  io.Writer
}

// ready is the line by which a broker's process says that it accepts
// connections.
type ready struct {
	URL        string `json:"url"`
	Version    string `json:"version"`
	Processors int    `json:"gomaxprocs"`
}

// maxReadyLine limits, in bytes, what is read of a process that turns out to
// be something else than a broker.
const maxReadyLine = 4096

// start runs l and returns once the broker is ready. If it does not become
// ready, its process is gone when start returns.
func start(ctx context.Context, l launch) (*Instance, error) {
	if len(l.command) == 0 {
		return nil, fmt.Errorf("brokers: start %s: no command given: name the program whose process becomes the broker", l.name)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("brokers: start %s: %w", l.name, context.Cause(ctx))
	}
	cmd := exec.Command(l.command[0], l.command[1:]...)
	cmd.Env, cmd.Dir = l.env, l.dir
	cmd.SysProcAttr = attributes()
	// Should the broker leave a child behind that holds its standard error.
	cmd.WaitDelay = time.Second
	i := &Instance{Name: l.name, Dir: l.dir, stderr: tail{forward: l.stderr}, done: make(chan struct{})}
	cmd.Stderr = &i.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("brokers: start %s: %w", l.name, err)
	}
	i.stdin = stdin
	stdout, child, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, fmt.Errorf("brokers: start %s: %w", l.name, err)
	}
	cmd.Stdout = child
	started := make(chan error)
	go func() {
		// The kernel sends the parent-death signal when the thread that forked
		// ends, not when its process does: this one must last as long as the
		// broker.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Reset()
		thread.SealDescriptors()
		err := cmd.Start()
		child.Close()
		if err != nil {
			stdin.Close()
			stdout.Close()
			started <- err
			return
		}
		i.PID, i.process = cmd.Process.Pid, cmd.Process
		started <- nil
		i.ended(cmd.Wait())
		stdout.Close()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("brokers: start %s: %w; check that %s exists and may be executed", l.name, err, l.command[0])
	}
	first := make(chan answer, 1)
	go readAnswer(stdout, first)
	select {
	case a := <-first:
		if a.err != nil {
			i.kill()
			<-i.done
			return nil, i.explain(l, a)
		}
		i.URL, i.Version, i.Processors = a.ready.URL, a.ready.Version, a.ready.Processors
		return i, nil
	case <-ctx.Done():
		i.kill()
		<-i.done
		return nil, fmt.Errorf("brokers: start %s: gave up before it was ready: %w", l.name, context.Cause(ctx))
	}
}

// explain says why the broker l did not become ready, after its process ended.
func (i *Instance) explain(l launch, a answer) error {
	if a.line != "" {
		return fmt.Errorf("brokers: start %s: %q does not serve it, for its output begins with %.80q (%w); name the program and arguments that do", l.name, l.command, a.line, a.err)
	}
	said := i.stderr.String()
	if said == "" {
		said = "it left no message; run the command by hand to see more"
	}
	return fmt.Errorf("brokers: start %s: %q ended before the broker was ready (%v): %s", l.name, l.command, i.status, said)
}

// answer is what a broker's process said first.
type answer struct {
	ready ready
	line  string // as it came, if it was not understood
	err   error
}

// readAnswer sends the first line of r, then reads on until r ends, so that
// nothing the process prints can ever block it.
func readAnswer(r io.Reader, to chan<- answer) {
	b := bufio.NewReaderSize(r, maxReadyLine)
	line, err := b.ReadSlice('\n')
	to <- parseReady(line, err)
	io.Copy(io.Discard, b)
}

// parseReady reads the line that a broker's process said first; err is the
// error that ended the line, if any.
func parseReady(line []byte, err error) answer {
	var a answer
	if err == nil {
		err = json.Unmarshal(line, &a.ready)
	}
	if err == nil && a.ready.URL == "" {
		err = errors.New("it has no url")
	}
	if err != nil {
		a = answer{line: string(line), err: err}
	}
	return a
}
