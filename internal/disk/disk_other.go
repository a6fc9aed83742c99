//go:build !linux

package disk

import (
	"context"
	"fmt"
	"runtime"

	"sixnines/internal/journal"
)

// Check returns why no file system can be made here.
func Check() error {
	return fmt.Errorf("%w: it takes ext4 on a loop device, which only Linux has, not %s", ErrUnavailable, runtime.GOOS)
}

// FileSystem is one that was made. This system has no such file systems.
type FileSystem struct {
	Dir, Image string
	Size       int64
}

// Make fails here.
func Make(*journal.Journal, string, string, int64) (*FileSystem, error) { return nil, Check() }

// Shutdown fails here.
func (f *FileSystem) Shutdown() error { return Check() }

// Sync fails here.
func (f *FileSystem) Sync() error { return Check() }

// Recover fails here.
func (f *FileSystem) Recover(context.Context) error { return Check() }

// Fill fails here.
func (f *FileSystem) Fill() (int64, error) { return 0, Check() }

// Empty fails here.
func (f *FileSystem) Empty() error { return Check() }

// Remove fails here.
func (f *FileSystem) Remove(context.Context) error { return Check() }

// Undo fails here.
func (m *Made) Undo(context.Context) (did bool, err error) { return false, Check() }
