package clocksync

import (
	"fmt"
	"time"
)

// Config holds the assumptions of an [Estimator]. A zero field means its default.
type Config struct {
	// Keep is the stretch of time whose exchange of least delay is kept;
	// 10 s by default, 10 ms at least.
	Keep time.Duration
	// Points is the number of newest kept exchanges that the estimate uses; 64 by
	// default, 2 to 1024. Memory is proportional to it, and the time of an estimate
	// to its square: 64 take some 10 µs.
	Points int
	// MaxDrift is the most that one clock gains on the other, as a share; 500 ppm
	// (0.0005) by default, which is also what NTP lets a clock be slewed by
	// (RFC 5905, MAXFREQ). In (0, 0.1].
	MaxDrift float64
	// Wander is the largest change of the drift, as a share per second; 1e-8 by
	// default: a crystal of 1 ppm/K whose temperature changes by a hundredth of a
	// degree a second. In (0, 1e-3].
	Wander float64
}

func (c Config) withDefaults() Config {
	if c.Keep == 0 {
		c.Keep = 10 * time.Second
	}
	if c.Points == 0 {
		c.Points = 64
	}
	if c.MaxDrift == 0 {
		c.MaxDrift = 500e-6
	}
	if c.Wander == 0 {
		c.Wander = 1e-8
	}
	return c
}

// Validate returns an error that names the first field out of its range, with defaults for
// zero fields.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Keep < 10*time.Millisecond:
		return fmt.Errorf("clocksync: the least delay of every %v would be kept; it takes 10ms at least", c.Keep)
	case c.Points < 2 || c.Points > 1024:
		return fmt.Errorf("clocksync: %d points; there are 2 to 1024", c.Points)
	case !(c.MaxDrift > 0 && c.MaxDrift <= 0.1):
		return fmt.Errorf("clocksync: a drift of at most %g; it is above 0 and at most 0.1", c.MaxDrift)
	case !(c.Wander > 0 && c.Wander <= 1e-3):
		return fmt.Errorf("clocksync: a drift that changes by at most %g a second; it is above 0 and at most 1e-3", c.Wander)
	}
	return nil
}
