package driver

import (
	"fmt"

	"sixnines/internal/spell"
)

// ByteSize is a number of bytes in a driver's options. Its text has a unit: B,
// kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
type ByteSize int64

// ParseByteSize reads a size such as "64KiB", "1.5MB" or "512B"; a number
// without a unit counts bytes, and K, M and G alone are powers of 1024. The result
// must be a whole number of bytes, not negative and at most 2⁶³−1; anything else is an
// error.
func ParseByteSize(s string) (ByteSize, error) {
	n, err := spell.ParseBytes(s)
	if err != nil {
		return 0, fmt.Errorf("size %q %w", s, err)
	}
	return ByteSize(n), nil
}

// String returns the size as a whole number of the largest unit that allows it, as
// [ParseByteSize] reads it.
func (b ByteSize) String() string { return spell.Bytes(int64(b)) }
