package spell

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Error says why a text is not what it is meant to be, and what to write instead.
type Error struct {
	Cause string // one line, in which the text is not repeated: "has no unit"
	Hint  string // one line; empty: the form of such values says it
}

func (e *Error) Error() string { return e.Cause }

// Causes that callers tell from others.
const (
	NotNumber   = "is not a number"
	NotDuration = "is not a duration"
)

// Decimal reads an unsigned number that may have a fraction and an exponent: it is
// n/scale, where scale is a power of ten.
func Decimal(s string) (n, scale uint64, err error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i > 0 {
		digits := s[i+1:]
		if exponent, err = strconv.Atoi(digits); err != nil || len(strings.TrimPrefix(digits, "+")) > 3 {
			return 0, 0, &Error{Cause: NotNumber}
		}
		mantissa = s[:i]
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	switch {
	case strings.Contains(s, ","):
		return 0, 0, &Error{"has a comma, which could divide thousands or be the decimal point", "write " + strings.ReplaceAll(s, ",", "") + " or " + strings.Replace(s, ",", ".", 1)}
	case whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "":
		return 0, 0, &Error{Cause: NotNumber}
	}
	fraction = strings.TrimRight(fraction, "0")
	for exponent > 0 && fraction != "" {
		whole, fraction, exponent = whole+fraction[:1], fraction[1:], exponent-1
	}
	if len(fraction)-min(exponent, 0) > 18 {
		return 0, 0, &Error{Cause: "has too many decimals"}
	}
	n, err = strconv.ParseUint(whole+fraction, 10, 64)
	if err != nil {
		return 0, 0, &Error{Cause: "is too large"}
	}
	scale = 1
	for range len(fraction) - min(exponent, 0) {
		scale *= 10
	}
	for ; exponent > 0 && n > 0; exponent-- {
		hi, lo := bits.Mul64(n, 10)
		if hi != 0 {
			return 0, 0, &Error{Cause: "is too large"}
		}
		n = lo
	}
	for n%10 == 0 && scale > 1 { // 10e-1
		n, scale = n/10, scale/10
	}
	return n, scale, nil
}

// Plain is [Decimal] of a number without a unit. One that begins with 0 is an error:
// some read it as octal. With a unit it can be none.
func Plain(s string) (n, scale uint64, err error) {
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		return 0, 0, &Error{"begins with 0, as octal numbers do", "write it without"}
	}
	return Decimal(s)
}

// Multiple divides a number of things from the multiple that it ends in, a power of
// 1000: k or K, M, G. Without one it is 1.
func Multiple(s string) (number string, multiple uint64) {
	if n := len(s) - 1; n > 0 {
		switch s[n] {
		case 'k', 'K':
			multiple = 1e3
		case 'M':
			multiple = 1e6
		case 'G':
			multiple = 1e9
		}
		if multiple > 0 {
			return strings.TrimRight(s[:n], " "), multiple
		}
	}
	return s, 1
}

// Whole reads a number of things, which is not negative: 1500, 1.5k, 2M, 1e6.
func Whole(s string) (uint64, error) {
	number, multiple := Multiple(strings.TrimSpace(s))
	n, scale, err := Plain(number)
	if err != nil {
		return 0, err
	}
	return times(n, multiple, scale)
}

// times returns n·multiple/scale, which must be whole.
func times(n, multiple, scale uint64) (uint64, error) {
	hi, lo := bits.Mul64(n, multiple)
	if hi >= scale {
		return 0, &Error{Cause: "is too large"}
	}
	q, rest := bits.Div64(hi, lo, scale)
	if rest != 0 {
		down := strconv.FormatUint(q, 10)
		if q == math.MaxUint64 {
			return 0, &Error{Cause: "is not whole"}
		}
		return 0, &Error{"is not whole", "write " + down + " or " + strconv.FormatUint(q+1, 10)}
	}
	return q, nil
}

// byteUnits is in the order in which Bytes tries them: the largest first, powers of
// 1024 before powers of 1000.
var byteUnits = [...]struct {
	name  string
	bytes int64
	other []string // in small letters
}{
	{"GiB", 1 << 30, []string{"gib", "gi", "g"}}, {"MiB", 1 << 20, []string{"mib", "mi", "m"}}, {"KiB", 1 << 10, []string{"kib", "ki", "k"}},
	{"GB", 1e9, []string{"gb"}}, {"MB", 1e6, []string{"mb"}}, {"kB", 1e3, []string{"kb"}}, {"B", 1, []string{"b", "byte", "bytes", ""}},
}

// BytesForm says how a number of bytes is written.
const BytesForm = "a size is a number of bytes, or has a unit: kB, MB, GB (powers of 1000), K or KiB, MiB, GiB (powers of 1024)"

