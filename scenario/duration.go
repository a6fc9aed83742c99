package scenario

import (
	"time"

	"sixnines/internal/spell"
)

// parseDuration reads a length of time, see [spell.ParseDuration].
func parseDuration(s string) (time.Duration, error) {
	d, err := spell.ParseDuration(s)
	if err != nil {
		what := "the duration "
		if causedBy(err, spell.NotNumber, spell.NotDuration) {
			what = ""
		}
		return 0, because(what+quote(s), err, spell.DurationForm)
	}
	return d, nil
}

// formatDuration returns d as parseDuration reads it back.
func formatDuration(d time.Duration) string { return spell.Written(d) }
