// Package filelock keeps two processes of Sixnines from working at the same
// place at once, and from reading what another has written half of.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrBusy says that another process is at it.
var ErrBusy = errors.New("another sixnines is at work here")

// Take takes the file for this process, or returns an error that wraps
// [ErrBusy]. The system lets go of it when the process ends, whatever ends it;
// the file stays, since removing it would let two others in.
func Take(path string) (unlock func(), err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// Open is Take for a file whose text matters: it returns the file, which is taken until it is closed. If
// several may remove it, each must check, once it is open, that it is still the file at its path.
func Open(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
