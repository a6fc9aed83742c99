package scenario

import (
	"strings"
	"time"

	"sixnines/internal/spell"
)

// parseDuration reads a length of time, see [spell.ParseDuration].
func parseDuration(s string) (time.Duration, error) {
	d, err := spell.ParseDuration(s)
	if err != nil {
		what := "the duration "
		if strings.HasPrefix(err.Error(), "is not") {
			what = ""
		}
		return 0, because(what+quote(s), err, spell.DurationForm)
	}
	return d, nil
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
