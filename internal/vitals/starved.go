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

// errElsewhere is why no process of the broker is watched where nothing is amiss.
var errElsewhere = errors.New("no other process of this machine has the other ends of the connections")

// sourceWatcher is both.
type sourceWatcher interface {
	source
	watcher
}

// starvedFrom is how many times as long as with processors of its own what is in a queue of
// the broker must wait for the broker to be called starved. A percentile that is three times
// as large as without the generator is wrong.
const starvedFrom = 3

// delay is by how much what is in a thread's queue waits longer because the thread waited
// for a processor, in length ns ([stats.QueueDelay]).
func (t threadTime) delay(length int64) float64 {
	return stats.QueueDelay(float64(t.ran)/float64(length), float64(t.waited)/float64(length))
}

// typical returns the thread by which half of the work is done that all threads did in
// length ns: by it and by those whose queues were delayed less. Threads that hardly run,
// such as those that compile or write a log, weigh as little. ok is false where none ran.
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
