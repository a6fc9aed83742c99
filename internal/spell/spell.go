// Package spell writes numbers for people, in the one way that tables, pages and
// progress have in common.
package spell

import (
	"math"
	"strconv"
	"strings"
)

// Count writes a whole number with its thousands apart: "3,688,879".
func Count(n int64) string { return Grouped(strconv.FormatInt(n, 10)) }

// Grouped sets the thousands of a whole number apart, which is given by its digits,
// with or without a sign.
func Grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Rate writes messages a second: whole, or with four digits: "64,000/s",
// "0.1667/s".
func Rate(perSecond float64) string {
	if whole := math.Round(perSecond); perSecond >= 1000 || perSecond == whole {
		return Count(int64(whole)) + "/s"
	}
	return strconv.FormatFloat(perSecond, 'g', 4, 64) + "/s"
}
