package brokers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"sixnines/internal/thread"
)

// process says how to run one process of a product.
type process struct {
	name    string   // unique in the cluster: "kafka-2"
	command []string // the process itself, not a script that starts it: signals go to its process group
	env     []string // complete
	dir     string   // working directory
	log     string   // file that takes what it prints
	// before is called before each start, if it is not nil. Its error ends the start.
	before func(ctx context.Context) error
	// ready returns nil when the process does its work. It is called again until
	// then. Nil: a process is ready when it has started.
	ready  func(ctx context.Context) error
	detach bool // outlives this process
	// forked, if not nil, is called with the process as soon as it exists. Its error
	// ends the start.
	forked func(i *Instance) error
	// again reports whether a start that failed so may succeed when it is tried once
	// more: something of the process before has to be forgotten first. Nil: never.
	again func(err error) bool
}

// How long a start is tried again, and after what pause.
const (
	againFor   = 30 * time.Second
	againAfter = 200 * time.Millisecond
)

// startAgain is start, as often as p.again has it.
func (p process) startAgain(ctx context.Context) (*Instance, error) {
	began := time.Now()
	for {
		i, err := p.start(ctx)
		if err == nil || p.again == nil || !p.again(err) || time.Since(began) > againFor {
			return i, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(againAfter):
		}
	}
}

// start runs p and returns once it is ready. If it does not become ready, it is
// gone when start returns. The working directory and the log's are made.
func (p process) start(ctx context.Context) (*Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	for _, dir := range []string{p.dir, filepath.Dir(p.log)} {
		if dir != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, err
			}
		}
	}
	if p.before != nil {
		if err := p.before(ctx); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.env, p.dir, log, log
	cmd.SysProcAttr = attributes()
	i := &Instance{Name: p.name, Log: p.log, done: make(chan struct{})}
	if p.detach {
		cmd.SysProcAttr = detached()
	} else if i.stdin, err = cmd.StdinPipe(); err != nil {
		log.Close()
		return nil, err
	}
	started := make(chan error)
	go func() {
		// The kernel sends the parent-death signal when the thread that forked ends, not
		// when its process does: this one must last as long as the broker.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Reset()
		thread.SealDescriptors()
		err := cmd.Start()
		log.Close()
		if err != nil {
			started <- err
			return
		}
		i.PID, i.process = cmd.Process.Pid, cmd.Process
		started <- nil
		i.ended(cmd.Wait())
	}()
	if err := <-started; err != nil {
		if i.stdin != nil {
			i.stdin.Close()
		}
		return nil, fmt.Errorf("start %s: %w; check that %s exists and may be executed", p.name, err, p.command[0])
	}
	if p.forked != nil {
		if err := p.forked(i); err != nil {
			return nil, errors.Join(err, i.destroy(context.WithoutCancel(ctx)))
		}
	}
	if p.ready == nil {
		return i, nil
	}
	if err := poll(ctx, i.done, p.ready); err != nil {
		select {
		case <-i.done:
			err = fmt.Errorf("%s ended before it was ready (%s): %s", p.name, i.how(), i.lastWords())
		default:
			if why := context.Cause(ctx); why != nil && !errors.Is(why, context.DeadlineExceeded) {
				err = fmt.Errorf("%s was not ready yet: %w", p.name, why)
				break // cancelled: what it waited for no longer matters
			}
			err = fmt.Errorf("%s is not ready: %w; its log says: %s", p.name, err, i.lastWords())
		}
		return nil, errors.Join(err, i.destroy(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// logEnd is how much of a log's end, in bytes, is searched for the cause of a
// failure. What a broker prints until it has started is less.
const logEnd = 64 << 10

// lastWords returns, in one line, why the process ended by what it has printed.
func (i *Instance) lastWords() string {
	f, err := os.Open(i.Log)
	if err != nil {
		return err.Error()
	}
	defer f.Close() // read only
	if info, err := f.Stat(); err == nil {
		f.Seek(max(0, info.Size()-logEnd), io.SeekStart) // else from the beginning
	}
	said, err := io.ReadAll(io.LimitReader(f, logEnd))
	if err != nil {
		return err.Error()
	}
	return cause(string(said))
}

// pollPause is how long to wait between two looks at a broker that starts.
const pollPause = 20 * time.Millisecond

// poll calls ready until it returns nil, ended is closed or ctx ends; then it
// returns what ready said last.
func poll(ctx context.Context, ended <-chan struct{}, ready func(context.Context) error) error {
	pause := time.NewTicker(pollPause)
	defer pause.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; it last said: %w", context.Cause(ctx), err)
		case <-ended:
			return err
		case <-pause.C:
		}
	}
}
