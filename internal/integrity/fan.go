package integrity

import (
	"sync"
	"sync/atomic"
)

// Fan counts, for each message of one stream, how many delivery groups have
// it, and since when, to tell the first and the last of a fan-out. It remembers the most recent
// messages only: a delivery that comes later than its memory spans counts as
// neither first nor last.
type Fan struct {
	ring []atomic.Pointer[fanChunk]
	mu   sync.Mutex
}

const fanSpan = 1024

type fanChunk struct {
	number uint64
	count  [fanSpan]atomic.Uint32
	latest [fanSpan]atomic.Int64
}

// NewFan returns a Fan that remembers at least span messages, though at least
// 4,096 and at most 1,048,576, of 12 bytes each.
func NewFan(span int) *Fan {
	n := 4
	for n*fanSpan < span && n < 1024 {
		n *= 2
	}
	return &Fan{ring: make([]atomic.Pointer[fanChunk], n)}
}

// Add counts one more group that has seq, since the instant at, and returns how
// many have it now and the latest of their instants; 0 groups if the message is
// beyond memory. The call that counts the last group returns the latest instant
// of all, whichever group's it was. Safe for concurrent use; allocates once in
// 1,024 messages.
func (f *Fan) Add(seq uint64, at int64) (groups uint32, latest int64) {
	number := seq / fanSpan
	slot := &f.ring[number%uint64(len(f.ring))]
	c := slot.Load()
	if c == nil || c.number != number {
		f.mu.Lock()
		c = slot.Load()
		if c == nil || c.number < number {
			c = &fanChunk{number: number}
			slot.Store(c)
		}
		f.mu.Unlock()
		if c.number != number {
			return 0, at
		}
	}
	i := seq % fanSpan
	for old := c.latest[i].Load(); at > old && !c.latest[i].CompareAndSwap(old, at); old = c.latest[i].Load() {
	}
	groups = c.count[i].Add(1)
	return groups, c.latest[i].Load()
}
