// Package spell writes numbers for people, in the one way that verdicts, tables,
// pages, progress and messages have in common: "2.38 ms", "3,776 messages",
// "1,000/s", "36 %", "1 KiB". What scenarios and options are given in, such as
// "250ms", is written back as it was given, and is not of this package. [Nearest] finds the word
// that somebody meant.
package spell

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes a whole number with its thousands apart: "3,688,879".
func Count[T ~int | ~int64](n T) string { return Grouped(strconv.FormatInt(int64(n), 10)) }

// Number writes a number that need not be whole as [Count] does: whole from 1,000
// on, else with at most four significant digits: "12,346", "16.67", "0.5".
func Number(x float64) string {
	switch whole := math.Round(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "n/a"
	case math.Abs(x) >= 999.95 || x == whole:
		return Grouped(strconv.FormatFloat(whole, 'f', 0, 64))
	case math.Abs(x) >= 1e-6:
		digits := max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
		text := strconv.FormatFloat(x, 'f', digits, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

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

// Rate writes messages a second as [Number] does: "64,000/s", "0.1667/s".
func Rate(perSecond float64) string {
	if math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return "n/a"
	}
	return Number(perSecond) + "/s"
}

// Span says which values lie within limits; either limit may be empty: "1 to 9", "at
// least 1", "at most 9"; nothing where both are.
func Span(low, high string) string {
	switch {
	case low == "" && high == "":
		return ""
	case high == "":
		return "at least " + low
	case low == "":
		return "at most " + high
	}
	return low + " to " + high
}

// Plural is a count with its noun: "1 event", "3,776 messages", "2 deliveries".
func Plural[T ~int | ~int64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "y"); ok {
		one = stem + "ie"
	}
	return Count(n) + " " + one + "s"
}

// Times says how often: "once", "3 times".
func Times[T ~int | ~int64](n T) string {
	if n == 1 {
		return "once"
	}
	return Count(n) + " times"
}

// Duration writes what was measured, nanoseconds or a [time.Duration], with three
// significant digits in the unit that leaves one to three digits before the point:
// "81.2 µs", "1.00 ms", "12.3 s". It stays in seconds beyond 999.
func Duration[T ~int64](d T) string { return Nanoseconds(float64(d)) }

// Nanoseconds writes a number of nanoseconds as [Duration] does.
func Nanoseconds(ns float64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	if ns < 999.5 {
		return sign + strconv.FormatFloat(ns, 'f', 0, 64) + " ns"
	}
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}} {
		if v := ns / u.scale; v < 999.5 {
			return sign + three(v) + u.name
		}
	}
	return sign + Grouped(strconv.FormatFloat(ns/1e9, 'f', 0, 64)) + " s"
}

// three writes v, 1 ≤ v < 999.5, with three significant digits.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Period writes a length of time that somebody has set, or counts: without zeros
// at its end, from two minutes on with minutes: "250 ms", "1.5 s", "90 s",
// "2 min 30 s", "2 h".
func Period(d time.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d < 0:
		return "-" + Period(-max(d, -math.MaxInt64))
	case d >= 2*time.Minute:
		d = d.Round(time.Second)
		var parts []string
		for _, u := range []struct {
			unit time.Duration
			name string
		}{{time.Hour, " h"}, {time.Minute, " min"}, {time.Second, " s"}} {
			if n := d / u.unit; n > 0 {
				parts = append(parts, Count(int64(n))+u.name)
			}
			d %= u.unit
		}
		return strings.Join(parts, " ")
	case d < time.Second:
		number, unit, _ := strings.Cut(Duration(d), " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return number + " " + unit
	}
	return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64) + " s"
}

// Size writes bytes in the largest binary unit that leaves at least one, whole
// where they are, else with three significant digits: "256 B", "1 KiB", "1.46 GiB".
func Size[T ~int | ~int64](n T) string {
	units := []string{" B", " KiB", " MiB", " GiB", " TiB"}
	v, i := float64(n), 0
	for ; math.Abs(v) >= 1024 && i < len(units)-1; i++ {
		v /= 1024
	}
	if v == math.Trunc(v) {
		return Grouped(strconv.FormatFloat(v, 'f', 0, 64)) + units[i]
	}
	if math.Abs(v) >= 999.5 {
		return Grouped(strconv.FormatFloat(math.Round(v), 'f', 0, 64)) + units[i]
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + units[i]
}

// Share writes a fraction as a percentage; small ones keep a digit: "36 %",
// "6.8 %", "<0.1 %".
func Share(f float64) string {
	switch p := f * 100; {
	case math.IsNaN(p):
		return "n/a"
	case p == 0:
		return "0 %"
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case math.Abs(p) < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return Grouped(strconv.FormatFloat(p, 'f', 0, 64)) + " %"
	}
}

// ExactShare writes a fraction near 1 without rounding it up to 1: 0.99996 is
// "99.99 %", for a rate that was missed by little was missed.
func ExactShare(f float64) string {
	if f >= 1 || math.IsNaN(f) || f < 0.9 {
		return Share(f)
	}
	return strconv.FormatFloat(math.Floor(f*1e4)/100, 'f', 2, 64) + " %"
}

// Percent writes a fraction that somebody has set, with the digits that it was
// given: "5 %", "0.5 %", "99.9 %".
func Percent(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e9)/1e7, 'f', -1, 64) + " %"
}
