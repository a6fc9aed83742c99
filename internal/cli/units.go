package cli

import (
	"math"
	"strconv"
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
	return spell.Duration(d)
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
	return spell.Period(d)
}

// ticking writes a part of total that changes as one looks at it: in steps that
// do not change the text's length all the time.
func ticking(d, total time.Duration) string {
	if total < 20*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 1, 64) + " s"
	}
	return seconds(max(d, 0).Truncate(time.Second))
}

// plural counts things, "delivery" among them.
func plural(n int, one string) string { return spell.Plural(n, one) }

// grouped writes a whole number with commas between thousands.
func grouped(n int64) string { return spell.Count(n) }
