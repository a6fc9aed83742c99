// Package clock reads and waits on one absolute monotonic clock.
//
// Every instant in Sixnines is a count of nanoseconds on CLOCK_MONOTONIC, so
// that the instants of two processes of one machine can be subtracted from
// each other (if their [Domain] is the same). Go hides that clock's origin: a
// time.Time holds its monotonic reading relative to the start of the process.
// The mapping between the two is measured once, at start, by bracketing a
// clock_gettime between two of Go's own readings; since both read the same
// clock it never changes afterwards, and [Now] is time.Since plus a constant.
//
// Why not the obvious alternatives: clock_gettime through golang.org/x/sys is a
// real system call and costs several times as much; time.Now reads the wall
// clock too and costs about twice as much; runtime.nanotime is no faster than
// time.Since and needs a linkname.
//
// Outside Linux the origin of [Now] is arbitrary for each process, [Domain]
// never equals another process's, and the sleeps are time.Sleep.
//
// Inside a testing/synctest bubble Now follows the bubble's fake clock with
// another origin. The sleeps of this package wait in real time there, except those of a
// [Precise] without threads.
package clock

import "time"

// mapping relates Go's monotonic readings to the absolute clock. It is never
// written after its measurement.
type mapping struct {
	base   time.Time     // an instant with a monotonic reading
	offset int64         // the absolute clock at base, in ns
	width  time.Duration // how long the bracket was from which offset comes
}

// origin is measured while the package is initialised, before any load exists
// that could widen the bracket.
var origin = bracketBest(absolute, 100)

// bracketBest reads the absolute clock between two of Go's readings, n times,
// and keeps the narrowest bracket, the one with the least interruption. It
// assumes that the absolute reading is from the bracket's middle; the error is
// at most half of the bracket's width.
func bracketBest(read func() int64, n int) mapping {
	base := time.Now()
	best := mapping{base: base, width: -1}
	for range n {
		before := time.Since(base)
		abs := read()
		after := time.Since(base)
		if width := after - before; best.width < 0 || width < best.width {
			best.width = width
			best.offset = abs - int64(before+width/2)
		}
	}
	return best
}

// Now returns the nanoseconds on CLOCK_MONOTONIC; outside Linux those since an
// arbitrary instant before the start of the process. It never goes backwards
// as seen by one goroutine, costs some 25 to 50 ns and does not allocate. It
// differs from what clock_gettime says by a constant of at most half of
// [Bracket]. Safe for concurrent use.
func Now() int64 {
	return int64(time.Since(origin.base)) + origin.offset
}

// At returns what Now would have returned when t was read. It is for callers that also need
// the time of day of the same instant. t must have a monotonic reading. Safe for concurrent
// use.
func At(t time.Time) int64 { return int64(t.Sub(origin.base)) + origin.offset }

// Bracket returns the width of the bracket from which the mapping between Go's
// clock and CLOCK_MONOTONIC was taken. Instants of two processes of one domain
// are comparable to within the mean of their two brackets. It is zero where no
// mapping is needed.
func Bracket() time.Duration { return origin.width }

// Wall returns the time of day without a monotonic reading: for dates and
// labels. Differences of two Wall times follow every correction of the wall
// clock and must not be used as durations.
func Wall() time.Time { return time.Now().Round(0) }

// WallAhead returns how far the wall clock is ahead of [Now], ns, and the width of the bracket in which both were read: the error
// is at most half of it.
func WallAhead() (ahead, width int64) {
	for range 5 { // the narrowest had no interruption
		before := Now()
		t := time.Now() // reads the wall clock first
		after := At(t)
		if w := max(after-before, 1); width == 0 || w < width {
			ahead, width = t.UnixNano()-before-w/2, w
		}
	}
	return ahead, width
}
