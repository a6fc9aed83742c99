package vitals

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

	"sixnines/internal/stats"
)

// Connection is a TCP connection of this process, by its two ends.
type Connection struct{ Local, Remote netip.AddrPort }

// errElsewhere says that no process of the broker runs on this machine. It is not a failure.
var errElsewhere = errors.New("the other ends of the connections belong to no other process of this machine")

// sourceWatcher is a source of values and a watcher of pauses.
type sourceWatcher interface {
	source
	watcher
}

// starvedFrom is the factor by which messages in a broker's queue wait longer, compared with
// a broker that has processors of its own, from which on the broker counts as starved. A
// percentile that the generator makes three times as large is wrong.
const starvedFrom = 3

// delay returns the factor by which messages in a thread's queue wait longer because the
// thread waited for a processor, over an interval of length ns ([stats.QueueDelay]).
func (t threadTime) delay(length int64) float64 {
	return stats.QueueDelay(float64(t.ran)/float64(length), float64(t.waited)/float64(length))
}

// typical returns the median thread by delay in length ns, weighted by the time that each
// thread ran: threads that hardly run, such as those that compile or write a log, count
// little. It sorts threads. ok is false if no thread ran.
func typical(threads []threadTime, length int64) (t threadTime, ok bool) {
	slices.SortFunc(threads, func(a, b threadTime) int { return cmp.Compare(a.delay(length), b.delay(length)) })
	var all, done int64
	for _, t := range threads {
		all += t.ran
	}
	for _, t := range threads {
		if done += t.ran; done > 0 && 2*done >= all {
			return t, true
		}
	}
	return threadTime{}, false
}
