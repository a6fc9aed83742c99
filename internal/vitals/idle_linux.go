package vitals

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"sixnines/internal/child"
	"sixnines/internal/clock"
	"sixnines/result"
)

// ServeIdle runs this process as the idle process of a [Monitor] in another
// process. It returns nil when that one ends or closes the pipe, else an error.
// args are what the monitor appended to Options.Idle; stdin and stdout are the
// process's own, and must be files. It changes the whole process: one processor
// for Go code, no garbage collection.
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
	// If it fails, the figures are some 50 µs worse, but still useful.
	_ = clock.SetTimerSlack(1)
	read, write := int(in.Fd()), int(out.Fd())
	if err := unix.SetNonblock(write, true); err != nil {
		return fmt.Errorf("vitals: idle process: standard output: %w", err)
	}
	box := newIdleOutbox(period, threshold)
	woke := clock.Now()
	for {
		// Measured from the last wake-up: a pause between two sleeps counts, too.
		due := woke + period
		// The thread keeps its processor (P), which no other goroutine needs: releasing
		// and acquiring it doubled the cost of the process (0.8 % of a core at 4 ms,
		// 1.5 % with SleepUntilStamped, on a busy 2-core virtual machine).
		clock.SleepUntil(due)
		woke = clock.Now()
		if !box.add(due, woke) {
			continue
		}
		if err := box.send(write); err != nil {
			return nil // the reader has ended
		}
		if gone, err := hungUp(read); gone || err != nil {
			return err
		}
	}
}

// send writes the records without ever blocking. An error means that the reader
// has ended.
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

// idlePipe is the wanted capacity of the pipe from the idle process, in bytes: more than
// a minute of ordinary wake-ups while the generator is paused. It is the largest that an
// ordinary user may set.
const idlePipe = 1 << 20

// idleProcess is the monitor's end of an idle process.
type idleProcess struct {
	meter          *meter         // only its histogram, window, period and threshold are used
	gap            func(Pause)    // called by listen with each gap
	failed         func(error)    // called by listen, at most once, when no more records will come
	ending         atomic.Bool    // set by stop, or when failed is called
	*child.Process                // its input stays open: the process ends when it is closed
	done           sync.WaitGroup // the goroutine of listen
}

// startIdle starts the process. On an error no process runs, and failed is not
// called.
func startIdle(command []string, period, threshold int64, gap func(Pause), failed func(error)) (*idleProcess, error) {
	p := &idleProcess{meter: &meter{source: result.PauseIdle, period: period, threshold: threshold}, gap: gap, failed: failed}
	var err error
	p.Process, err = child.Start(child.Options{
		Command: append(command[:len(command):len(command)], idleArguments(period, threshold)...),
		// The process never needs to preempt its goroutine. Without the preemption
		// signal, which would interrupt the sleep every 10 ms, it costs half as much.
		Env:  []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1"},
		Kill: true})
	if err != nil {
		return nil, fmt.Errorf("idle process: %w", err)
	}
	resize(p.Out)
	p.done.Go(p.listen)
	return p, nil
}

// resize enlarges a pipe. If that fails, ordinary wake-ups are dropped sooner while the
// generator is paused.
func resize(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, idlePipe) })
}

// listen reads records until the pipe ends. It runs on its own goroutine, the only one that
// records in the meter's histogram. It must not take Monitor.mu, see Monitor.
func (p *idleProcess) listen() {
	defer p.Out.Close()
	buffer, filled := make([]byte, 256*idleRecord), 0
	last := int64(math.MinInt64)
	for {
		n, err := p.Out.Read(buffer[filled:])
		filled += n
		rest := buffer[:filled]
		for ; len(rest) >= idleRecord; rest = rest[idleRecord:] {
			due, woke := idleInstants(rest)
			if due <= last || woke < due || woke > clock.Now() {
				p.end(fmt.Errorf("idle process: a wake-up due at %d came at %d, after one due at %d", due, woke, last))
				p.Kill()
				return
			}
			last = due
			p.meter.hist.recordCorrected(woke-due, p.meter.period)
			if woke-due >= p.meter.threshold {
				p.gap(Pause{Start: due, End: woke, Source: result.PauseIdle})
			}
		}
		filled = copy(buffer, rest)
		if err != nil {
			p.Kill() // it may still run; without its pipe it is of no use
			p.end(fmt.Errorf("idle process: it ended unexpectedly: %s", p.Why()))
			return
		}
	}
}

// end reports once that no more records will come, unless stop was called before.
func (p *idleProcess) end(why error) {
	if !p.ending.Swap(true) {
		p.failed(why)
	}
}

// sample ends an interval and returns its 99th percentile and maximum, ns; ok is false
// if no record came in it. The caller holds Monitor.mu.
func (p *idleProcess) sample() (p99, most int64, ok bool) {
	p.meter.window.advance(&p.meter.hist)
	w := &p.meter.window
	if w.count == 0 {
		return 0, 0, false
	}
	return min(w.quantile(0.99), w.max), w.max, true
}

// stop ends the process and returns when it has ended.
func (p *idleProcess) stop() {
	p.ending.Store(true)
	p.Kill() // it may have ended already
	<-p.Ended()
	p.done.Wait()
	_ = p.In.Close()
}
