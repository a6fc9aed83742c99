package filelock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file in one step: a reader sees the one before or this, whatever ends us. A link
// stays, and the file that it leads to is replaced. What is no regular file, such as /dev/stdout or
// another pipe, is written to, and stays whatever happens. The directory must be there.
func Replace(path string, mode os.FileMode, write func(io.Writer) error) (err error) {
	path, special := target(path)
	if special {
		return writeTo(path, mode, write)
	}
	f, err := beside(path)
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

// Replaceable returns the error that [Replace] would have now, before it writes anything. It does
// not open what is no regular file: whoever reads a pipe would see its end.
func Replaceable(path string) error {
	path, special := target(path)
	if special {
		return nil
	}
	f, err := beside(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// target returns the file that a path leads to. special says that it is there and is no regular file,
// or that a link leads to no file: to one that is to be made, or, as the kernel's own, to a pipe.
func target(path string) (to string, special bool) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return path, false
	case info.Mode()&fs.ModeSymlink == 0:
		return path, !info.Mode().IsRegular()
	}
	to, err = filepath.EvalSymlinks(path)
	if err != nil {
		return path, true
	}
	if info, err = os.Stat(to); err != nil {
		return path, true
	}
	return to, !info.Mode().IsRegular()
}

// beside makes a file that is to take the place of another. Its error names that one.
func beside(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		p.Path = path
	}
	return f, err
}

// writeTo writes to what is there.
func writeTo(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, mode)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
