//go:build !linux

package thread

// Lower does nothing outside Linux: there, priorities belong to processes.
func Lower() {}

// ShortenSlice does nothing outside Linux.
func ShortenSlice() {}

// Reset does nothing outside Linux.
func Reset() {}

// IdleProcess does nothing outside Linux.
func IdleProcess() {}
