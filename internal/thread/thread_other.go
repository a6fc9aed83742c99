//go:build !linux

package thread

// Lower does nothing where priorities belong to processes.
func Lower() {}

// ShortenSlice likewise.
func ShortenSlice() {}

// Reset likewise.
func Reset() {}
