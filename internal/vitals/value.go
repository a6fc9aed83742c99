package vitals

import (
	"slices"
	"time"

	"sixnines/result"
)

// Value is one figure of one interval, in the unit that [Describe] gives for Name.
type Value struct {
	Name  result.Vital
	Value float64
}

// Sample has the values of the interval between two calls of [Monitor.Sample].
type Sample struct {
	// Start and End bound the interval, in ns as internal/clock counts.
	Start, End int64
	// Values has each name at most once. A value whose source could not be read
	// is absent, never zero; see [Monitor.Missing].
	Values []Value
}

// Elapsed returns the length of the interval.
func (s Sample) Elapsed() time.Duration { return time.Duration(s.End - s.Start) }

// Lookup returns the value called name, false if the sample has none.
func (s Sample) Lookup(name result.Vital) (Value, bool) {
	for _, v := range s.Values {
		if v.Name == name {
			return v, true
		}
	}
	return Value{}, false
}

// describe lists every value that a sample can have.
func describe() []result.VitalProperties {
	return slices.DeleteFunc(result.Vitals(), func(p result.VitalProperties) bool { return !p.Monitored })
}
