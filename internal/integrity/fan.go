package integrity

import (
	"sync"
	"sync/atomic"
)

// Fan counts, for each message of one stream, how many delivery groups have received it and
// when the latest did, to find the first and the last delivery of a fan-out. It remembers
// only the most recent messages: a delivery of an older message counts as neither.
type Fan struct {
	ring []atomic.Pointer[fanChunk] // read without the lock; chunk numbers in a slot only grow
	mu   sync.Mutex                 // guards the replacement of a chunk in ring
}

const fanSpan = 1024

type fanChunk struct {
	number uint64
	count  [fanSpan]atomic.Uint32
	latest [fanSpan]atomic.Int64
}

// NewFan returns a Fan that remembers at least span messages, limited to 4,096
// to 1,048,576. A message takes 12 bytes.
func NewFan(span int) *Fan {
	n := 4
	for n*fanSpan < span && n < 1024 {
		n *= 2
	}
	return &Fan{ring: make([]atomic.Pointer[fanChunk], n)}
}

// Add records that one more group received seq at the instant at (ns). It returns
// how many groups have it now and the latest of their instants, or 0 groups if the
// message is too old. The call that counts the last group returns the latest
// instant of all groups. Safe for concurrent use; allocates once in 1,024 messages.
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
	// latest is raised before count: the goroutine that counts the last group then sees all instants.
	for old := c.latest[i].Load(); at > old && !c.latest[i].CompareAndSwap(old, at); old = c.latest[i].Load() {
	}
	groups = c.count[i].Add(1)
	return groups, c.latest[i].Load()
}
