package scenario

import (
	"strings"

	"sixnines/internal/spell"
)

// Size is a number of bytes. Its text form has a unit: B, kB, MB, GB (powers of 1000) or
// KiB, MiB, GiB (powers of 1024). The parser also accepts a number alone (bytes), K, M and
// G alone (powers of 1024), and units in other letter case. The number may have a fraction
// if the result is a whole number of bytes: 1.5KiB. *Size is a flag value for pflag.
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

// ParseSize reads a size. Its errors are of type [*Error], without a position.
func ParseSize(s string) (Size, error) {
	n, err := spell.ParseBytes(s)
	if err == nil {
		return Size(n), nil
	}
	if strings.HasPrefix(strings.TrimSpace(s), "-") {
		return 0, wrong("the size "+quote(s)+" is negative", spell.BytesForm)
	}
	what := "the size " + quote(s)
	if causedBy(err, spell.NotNumber) {
		what = quote(s) + " is not a size: the part before its unit"
	}
	return 0, because(what, err, spell.BytesForm)
}

// String returns the size as a whole number of the largest unit that allows it, as
// [ParseSize] reads it back.
func (s Size) String() string { return spell.Bytes(int64(s)) }

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Size) UnmarshalText(text []byte) error { return set(s, text, ParseSize) }
