package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/scenario"
)

// maxValues is the largest number of values that an axis may have.
const maxValues = 10_000

// Axis is one dimension of a sweep: a field of a scenario and its values, each written
// as in a scenario file or flag.
type Axis struct {
	Name   string   `json:"name"`   // the field as it was named: "rate"
	Key    string   `json:"key"`    // its dotted key: "workload.rate"
	Values []string `json:"values"` // at least one, all different
}

// axisForm shows the notation of an axis, for errors.
const axisForm = "an axis looks like rate=1k/s..64k/s:log:13, producers=1..64:lin:8 or size=256B,1KiB"

// ParseAxis reads an axis: a field, an equals sign, and its values:
//
//	size=256B,1KiB,64KiB             a list
//	rate=1k/s..64k/s:log:13          13 values from the first to the last, each the
//	                                 same factor above the one before
//	producers=4..32:lin:8            the same with equal differences
//
// The field is named as for [FindKey]. Commas within brackets belong to a value; if
// values have other commas (step:1/s@1s,2/s@1s), semicolons separate them. Ranges are of
// rates, sizes, durations, whole numbers and numbers; both ends must be of one kind. The
// ends are values exactly as written, except that a missing unit is added (rate=1k is
// 1000/s, see canonical). The values between are rounded: rates to whole messages, and
// below 1,000 to four significant digits, per the unit of time of the first end (or, if
// that gives no valid rate, to whole messages a day); sizes to whole bytes; durations to
// four significant digits and whole nanoseconds; whole numbers (1..8, not 1.0..8) to
// whole ones, with duplicates removed; other numbers to six significant digits.
//
// Each value is decoded by the scenario's own rules, so that an invalid value is refused
// before anything runs. Errors are one line and say what to do.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return Axis{}, fmt.Errorf("the axis %q names no field (%s)", text, axisForm)
	}
	a := Axis{Name: name}
	var err error
	if a.Key, err = FindKey(name); err != nil {
		return Axis{}, fmt.Errorf("the axis %q: %w", text, err)
	}
	if a.Values, err = valuesOf(a.Key, strings.TrimSpace(values)); err != nil {
		return Axis{}, fmt.Errorf("the axis %s: %w", name, err)
	}
	for i, v := range a.Values {
		if slices.Contains(a.Values[:i], v) {
			return Axis{}, fmt.Errorf("the axis %s has %s twice (write each value once, and say how often with rounds)", name, v)
		}
		if err := Blank(a.Key).Apply(scenario.Override{Key: a.Key, Value: v, Flag: "the axis " + name}); err != nil {
			return Axis{}, err
		}
	}
	return a, nil
}

// valuesOf reads the text after the equals sign: values of the field at key.
func valuesOf(key, text string) ([]string, error) {
	if text == "" {
		return nil, fmt.Errorf("there are no values (%s)", axisForm)
	}
	if ends, spacing, count, ok := rangeOf(text); ok {
		return span(canonical(key, ends[0]), canonical(key, ends[1]), spacing, count)
	}
	if from, to, ok := strings.Cut(text, ".."); ok && from != "" && !strings.Contains(from, ":") && !strings.Contains(from, ",") {
		return nil, fmt.Errorf("the range %s does not say how many values (write such as %s..%s:log:7 or :lin:7)", text, from, strings.SplitN(to, ":", 2)[0])
	}
	list := split(text)
	for i, v := range list {
		if list[i] = strings.TrimSpace(v); list[i] == "" {
			return nil, fmt.Errorf("%q has an empty value (%s)", text, axisForm)
		}
		list[i] = canonical(key, list[i])
	}
	if len(list) > maxValues {
		return nil, fmt.Errorf("%d values are too many (at most %d)", len(list), maxValues)
	}
	return list, nil
}

// rangeOf splits A..B:lin:N and A..B:log:N into their parts.
func rangeOf(text string) (ends [2]string, spacing, count string, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return ends, "", "", false
	}
	ends[0], ends[1], ok = strings.Cut(parts[0], "..")
	return ends, parts[1], parts[2], ok
}

// split splits a list at its semicolons if it has any, else at its commas; brackets protect
// both.
func split(text string) []string {
	separator := ','
	if strings.ContainsRune(text, ';') {
		separator = ';'
	}
	depth, start := 0, 0
	var list []string
	for i, r := range text {
		switch {
		case r == '{' || r == '[' || r == '(':
			depth++
		case r == '}' || r == ']' || r == ')':
			depth--
		case r == separator && depth <= 0:
			list = append(list, text[start:i])
			start = i + 1
		}
	}
	return append(list, text[start:])
}

