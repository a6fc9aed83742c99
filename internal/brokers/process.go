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

	"sixnines/internal/clock"
	"sixnines/internal/thread"
)

// process says how to run one process of a product.
type process struct {
	name    string   // unique in the cluster: "kafka-2"
	command []string // of the broker itself, not of a script that starts it: signals go to it
	env     []string // complete
	dir     string   // working directory
	log     string   // the file that its output is appended to
	// before is called before each start, if it is not nil. Its error ends the start.
	before func(ctx context.Context) error
	// ready is polled until it returns nil, when the process does its work. Nil: a
	// process is ready when it has started.
	ready  func(ctx context.Context) error
	detach bool  // outlives this process
	place  place // where it runs
	// forked, if not nil, is called with the process as soon as it exists. Its error
	// ends the start.
	forked func(i *Instance) error
	// again reports whether a start that failed with err may succeed if it is repeated,
	// because the cluster still remembers the previous process. Nil: never.
	again func(err error) bool
}

// againFor is for how long a start is repeated, and againAfter the pause between attempts.
const (
	againFor   = 30 * time.Second
	againAfter = 200 * time.Millisecond
)

// startAgain is start, repeated as long as p.again reports true, for up to againFor.
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

// start runs p and returns once it is ready. If it does not become ready, start ends
// it before it returns the error. It makes the directories of the process and the log.
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
		// when the process does. So this goroutine keeps its thread until the broker has
		// ended. It writes PID and process before it sends on started, which publishes them.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Reset()
		thread.SealDescriptors()
		i.begun = clock.Now()
		err := p.place.start(cmd)
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
		return nil, fmt.Errorf("start %s: %w; check that %s exists and is executable", p.name, err, p.command[0])
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
				break // cancelled: its last answer does not matter
			}
			err = fmt.Errorf("%s is not ready: %w; its log says: %s", p.name, err, i.lastWords())
		}
		return nil, errors.Join(err, i.destroy(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// logEnd is the size of the log's end, in bytes, that is searched for the cause of a
// failure. Brokers print less than that until they have started.
const logEnd = 64 << 10

// lastWords returns the likely cause of the process's end, in one line, from its log.
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

// pollPause is the interval between two checks of a broker that starts.
const pollPause = 20 * time.Millisecond

// poll calls ready until it returns nil, ended is closed or ctx ends. In the latter
// cases it returns ready's last error, with the cause of ctx's end.
func poll(ctx context.Context, ended <-chan struct{}, ready func(context.Context) error) error {
	pause := time.NewTicker(pollPause)
	defer pause.Stop()
	for {
		err := ready(ctx)
		if err == nil || errors.Is(err, ErrSetting) { // a refused setting stays refused
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; its last message: %w", context.Cause(ctx), err)
		case <-ended:
			return err
		case <-pause.C:
		}
	}
}