// ParseBytes reads a number of bytes: a number and a unit, in capital or small
// letters, with or without a space between them. Without a unit it is one of bytes;
// K, M and G alone are powers of 1024, as elsewhere where bytes are counted.
func ParseBytes(s string) (int64, error) {
	s = strings.TrimSpace(s)
	number := strings.TrimRightFunc(s, unicode.IsLetter)
	unit := strings.ToLower(s[len(number):])
	read := Decimal
	if unit == "" {
		read = Plain
	}
	n, scale, err := read(strings.TrimRight(number, " "))
	if err != nil {
		return 0, err
	}
	for _, u := range byteUnits {
		for _, name := range u.other {
			if name != unit {
				continue
			}
			q, err := times(n, uint64(u.bytes), scale)
			var wrong *Error
			if errors.As(err, &wrong) && wrong.Hint != "" {
				return 0, &Error{"is not a whole number of bytes", strings.ReplaceAll(wrong.Hint, " or ", "B or ") + "B"}
			}
			if err == nil && q > math.MaxInt64 {
				err = &Error{Cause: "is too large"}
			}
			return int64(q), err
		}
	}
	var names []string
	for _, u := range byteUnits {
		names = append(names, u.name)
	}
	wrong := &Error{Cause: "has an unknown unit " + strconv.Quote(s[len(number):])}
	if near := Nearest(s[len(number):], names); near != "" {
		wrong.Hint = "did you mean " + near + "?"
	}
	return 0, wrong
}

// Bytes writes a number of bytes in the largest unit that divides it:
// "64KiB", as [ParseBytes] reads it.
func Bytes(n int64) string {
	if n != 0 {
		for _, u := range byteUnits {
			if n%u.bytes == 0 {
				return strconv.FormatInt(n/u.bytes, 10) + u.name
			}
		}
	}
	return "0B"
}

// TimeUnit returns the time that a word such as s, min or hour stands for; 0: none.
func TimeUnit(word string) time.Duration {
	switch word {
	case "ns":
		return time.Nanosecond
	case "us", "µs", "μs":
		return time.Microsecond
	case "ms", "msec":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// DurationForm says how a length of time is written.
const DurationForm = "a duration is a number and a unit (ns, us, ms, s, m or min, h, d), such as 250ms or 1m30s"

// ParseDuration reads a length of time that is not negative: numbers with units,
// such as 250ms, 1m30s, 5 min or 2d, which is 48 hours. Without a unit only 0 is a
// time.
func ParseDuration(s string) (time.Duration, error) {
	rest := strings.TrimPrefix(strings.TrimSpace(s), "+")
	if strings.HasPrefix(rest, "-") {
		return 0, &Error{"is negative", DurationForm}
	}
	if n, _, err := Plain(rest); err == nil {
		if n == 0 {
			return 0, nil
		}
		return 0, &Error{"has no unit", "write " + rest + "s or " + rest + "ms"}
	} else if wrong := new(Error); strings.Trim(rest, "0123456789.,") == "" && errors.As(err, &wrong) && wrong.Hint != "" {
		return 0, wrong
	}
	total := time.Duration(0)
	for first := true; first || rest != ""; first = false {
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789."))]
		rest = strings.TrimLeft(rest[len(number):], " ")
		unit := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsLetter))]
		rest = strings.TrimLeft(rest[len(unit):], " ")
		per := TimeUnit(unit)
		if per == 0 {
			return 0, notDuration(s)
		}
		// Through hours, for days: Go's reader is exact to the nanosecond.
		word, factor := unitOf(per), time.Duration(1)
		if per > time.Hour {
			factor = per / time.Hour
		}
		d, err := time.ParseDuration(number + word)
		if err != nil {
			return 0, notDuration(s)
		}
		if d == 0 && strings.Trim(number, "0.") != "" {
			return 0, &Error{"is shorter than 1ns", DurationForm}
		}
		if d > (math.MaxInt64-total)/factor {
			return 0, &Error{"is too long", DurationForm}
		}
		total += d * factor
	}
	return total, nil
}

// unitOf is Go's word for a unit, hours for days.
func unitOf(per time.Duration) string {
	switch per {
	case time.Nanosecond:
		return "ns"
	case time.Microsecond:
		return "us"
	case time.Millisecond:
		return "ms"
	case time.Second:
		return "s"
	case time.Minute:
		return "m"
	}
	return "h"
}

// notDuration is the error of a text that is no time, and would be in small letters.
func notDuration(s string) error {
	small := strings.ToLower(s)
	if small != s && !strings.Contains(s, "M") { // a capital M is a million, or a month
		if _, err := ParseDuration(small); err == nil {
			return &Error{NotDuration, "write " + small}
		}
	}
	return &Error{NotDuration, DurationForm}
}

// ParsePercent reads a fraction that is written in percent, exactly: 33.3% is the number
// nearest to 0.333.
func ParsePercent(s string) (float64, error) {
	number, ok := strings.CutSuffix(s, "%")
	if _, _, err := Decimal(number); !ok || err != nil {
		return 0, &Error{Cause: "is not a percentage"}
	}
	f, err := strconv.ParseFloat(number+"e-2", 64)
	if err != nil {
		return 0, &Error{Cause: "is not a percentage"}
	}
	return f, nil
}

// PercentText writes a fraction in percent as [ParsePercent] reads it back.
func PercentText(f float64) string {
	// The shortest decimal, with its point moved by two.
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return strconv.FormatFloat(f, 'g', -1, 64) // infinite or not a number
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	all, point := whole+fraction, len(whole)+e+2
	switch {
	case f == 0:
		return "0%"
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + all + "%"
	case point >= len(all):
		return all + strings.Repeat("0", point-len(all)) + "%"
	}
	return all[:point] + "." + all[point:] + "%"
}

// Written returns d as [ParseDuration] reads it back and people write it, without the parts
// that are zero at its end: 1m, not 1m0s.
func Written(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
