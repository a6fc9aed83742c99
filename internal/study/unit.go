package study

import (
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Unit is the unit of a figure.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	PerSecond   Unit = "/s"  // messages
	BytesRate   Unit = "B/s" // bytes a second
	Bytes       Unit = "B"
	Seconds     Unit = "s" // seconds of processor time per message
	Count       Unit = "1"
	Part        Unit = "" // a share or a ratio
)

// plainFigures returns the figures that are not percentiles, with their units.
func plainFigures() map[string]Unit {
	return map[string]Unit{"max": Nanoseconds, "rate.asked": PerSecond, "rate.sent": PerSecond, "rate.received": PerSecond, "rate.sender": PerSecond, "rate.bytes": BytesRate,
		"cpu.broker": Seconds, generatorUse: Seconds, "memory.broker": Bytes, "disk.read": Bytes, "disk.write": Bytes,
		"availability": Part, "fill": PerSecond, "drain": PerSecond, "sender.pause": Nanoseconds,
		"bench.op": Nanoseconds, "bench.p99": Nanoseconds, "bench.allocs": Count, "bench.bytes": Bytes}
}

// FigureNames returns the names of the figures that [Read] knows besides percentiles, sorted.
func FigureNames() []string {
	var all []string
	for name := range plainFigures() {
		all = append(all, name)
	}
	for name := range costFigures() {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// percentile returns the percentile of a figure's name, such as p50 or p99.9.
func percentile(name string) (text result.Percentile, percent float64, ok bool) {
	written, ok := strings.CutPrefix(name, "p")
	percent, err := strconv.ParseFloat(written, 64)
	return result.Percentile(written), percent, ok && err == nil && percent > 0 && percent < 100 && strings.Trim(written, "0123456789.") == ""
}

// UnitOf returns the unit of a figure, which may be a quotient of two (p99.9/p50); ok is
// false for an unknown figure.
func UnitOf(name string) (u Unit, ok bool) {
	if over, under, both := strings.Cut(name, "/"); both {
		_, first := UnitOf(over)
		_, second := UnitOf(under)
		return Part, first && second && !strings.Contains(under, "/")
	}
	if _, _, is := percentile(strings.TrimPrefix(name, outsidePrefix)); is {
		return Nanoseconds, true
	}
	if u, ok = plainFigures()[name]; !ok {
		u, ok = costFigures()[name]
	}
	return u, ok
}

// figureHint suggests known figures instead of an unknown name.
func figureHint(name string) string {
	if near := spell.Nearest(name, FigureNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are percentiles such as p99.9, and outside.p99.9 of what actions had no effect on, and " + strings.Join(FigureNames(), ", ")
}
