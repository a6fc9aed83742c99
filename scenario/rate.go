package scenario

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// MaxPer is the largest Per of a rate: 1/24h is the slowest rate.
const MaxPer = 24 * time.Hour

// Rate is a number of messages per time, kept as a fraction so that schedules
// stay exact: 100/3s is not 33.333/s. The zero value is "not given".
//
// Its text is a number, which may have a fraction and one of the multiples k or K, M
// and G, a slash and a time: 3000/s, 0.5/s, 20k/s, 10/min, 100/3s, 1/250ms; without
// slash and time it is per second; or max.
type Rate struct {
	Messages uint64        // numerator; 0: not given; math.MaxUint64: unpaced
	Per      time.Duration // denominator, above 0, at most MaxPer
}

// MaxRate returns the rate of an unpaced load, which sends as fast as it can.
func MaxRate() Rate { return Rate{Messages: math.MaxUint64, Per: time.Second} }

// PerSecond returns n messages a second.
func PerSecond(n uint64) Rate { return Rate{Messages: n, Per: time.Second} }

// IsMax reports whether r is MaxRate.
func (r Rate) IsMax() bool { return r.Messages == math.MaxUint64 }

// IsZero reports whether r is not given.
func (r Rate) IsZero() bool { return r.Messages == 0 }

// Float returns messages per second, +Inf for MaxRate.
func (r Rate) Float() float64 {
	switch {
	case r.IsMax():
		return math.Inf(1)
	case r.IsZero():
		return 0
	}
	return float64(r.Messages) / r.Per.Seconds()
}

// above reports whether r is more than n messages a second, exactly.
func (r Rate) above(n uint64) bool {
	if r.Per <= 0 {
		return false
	}
	hi, lo := bits.Mul64(r.Messages, uint64(time.Second))
	limit, low := bits.Mul64(uint64(r.Per), n)
	return hi > limit || hi == limit && lo > low
}

// denominators are the words for times that are not written as durations.
var denominators = [...]struct {
	word string
	per  time.Duration
}{
	{"s", time.Second}, {"min", time.Minute}, {"h", time.Hour},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
}

const rateForm = "a rate is messages per time, such as 3000/s, 0.5/s, 20k/s or 100/3s, or max"

// ParseRate reads a rate. Without a time it is one per second: 3000, 20k. Its errors
// are of type [*Error], without a position.
func ParseRate(s string) (Rate, error) {
	text := strings.TrimSpace(s)
	if strings.EqualFold(text, "max") {
		return MaxRate(), nil
	}
	number, over, timed := strings.Cut(text, "/")
	if number = strings.TrimSpace(number); timed {
		for _, word := range []string{"messages", "message", "msgs", "msg"} {
			if rest, ok := strings.CutSuffix(number, word); ok {
				number = strings.TrimSpace(rest)
				break
			}
		}
	}
	if strings.HasPrefix(number, "-") {
		return Rate{}, wrong("the rate "+quote(s)+" is negative", rateForm+"; max goes flat out")
	}
	digits, multiple := spell.Multiple(number)
	read := spell.Decimal
	if !timed {
		read = spell.Plain
	}
	n, scale, err := read(digits)
	if err != nil {
		return Rate{}, notRate(s, number, err)
	}
	per := time.Second
	if timed {
		var fault *Error
		if per, fault = parsePer(s, strings.TrimSpace(over)); fault != nil {
			return Rate{}, fault
		}
	}
	if n == 0 {
		return Rate{}, wrong("the rate "+quote(s)+" is zero", "leave it out for the default, or write a low rate such as 1/10s; max sends as fast as possible")
	}
	if common := gcd(n, scale); scale > 1 {
		n, scale = n/common, scale/common
	}
	if common := gcd(multiple, scale); scale > 1 {
		multiple, scale = multiple/common, scale/common
	}
	hi, n := bits.Mul64(n, multiple)
	if hi != 0 || n >= math.MaxInt64 {
		return Rate{}, wrong("the rate "+quote(s)+" is too high", "write max for a load that is sent as fast as possible")
	}
	hi, long := bits.Mul64(uint64(per), scale)
	if hi != 0 || long > uint64(MaxPer) {
		return Rate{}, wrong("the rate "+quote(s)+" counts over more than a day", "a rate counts over at most 24h; give a shorter fraction, such as 1/3h for 0.333/h")
	}
	return Rate{Messages: n, Per: time.Duration(long)}, nil
}

// notRate returns the error for a text whose number cannot be read.
func notRate(s, number string, err error) *Error {
	hint := rateForm + spell.Meant(s, "max")
	if wrong := new(spell.Error); errors.As(err, &wrong) && wrong.Hint != "" {
		hint = wrong.Hint
	}
	if million, ok := strings.CutSuffix(number, "m"); ok {
		if _, _, err := spell.Decimal(million); err == nil {
			return wrong(quote(s)+" is not a rate: m could mean a million or a minute", "write "+million+"M/s or "+million+"/min")
		}
	}
	if !strings.ContainsAny(s, "/0123456789") {
		return wrong(quote(s)+" is not a rate", hint)
	}
	return wrong(quote(s)+" is not a rate: "+quote(number)+" "+err.Error(), hint)
}

// parsePer reads what follows the slash of a rate.
func parsePer(rate, s string) (time.Duration, *Error) {
	if per := spell.TimeUnit(s); per > 0 {
		return per, nil
	}
	per, err := spell.ParseDuration(s)
	switch {
	case err == nil && per > MaxPer:
		return 0, wrong("the rate "+quote(rate)+" counts over more than a day", "a rate counts over at most 24h")
	case err == nil && per > 0:
		return per, nil
	}
	if _, err := strconv.ParseUint(s, 10, 64); err == nil && strings.Trim(s, "0") != "" {
		return 0, wrong(quote(rate)+" is not a rate: "+quote(s)+" has no unit", "write /"+s+"s")
	}
	return 0, wrong(quote(rate)+" is not a rate: "+quote(s)+" is not a time", "write /s, /min, /h, /ms or a duration such as /3s")
}

// String returns the rate as [ParseRate] reads it back, unreduced; the empty
// string for the zero rate.
func (r Rate) String() string {
	switch {
	case r.IsMax():
		return "max"
	case r.IsZero():
		return ""
	}
	per := ""
	for _, d := range denominators {
		if d.per == r.Per {
			per = d.word
			break
		}
	}
	if per == "" {
		per = formatDuration(r.Per)
	}
	return strconv.FormatUint(r.Messages, 10) + "/" + per
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]; empty text gives the zero rate.
func (r *Rate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Rate{}
		return nil
	}
	return set(r, text, ParseRate)
}
