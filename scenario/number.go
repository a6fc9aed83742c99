package scenario

import (
	"errors"
	"strconv"
	"strings"
)

// decimal reads an unsigned number that may have a fraction: it is n/scale,
// where scale is a power of ten.
func decimal(s string) (n, scale uint64, err error) {
	whole, fraction, dotted := strings.Cut(s, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, 0, errors.New("is not a number")
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 18 {
		return 0, 0, errors.New("has too many decimals")
	}
	scale = 1
	for range fraction {
		scale *= 10
	}
	n, err = strconv.ParseUint(whole+fraction, 10, 64)
	if err != nil {
		return 0, 0, errors.New("is too large")
	}
	return n, scale, nil
}

// gcd returns the greatest common divisor of a and b, not both 0.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
