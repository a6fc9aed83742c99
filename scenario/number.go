package scenario

// gcd returns the greatest common divisor of a and b, not both 0.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
