package scenario

import (
	"strings"
	"time"
)

const durationForm = "a duration is a number and a unit (ns, us, ms, s, m, h), such as 250ms or 1m30s"

// parseDuration reads a duration as Go writes it; there is no unit for days.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && s != "0" && s != "+0" && s != "-0":
		if d < 0 {
			return 0, wrong("the duration "+quote(s)+" is negative", durationForm)
		}
		return d, nil
	case s != "" && strings.Trim(s, "0123456789.") == "":
		return 0, wrong("the duration "+quote(s)+" has no unit", "write "+s+"s or "+s+"ms")
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, scale, err := decimal(days); err == nil && scale == 1 && n < 1000 {
			return 0, wrong("the duration "+quote(s)+" has an unknown unit \"d\"", "write "+formatDuration(time.Duration(n)*24*time.Hour))
		}
	}
	return 0, wrong(quote(s)+" is not a duration", durationForm)
}

// formatDuration returns d as parseDuration reads it back, without the parts
// that are zero at its end: 1m, not 1m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
