package scenario

import (
	"math"
	"time"
)

// Rate is a number of messages per time, kept as a fraction so that schedules
// stay exact: 100/3s is not 33.333/s. The zero value is "not given".
type Rate struct {
	Messages uint64        // numerator
	Per      time.Duration // denominator
}

// MaxRate is the rate of a load that goes flat out.
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
