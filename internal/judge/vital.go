package judge

import (
	"cmp"
	"slices"

	"sixnines/result"
)

// factOnline and factAllowed list the machine's processors and those on which the generator may
// run, as the kernel does.
const factOnline, factAllowed = "online", "processors allowed"

// sum adds a vital over points; seen is false if no point has it.
func sum(points []*result.Point, name result.Vital) (v float64, seen bool) {
	for _, p := range points {
		if x, ok := p.Vitals[name]; ok {
			v, seen = v+x, true
		}
	}
	return v, seen
}

// highest is the largest value of a vital.
func highest(points []*result.Point, name result.Vital) (v float64, seen bool) {
	for _, p := range points {
		if x, ok := p.Vitals[name]; ok {
			v, seen = max(v, x), true
		}
	}
	return v, seen
}

// lasting returns the value that a vital had or exceeded for a second in all, or in the
// worst interval if that is longer, so that it does not depend on the length of intervals.
// It is 0 if the intervals that have the vital are shorter than a second in all.
func lasting(points []*result.Point, name result.Vital) float64 {
	type part struct {
		value  float64
		length int64
	}
	var parts []part
	for _, p := range points {
		if x, ok := p.Vitals[name]; ok {
			parts = append(parts, part{x, p.End - p.Start})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(b.value, a.value) })
	var length int64
	for _, p := range parts {
		if length += p.length; float64(length) >= wholeSecond {
			return p.value
		}
	}
	return 0
}

// mean returns a vital's mean over points, weighted by their lengths, as shares of time need.
// seen is false if no point of any length has it.
func mean(points []*result.Point, name result.Vital) (v float64, seen bool) {
	var length float64
	for _, p := range points {
		if x, ok := p.Vitals[name]; ok && p.End > p.Start {
			w := float64(p.End - p.Start)
			v, length = v+x*w, length+w
		}
	}
	if length == 0 {
		return 0, false
	}
	return v / length, true
}
