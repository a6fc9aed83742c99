package schedule

import (
	"math"
	"sort"
	"time"
)

// Most returns a number of messages, over all producers, that no stretch of the
// window of the given length exceeds, and that some stretch of twice that length
// comes to. Random arrivals exceed it by chance once in a thousand million
// stretches. It takes a moment for each such length that the window has.
func (p *Plan) Most(length time.Duration) uint64 {
	f, step := &p.flows[Window], max(int64(length), 1)
	before := func(t int64) int64 { // messages due before t
		return f.first + int64(sort.Search(int(f.last-f.first), func(i int) bool { return f.at(f.first+int64(i)) >= t }))
	}
	// Any stretch lies in two adjacent steps.
	var most, last, this int64
	for from, n := int64(0), f.first; from < p.window; from += step {
		next := f.last
		if from < p.window-step {
			next = before(from + step)
		}
		last, this, n = this, next-n, next
		most = max(most, last+this)
	}
	if p.random {
		most += int64(math.Ceil(6 * math.Sqrt(float64(most))))
	}
	return uint64(most)
}
