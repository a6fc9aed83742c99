package schedule

import (
	"math"
	"sort"
	"time"
)

// Most returns an upper bound of the number of messages, over all producers, that
// are due in any stretch of the window of the given length. For schedules that are
// not random, some stretch of twice that length has that many. Random arrivals
// exceed it by chance in one of 10⁹ stretches. Its running time is proportional to
// the window's length divided by the given length.
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
