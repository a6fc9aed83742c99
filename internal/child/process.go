// Package child starts this program a second time, in a process of its own that
// ends with this one: what watches the machine, and what measures beside the
// load.
//
// Each has its standard input, which stays open as long as its starter lives, and
// its standard output, by which it reports. Its first words on standard error are
// kept: they say why it ended.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"sixnines/internal/thread"
)

// Options say what to start.
type Options struct {
	Command []string // the program and its arguments; at least the program
	Env     []string // "KEY=value", beside this process's own
	// Kill has the kernel kill the process when this one ends, however it does
	// (Linux). Without it the process has to notice that its input was closed,
	// and can tidy up.
	Kill bool
}

// Process is a process that was started. Its methods are safe for concurrent
// use.
type Process struct {
	In  *os.File // its standard input, to be closed by the caller
	Out *os.File // its standard output, to be closed by the caller

	cmd   *exec.Cmd
	words *firstWords
	ended chan struct{}
	err   error // of its end; after ended
}

// Start starts the process. On an error nothing is left open.
func Start(o Options) (*Process, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	p := &Process{In: in, Out: out, words: &firstWords{}, ended: make(chan struct{})}
	p.cmd = exec.Command(o.Command[0], o.Command[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.words
	p.cmd.Env = append(os.Environ(), o.Env...)
	// A group of its own: Ctrl-Z and Ctrl-C on a terminal are for us alone.
	p.cmd.SysProcAttr = attributes(o.Kill)
	started := make(chan error, 1)
	go func() {
		// The kernel looks at the thread that started the process: where that is to be
		// killed, it must be one that stays as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread.Reset()
		thread.SealDescriptors()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.ended)
	}()
	err = <-started
	_ = childIn.Close() // the process has its own
	_ = childOut.Close()
	if err != nil {
		<-p.ended
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process at once, if it has not ended.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Ended is closed when the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Why says how a process ended that was not asked to: the first line that it
// wrote on standard error, else its exit status. It waits for the end.
func (p *Process) Why() string {
	<-p.ended
	if w := p.words.String(); w != "" {
		return w
	}
	if p.err != nil {
		return p.err.Error()
	}
	return fmt.Sprint(p.cmd.ProcessState)
}

// firstWords keeps the beginning of what a process says on its standard error.
type firstWords struct {
	mu   sync.Mutex
	text []byte
}

// mostWords is how many bytes of it are kept.
const mostWords = 400

// Write never fails.
func (w *firstWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b[:min(len(b), mostWords-len(w.text))]...)
	return len(b), nil
}

// String returns the first line.
func (w *firstWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, _, _ := strings.Cut(strings.TrimSpace(string(w.text)), "\n")
	return strings.TrimSpace(first)
}
