package brokers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrBusy says that another process is at it.
var ErrBusy = errors.New("another sixnines is at work here")

// lock takes the file for this process, or returns an error that wraps
// [ErrBusy]. The system lets go of it when the process ends, whatever ends it;
// the file stays, since removing it would let two others in.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := lockFile(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
