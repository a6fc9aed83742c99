package driver

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a number of bytes in a driver's options. Its text has a unit: B,
// kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
type ByteSize int64

// byteUnits is ordered so that String finds the largest unit that fits, powers
// of 1024 first.
var byteUnits = [...]struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseByteSize reads a size such as "64KiB", "1.5MB" or "512B"; a number
// without a unit is one of bytes. The result must be a whole number of bytes,
// not negative and at most 2⁶³−1; anything else is an error.
func ParseByteSize(s string) (ByteSize, error) {
	number, unit := s, int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = strings.TrimRight(rest, " "), u.bytes
			break
		}
	}
	if n, err := strconv.ParseUint(number, 10, 63); err == nil {
		if n > uint64(math.MaxInt64/unit) {
			return 0, fmt.Errorf("size %q is too large", s)
		}
		return ByteSize(n) * ByteSize(unit), nil
	}
	whole, fraction, ok := strings.Cut(number, ".")
	w, errW := strconv.ParseUint(whole, 10, 31)
	f, errF := strconv.ParseUint(fraction, 10, 31)
	if !ok || errW != nil || errF != nil {
		return 0, fmt.Errorf("size %q is not a number with one of the units B, kB, MB, GB, KiB, MiB, GiB", s)
	}
	scale := uint64(1)
	for range fraction {
		scale *= 10
		if scale > 1e9 {
			return 0, fmt.Errorf("size %q has too many decimals", s)
		}
	}
	// f < 1e9 and unit ≤ 1<<30: the product stays below 2⁶⁰.
	if f*uint64(unit)%scale != 0 {
		return 0, fmt.Errorf("size %q is not a whole number of bytes", s)
	}
	return ByteSize(w*uint64(unit) + f*uint64(unit)/scale), nil
}

// String returns the size in the largest unit in which it is a whole number,
// as [ParseByteSize] reads it.
func (b ByteSize) String() string {
	if b != 0 {
		for _, u := range byteUnits {
			if int64(b)%u.bytes == 0 {
				return strconv.FormatInt(int64(b)/u.bytes, 10) + u.name
			}
		}
	}
	return "0B"
}