// span returns the values of a range.
func span(from, to, spacing, count string) ([]string, error) {
	n, err := strconv.Atoi(count)
	switch {
	case spacing != "lin" && spacing != "log":
		return nil, fmt.Errorf("%q is no spacing (write lin for equal steps or log for equal factors)", spacing)
	case err != nil || n < 2:
		return nil, fmt.Errorf("%q is not how many values a range has (write 2 or more)", count)
	case n > maxValues:
		return nil, fmt.Errorf("%d values are too many (at most %d)", n, maxValues)
	}
	a, err := parseNumber(from)
	if err != nil {
		return nil, err
	}
	b, err := parseNumber(to)
	switch {
	case err != nil:
		return nil, err
	case a.kind == whole && b.kind == decimal:
		a.kind = decimal
	case a.kind == decimal && b.kind == whole:
		b.kind = decimal
	}
	switch {
	case a.kind != b.kind:
		return nil, fmt.Errorf("the range goes from %s %s to %s %s (write both ends with units of one kind)", a.kind, from, b.kind, to)
	case a.value > b.value:
		return nil, fmt.Errorf("the range %s..%s is empty (write the lower end first: %s..%s)", from, to, to, from)
	case a.value == b.value:
		return nil, fmt.Errorf("the range %s..%s has one value (write %s alone)", from, to, from)
	case spacing == "log" && a.value <= 0:
		return nil, fmt.Errorf("a logarithmic range cannot begin at %s (begin above zero, or write lin)", from)
	}
	values := []string{from}
	for i := 1; i < n-1; i++ {
		share := float64(i) / float64(n-1)
		x := a.value + share*(b.value-a.value)
		if spacing == "log" {
			x = a.value * math.Pow(b.value/a.value, share)
		}
		if v := a.text(x); v != values[len(values)-1] && v != from && v != to {
			values = append(values, v)
		}
	}
	return append(values, to), nil
}

// kind is the kind of quantity that a number is.
type kind int

const (
	whole kind = iota
	decimal
	rate
	size
	duration
)

func (k kind) String() string {
	return [...]string{"the whole number", "the number", "the rate", "the size", "the duration"}[k]
}

// number is the end of a range.
type number struct {
	kind  kind
	value float64       // messages in the time per, bytes, ns, or the number itself
	per   time.Duration // of a rate
}

// parseNumber reads a number; its notation decides its kind.
func parseNumber(s string) (number, error) {
	switch {
	case s == "":
		return number{}, errors.New("the range lacks one of its ends (write both: 1k/s..64k/s:log:13)")
	case strings.Contains(s, "/"):
		r, err := scenario.ParseRate(s)
		if err != nil {
			return number{}, err
		}
		// Use the unit of time as written, not the one of the reduced fraction.
		per := time.Second
		if unit, err := scenario.ParseRate("1/" + s[strings.IndexByte(s, '/')+1:]); err == nil {
			per = unit.Per
		}
		return number{rate, r.Float() * per.Seconds(), per}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{kind: whole, value: float64(n)}, nil
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return number{kind: decimal, value: x}, nil
	}
	// Durations come before sizes: 1m is a minute, unless its field is a size, see canonical.
	if d, err := spell.ParseDuration(s); err == nil {
		return number{kind: duration, value: float64(d)}, nil
	}
	if b, err := scenario.ParseSize(s); err == nil {
		return number{kind: size, value: float64(b)}, nil
	}
	return number{}, fmt.Errorf("%q is no end of a range (a range is of rates, sizes, durations or numbers, such as 1k/s..64k/s:log:13; write other values as a list)", s)
}

// text writes the value x in the notation of the number, rounded as [ParseAxis] says.
func (n number) text(x float64) string {
	switch n.kind {
	case rate:
		messages := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
		if x < 1000 {
			messages = strconv.FormatFloat(significant(x, 4), 'f', -1, 64)
		}
		text := messages + strings.TrimPrefix(scenario.Rate{Messages: 1, Per: n.per}.String(), "1")
		if _, err := scenario.ParseRate(text); err != nil { // no denominator of a day or less fits
			return strconv.FormatFloat(math.Round(x*(24*time.Hour).Seconds()/n.per.Seconds()), 'f', 0, 64) + "/24h"
		}
		return text
	case size:
		return scenario.Size(math.Round(x)).String()
	case duration:
		return time.Duration(math.Round(significant(x, 4))).String()
	case whole:
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(significant(x, 6), 'f', -1, 64)
}

// significant rounds x to the given number of significant digits.
func significant(x float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// Numbers returns the values as numbers, for the axis of a chart and for fits:
// messages a second, bytes, seconds, or the number itself. ok is false if they are
// not all numbers of one kind.
func (a Axis) Numbers() (values []float64, ok bool) {
	var first kind
	for i, v := range a.Values {
		n, err := parseNumber(v)
		if err != nil {
			return nil, false
		}
		if n.kind == whole {
			n.kind = decimal
		}
		switch {
		case i == 0:
			first = n.kind
		case n.kind != first:
			return nil, false
		}
		switch n.kind {
		case rate:
			n.value /= n.per.Seconds()
		case duration:
			n.value /= float64(time.Second)
		}
		values = append(values, n.value)
	}
	return values, len(values) > 0
}

// ByValue returns the numbers of [Axis.Numbers] by the text of their values; nil if the values
// are not numbers.
func (a Axis) ByValue() map[string]float64 {
	numbers, ok := a.Numbers()
	if !ok {
		return nil
	}
	values := map[string]float64{}
	for i, v := range a.Values {
		values[v] = numbers[i]
	}
	return values
}

// Rates reports whether the values are rates.
func (a Axis) Rates() bool {
	if _, ok := a.Numbers(); !ok {
		return false
	}
	n, err := parseNumber(a.Values[0])
	return err == nil && n.kind == rate
}
