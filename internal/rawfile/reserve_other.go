//go:build !linux

package rawfile

import "os"

// reserve sets the file's length and allocates its disk space: with a hole in the file, a
// store into the mapping would kill the process when the disk is full.
func reserve(f *os.File, size int64) error { return fillZeros(f, size) }
