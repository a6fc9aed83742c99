package scenario

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Size is a number of bytes. Its text form has a unit: B, kB, MB, GB (powers
// of 1000) or KiB, MiB, GiB (powers of 1024). The number may have a fraction if
// the result is a whole number of bytes: 1.5KiB. *Size is a flag value for
// pflag.
type Size int64

// Units of Size.
const (
	Byte Size = 1
	KB   Size = 1000
	MB   Size = 1000 * KB
	GB   Size = 1000 * MB
	KiB  Size = 1024
	MiB  Size = 1024 * KiB
	GiB  Size = 1024 * MiB
)

// sizeUnits is in the order in which String tries them: the largest first,
// powers of 1024 before powers of 1000.
var sizeUnits = [...]struct {
	name string
	size Size
}{
	{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"GB", GB}, {"MB", MB}, {"kB", KB}, {"B", Byte},
}

const sizeForm = "a size is a number and a unit (B, kB, MB, GB, KiB, MiB, GiB), such as 256B or 1KiB"

// ParseSize reads a size. Its errors are of type [*Error], without a position.
func ParseSize(s string) (Size, error) {
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := s[len(number):]
	if strings.HasPrefix(number, "-") {
		return 0, wrong("the size "+quote(s)+" is negative", sizeForm)
	}
	n, scale, err := decimal(number)
	if err != nil {
		return 0, wrong(quote(s)+" is not a size: "+quote(number)+" "+err.Error(), sizeForm)
	}
	if unit == "" {
		return 0, wrong("the size "+quote(s)+" has no unit", "write "+s+"B or "+s+"KiB")
	}
	for _, u := range sizeUnits {
		if u.name != unit {
			continue
		}
		hi, lo := bits.Mul64(n, uint64(u.size))
		if hi >= scale {
			return 0, wrong("the size "+quote(s)+" is too large", sizeForm)
		}
		q, rem := bits.Div64(hi, lo, scale)
		switch {
		case q > math.MaxInt64:
			return 0, wrong("the size "+quote(s)+" is too large", sizeForm)
		case rem != 0:
			return 0, wrong("the size "+quote(s)+" is not a whole number of bytes", "write the number of bytes: "+strconv.FormatUint(q, 10)+"B or "+strconv.FormatUint(q+1, 10)+"B")
		}
		return Size(q), nil
	}
	names := make([]string, len(sizeUnits))
	for i, u := range sizeUnits {
		if strings.EqualFold(u.name, unit) {
			return 0, wrong("the size "+quote(s)+" has an unknown unit "+quote(unit), "write "+number+u.name)
		}
		names[i] = u.name
	}
	return 0, wrong("the size "+quote(s)+" has an unknown unit "+quote(unit), sizeForm+nearestHint(unit, names...))
}

// String returns the size in the largest unit of which it is a whole number, as
// [ParseSize] reads it back.
func (s Size) String() string {
	if s != 0 {
		for _, u := range sizeUnits {
			if s%u.size == 0 {
				return strconv.FormatInt(int64(s/u.size), 10) + u.name
			}
		}
	}
	return "0B"
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// Set reads a size from a flag.
func (s *Size) Set(text string) error {
	v, err := ParseSize(text)
	if err != nil {
		return err
	}
	*s = v
	return nil
}

// Type names the type in a flag's usage.
func (*Size) Type() string { return "size" }
