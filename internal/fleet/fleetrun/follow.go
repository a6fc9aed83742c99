package fleetrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// chunk is the most bytes of a result in one record: less than what a message of the control plane holds.
const chunk = 256 << 10

// looks is how often a result that grows is looked at.
const looks = 100 * time.Millisecond

// follow gives a result file to record as it grows, in order, until over is closed, and then the rest. A record ends with
// a line where one ends in it, so that a result whose last records are missing is one of a run that was killed. A
// file that is never made is nothing to record.
func follow(path string, over <-chan struct{}, record func([]byte) error) error {
	f := &follower{path: path, record: record}
	defer f.close()
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		last := false
		select {
		case <-over:
			last = true
		case <-tick.C:
		}
		if err := f.read(last); err != nil {
			return fmt.Errorf("send the result: %w", err)
		}
		if last {
			return nil
		}
	}
}

// follower reads a file that grows.
type follower struct {
	path   string
	record func([]byte) error
	file   *os.File // nil: it is not there yet
	buf    []byte   // what was read and not recorded
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close() // it was read only
	}
}

// read records what is in the file and was not recorded before; last says that nothing follows.
func (f *follower) read(last bool) error {
	if f.file == nil {
		file, err := os.Open(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		f.file, f.buf = file, make([]byte, 0, chunk)
	}
	for {
		n, err := f.file.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf = f.buf[:len(f.buf)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		whole := bytes.LastIndexByte(f.buf, '\n') + 1
		if len(f.buf) == cap(f.buf) && whole == 0 || last && n == 0 {
			whole = len(f.buf)
		}
		// While the file grows, its records go together.
		if whole > 0 && (n == 0 || len(f.buf) == cap(f.buf)) {
			if err := f.record(f.buf[:whole]); err != nil {
				return err
			}
			f.buf = f.buf[:copy(f.buf, f.buf[whole:])]
		}
		if n == 0 {
			return nil
		}
	}
}
