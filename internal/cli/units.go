package cli

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// span writes a latency with three digits and its unit.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 ns"
	case d == result.Refused:
		return "refused"
	}
	value, unit := float64(d), "ns"
	for _, u := range []struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}} {
		// 999.6 µs is 1.00 ms, not 1000 µs.
		if float64(d) >= 0.9995*u.size {
			value, unit = float64(d)/u.size, u.name
			break
		}
	}
	digits := 2
	switch {
	case unit == "ns" || value >= 99.95:
		digits = 0
	case value >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + " " + unit
}

// seconds writes the time of a phase: tenths below ten seconds, then whole
// seconds, from two minutes on with minutes.
func seconds(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatInt(int64(d.Round(time.Second)/time.Second), 10) + " s"
	}
	text := d.Round(time.Second).String()
	text = strings.Replace(text, "h", " h ", 1)
	text = strings.Replace(text, "m", " min ", 1)
	return strings.Replace(text, "s", " s", 1)
}

// ticking writes a part of total that changes as one looks at it: in steps that
// do not change the text's length all the time.
func ticking(d, total time.Duration) string {
	if total < 20*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 1, 64) + " s"
	}
	return seconds(max(d, 0).Truncate(time.Second))
}

// grouped writes a whole number with commas between thousands.
func grouped(n int64) string { return spell.Count(n) }
