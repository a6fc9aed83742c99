package vitals

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
)

// ServeIdle makes this process the idle process of a [Monitor] in another one;
// it returns when that one ends or closes the pipe. args are what the monitor
// appended to Options.Idle; stdin and stdout are the process's own, and must be
// files. It changes the whole process: one processor for Go code, no garbage
// collection.
func ServeIdle(stdin io.Reader, stdout io.Writer, args []string) error {
	period, threshold, err := parseIdleArguments(args)
	if err != nil {
		return err
	}
	in, inOK := stdin.(*os.File)
	out, outOK := stdout.(*os.File)
	if !inOK || !outOK {
		return fmt.Errorf("%w: its standard input and output must be pipes", errIdleUsage)
	}
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // the loop allocates nothing
	runtime.LockOSThread()
	// Without it the figures are some 50 µs worse, which is no reason to have none.
	_ = clock.SetTimerSlack(1)
	read, write := int(in.Fd()), int(out.Fd())
	if err := unix.SetNonblock(write, true); err != nil {
		return fmt.Errorf("vitals: idle process: standard output: %w", err)
	}
	box := newIdleOutbox(period, threshold)
	woke := clock.Now()
	for {
		// From the last wake-up, not from now: a stop between two sleeps is one, too.
		due := woke + period
		// The thread keeps its processor, which nobody else wants: giving it up
		// and taking it back doubled what the process costs (0.8 % of a core at
		// 4 ms, 1.5 % with SleepUntilStamped, on a busy 2-core virtual machine).
		clock.SleepUntil(due)
		woke = clock.Now()
		if !box.add(due, woke) {
			continue
		}
		if err := box.send(write); err != nil {
			return nil // nobody is left to be told
		}
		if gone, err := hungUp(read); gone || err != nil {
			return err
		}
	}
}

// send writes what there is without ever waiting. An error means that the
// reader is gone.
func (o *idleOutbox) send(fd int) error {
	for len(o.records) > 0 {
		n, err := unix.Write(fd, o.records)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			o.refused()
			return nil
		case err != nil:
			return err
		default:
			o.sent(n)
		}
	}
	return nil
}

// hungUp reports whether the other end of a pipe is closed.
func hungUp(fd int) (bool, error) {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(p, 0); err != nil && err != unix.EINTR {
		return false, fmt.Errorf("vitals: idle process: poll: %w", err)
	}
	return p[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0, nil
}

// idlePipe is how many bytes the pipe from the idle process should hold: minutes
// of ordinary wake-ups, for a generator that stands still. It is the most that
// an ordinary user may ask for.
const idlePipe = 1 << 20

// idleProcess is the monitor's end of an idle process.
type idleProcess struct {
	meter  *meter       // its histogram alone: the process itself has no pause list
	gap    func(Pause)  // is told of each gap
	failed func(error)  // is told, once, that there will be no more
	ending atomic.Bool  // it is we who end it
	stdin  *os.File     // kept open: the process ends when it closes
	pid    atomic.Int64 // for tests
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone and its last words are here
	done   sync.WaitGroup
}

// startIdle starts the process. On an error there is none, and failed is not
// called.
func startIdle(command []string, period, threshold int64, gap func(Pause), failed func(error)) (*idleProcess, error) {
	p := &idleProcess{meter: &meter{source: SourceIdle, period: period, threshold: threshold}, gap: gap, failed: failed, ended: make(chan struct{})}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("idle process: %w", err)
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("idle process: %w", err), childIn.Close(), stdin.Close())
	}
	p.stdin = stdin
	resize(stdout)
	words := &firstWords{}
	p.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], idleArguments(period, threshold)...)...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, words
	// Nothing there ever asks a goroutine to give way, so no signal need interrupt
	// its sleep every 10 ms: half of what it costs.
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	// A group of its own: Ctrl-Z and Ctrl-C on a terminal are for us alone.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	p.done.Go(func() {
		// The kernel sends the signal of Pdeathsig when the thread ends that
		// started the process: it must be one that stays as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended does not matter, only that
		}
		close(p.ended)
	})
	err = <-started
	_ = childIn.Close() // the process has its own
	_ = childOut.Close()
	if err != nil {
		p.done.Wait()
		return nil, errors.Join(fmt.Errorf("idle process: %w", err), stdin.Close(), stdout.Close())
	}
	p.pid.Store(int64(p.cmd.Process.Pid))
	p.done.Go(func() { p.listen(stdout, words) })
	return p, nil
}

// resize makes room in a pipe. With less, ordinary wake-ups are forgotten sooner
// while we stand still.
func resize(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, idlePipe) })
}

// listen takes the records until there are no more.
func (p *idleProcess) listen(stdout *os.File, words *firstWords) {
	defer stdout.Close()
	buffer, filled := make([]byte, 256*idleRecord), 0
	last := int64(math.MinInt64)
	for {
		n, err := stdout.Read(buffer[filled:])
		filled += n
		rest := buffer[:filled]
		for ; len(rest) >= idleRecord; rest = rest[idleRecord:] {
			due, woke := idleInstants(rest)
			if due <= last || woke < due || woke > clock.Now() {
				p.end(fmt.Errorf("idle process: a wake-up due at %d came at %d, after one due at %d", due, woke, last))
				_ = p.cmd.Process.Kill()
				return
			}
			last = due
			p.meter.hist.recordCorrected(woke-due, p.meter.period)
			if woke-due >= p.meter.threshold {
				p.gap(Pause{Start: due, End: woke, Source: SourceIdle})
			}
		}
		filled = copy(buffer, rest)
		if err != nil {
			_ = p.cmd.Process.Kill() // it tells nothing any more, whatever it does
			<-p.ended
			p.end(fmt.Errorf("idle process: it ended by itself%s", words))
			return
		}
	}
}

// end tells that there will be no more, unless we wanted it so.
func (p *idleProcess) end(why error) {
	if !p.ending.Swap(true) {
		p.failed(why)
	}
}

// sample ends an interval; ok is false if nothing was heard in it.
func (p *idleProcess) sample() (p99, most int64, ok bool) {
	p.meter.window.advance(&p.meter.hist)
	w := &p.meter.window
	if w.count == 0 {
		return 0, 0, false
	}
	return min(w.quantile(0.99), w.max), w.max, true
}

// stop ends the process and returns when it is gone.
func (p *idleProcess) stop() {
	p.ending.Store(true)
	_ = p.cmd.Process.Kill() // it may have ended already
	p.done.Wait()
	_ = p.stdin.Close()
}

// firstWords keeps the beginning of what a process says on its standard error.
type firstWords struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (w *firstWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b[:min(len(b), 200-len(w.text))]...)
	return len(b), nil
}

// String returns the first line, with ": " before it, if there is any.
func (w *firstWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, _, _ := strings.Cut(strings.TrimSpace(string(w.text)), "\n")
	if first == "" {
		return ""
	}
	return ": " + first
}
