package integrity

import (
	"sync"
	"sync/atomic"
)

// Instants holds an instant for each number of one stream, exactly, 8 bytes each. Set is safe
// for concurrent use.
type Instants struct {
	budget *atomic.Int64 // how many more chunks may be made, over all streams that share it

	table atomic.Pointer[[]*instantChunk] // by chunk number, read without the lock and never changed; nil before the first
	mu    sync.Mutex                      // guards the replacement of table
}

type instantChunk [chunkSpan]atomic.Int64

// InstantChunk is the size of a chunk of Instants in bytes.
const InstantChunk = 8 * chunkSpan

// NewInstants returns Instants that make at most as many chunks as budget says, which others may
// share. When that is used up, instants of numbers in other chunks are not kept.
func NewInstants(budget *atomic.Int64) *Instants { return &Instants{budget: budget} }

// Set notes the instant of seq, ns, not 0. It allocates once in 4,096 numbers.
func (x *Instants) Set(seq uint64, at int64) {
	c := x.chunk(seq / chunkSpan)
	if c == nil {
		if c = x.grow(seq / chunkSpan); c == nil {
			return
		}
	}
	c[seq%chunkSpan].Store(at)
}

// At returns the instant of seq; ok is false if it was not set, or not kept.
func (x *Instants) At(seq uint64) (at int64, ok bool) {
	if c := x.chunk(seq / chunkSpan); c != nil {
		at = c[seq%chunkSpan].Load()
	}
	return at, at != 0
}

func (x *Instants) chunk(number uint64) *instantChunk {
	if t := x.table.Load(); t != nil && number < uint64(len(*t)) {
		return (*t)[number]
	}
	return nil
}

// grow makes a chunk, in a copy of the table; nil: the budget is used up.
func (x *Instants) grow(number uint64) *instantChunk {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.chunk(number); c != nil {
		return c // another goroutine has made it
	}
	if x.budget.Add(-1) < 0 {
		x.budget.Add(1)
		return nil
	}
	var table []*instantChunk
	if t := x.table.Load(); t != nil {
		table = append(table, *t...)
	}
	for uint64(len(table)) <= number {
		table = append(table, nil)
	}
	c := new(instantChunk)
	table[number] = c
	x.table.Store(&table)
	return c
}
