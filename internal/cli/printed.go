package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// printed is stdout. It remembers the first failed write, since many commands print line
// by line and do not check errors: a full disk behind stdout must not look like a complete
// table. It is safe for concurrent use.
type printed struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// Write writes to stdout, and nothing after a write that failed.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.to.Write(b)
	p.err = err
	return n, err
}

// check returns the error of a command that ended with err: a failed write to stdout is a
// failure of the command, whatever its outcome. An error with its own hint takes
// precedence.
func (p *printed) check(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var explained *fault
	if p.err == nil || errors.As(err, &explained) {
		return err
	}
	return failed("free some space where stdout is written, or redirect it elsewhere", fmt.Errorf("write to stdout: %w", p.err))
}
