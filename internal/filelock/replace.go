package filelock

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file in one step: a reader sees the one before or this,
// whatever ends us. The directory must be there.
func Replace(path string, mode os.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err = errors.Join(f.Chmod(mode), write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
