package scenario

// Size is a number of bytes. Its text form has a unit: B, kB, MB, GB (powers
// of 1000) or KiB, MiB, GiB (powers of 1024).
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
