package integrity

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// chunkSpan is the number of sequence numbers in one chunk of a ledger.
const chunkSpan = 4096

// incompleteLimit bounds the incomplete chunks that a ledger keeps beyond its ring:
// 65,536 of them are 36 MiB and span 268 million messages.
const incompleteLimit = 1 << 16

// Mark is the result of ticking off a sequence number.
type Mark int

// The outcomes of Ledger.Mark.
const (
	New       Mark = iota
	Duplicate      // ticked off before
	Late           // beyond the ledger's memory: new or duplicate, unknown which
)

// Ledger ticks off the sequence numbers of one stream, for one delivery group
// or for its acknowledgements.
//
// The recent numbers are bitmaps (chunks) of 4,096 in a ring, set without locks by any
// number of goroutines. When a chunk leaves the ring, it is reduced to one bit if it is
// complete and kept otherwise. So memory grows with the number of chunks in which
// something is missing, and little with the run's length.
//
// mu guards the replacement of chunks and all that has left the ring. A Mark that found a
// chunk in the ring may set a bit in it after another Mark has retired the chunk. The bit
// is not lost: an incomplete chunk is kept itself, not copied, and in a complete one the
// bit is set already. Only a chunk that had to be forgotten may lose it.
type Ledger struct {
	ring []atomic.Pointer[chunk] // read without the lock; chunk numbers in a slot only grow

	mu         sync.Mutex
	incomplete map[uint64]*chunk // incomplete chunks that left the ring, at most incompleteLimit
	done       []uint64          // a bit for each complete chunk that left the ring
	gone       []count           // chunks that left the ring when incomplete was full; in order if sorted
	sorted     bool
	late       int64 // Marks that returned Late

	journal bool     // what News has not had is remembered; fixed before the first Mark
	left    []*chunk // with a journal: those that left the ring, complete or forgotten, and News has not had; guarded by mu
}

// count is what a ledger knows of a chunk that it has forgotten.
type count struct {
	number uint64
	ticked int64 // numbers
}

// Gap is a range of numbers of which a ledger has forgotten which were ticked off.
type Gap struct {
	From, To uint64 // To is not in the range
	Missing  int64  // numbers that were not ticked off
}

type chunk struct {
	number uint64
	bits   [chunkSpan / 64]atomic.Uint64
	told   *[chunkSpan / 64]uint64 // what News has had of it, which is the only one to read or write it; nil: nothing
}

func (c *chunk) has(seq uint64) bool {
	return c.bits[seq%chunkSpan/64].Load()>>(seq%64)&1 != 0
}

func (c *chunk) complete() bool {
	for i := range c.bits {
		if c.bits[i].Load() != ^uint64(0) {
			return false
		}
	}
	return true
}

// NewLedger returns a ledger whose ring spans at least span messages, limited to
// 16,384 to 4,194,304. Beyond the ring a ledger is as exact, but takes a lock.
func NewLedger(span int) *Ledger {
	n := 4
	for n*chunkSpan < span && n < 1024 {
		n *= 2
	}
	return &Ledger{ring: make([]atomic.Pointer[chunk], n)}
}

// Mark ticks off seq. It is safe for concurrent use and allocates once in
// 4,096 numbers.
func (l *Ledger) Mark(seq uint64) Mark {
	number := seq / chunkSpan
	c := l.ring[number%uint64(len(l.ring))].Load()
	if c == nil || c.number != number {
		var m Mark
		if c, m = l.chunkOf(number); c == nil {
			return m
		}
	}
	bit := uint64(1) << (seq % 64)
	if c.bits[seq%chunkSpan/64].Or(bit)&bit != 0 {
		return Duplicate
	}
	return New
}

// chunkOf finds or makes a chunk that was not in its slot of the ring. If it returns
// nil, Mark is the result for each number of the chunk.
func (l *Ledger) chunkOf(number uint64) (*chunk, Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.ring[number%uint64(len(l.ring))]
	old := slot.Load()
	switch {
	case old == nil:
	case old.number == number:
		return old, New
	case old.number < number:
		l.retire(old)
	default: // older than the ring
		if c := l.incomplete[number]; c != nil {
			return c, New
		}
		if l.isDone(number) {
			return nil, Duplicate
		}
		if len(l.incomplete) >= incompleteLimit {
			l.late++
			return nil, Late
		}
		c := &chunk{number: number}
		l.keep(c)
		return c, New
	}
	c := l.incomplete[number] // a ring that jumped ahead and back
	if c == nil {
		c = &chunk{number: number}
	}
	slot.Store(c)
	return c, New
}

// retire stores a chunk that leaves the ring. The caller holds mu.
func (l *Ledger) retire(c *chunk) {
	complete := c.complete()
	if l.journal && (complete || len(l.incomplete) >= incompleteLimit) {
		l.left = append(l.left, c)
	}
	if !complete {
		if len(l.incomplete) < incompleteLimit {
			l.keep(c)
		} else if l.incomplete[c.number] != c { // else it had left the ring before
			n := count{number: c.number}
			for i := range c.bits {
				n.ticked += int64(bits.OnesCount64(c.bits[i].Load()))
			}
			l.gone, l.sorted = append(l.gone, n), false
		}
		return
	}
	for uint64(len(l.done)) <= c.number/64 {
		l.done = append(l.done, 0)
	}
	l.done[c.number/64] |= 1 << (c.number % 64)
}

func (l *Ledger) keep(c *chunk) {
	if l.incomplete == nil {
		l.incomplete = map[uint64]*chunk{}
	}
	l.incomplete[c.number] = c
}

func (l *Ledger) isDone(number uint64) bool {
	return number/64 < uint64(len(l.done)) && l.done[number/64]>>(number%64)&1 != 0
}

// Forgotten returns how many numbers were ticked off but forgotten for lack of memory, see Gaps,
// and how many Marks returned Late. Call it after the run.
func (l *Ledger) Forgotten() (ticked, late int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.gone {
		ticked += n.ticked
	}
	return ticked, l.late
}

// Gaps returns the ranges of forgotten numbers in [from, to), in order. Call it after the run.
func (l *Ledger) Gaps(from, to uint64) (all []Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.sorted {
		slices.SortFunc(l.gone, func(a, b count) int { return cmp.Compare(a.number, b.number) })
		l.sorted = true
	}
	first, _ := slices.BinarySearchFunc(l.gone, from/chunkSpan, func(n count, number uint64) int { return cmp.Compare(n.number, number) })
	for _, n := range l.gone[first:] {
		g := Gap{From: max(from, n.number*chunkSpan), To: min(to, (n.number+1)*chunkSpan)}
		if g.From >= g.To {
			break
		}
		g.Missing = min(chunkSpan-n.ticked, int64(g.To-g.From))
		all = append(all, g)
	}
	return all
}

// Has reports whether seq was ticked off. Forgotten numbers count as not ticked off. Call
// it after the run.
func (l *Ledger) Has(seq uint64) bool {
	number := seq / chunkSpan
	if c := l.ring[number%uint64(len(l.ring))].Load(); c != nil && c.number == number {
		return c.has(seq)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.incomplete[number]; c != nil {
		return c.has(seq)
	}
	return l.isDone(number)
}

// Highest returns the highest number that was ticked off; ok is false for an empty
// ledger. Call it after the run.
func (l *Ledger) Highest() (seq uint64, ok bool) {
	for i := range l.ring {
		c := l.ring[i].Load()
		if c == nil || ok && c.number < seq/chunkSpan {
			continue
		}
		for word := len(c.bits) - 1; word >= 0; word-- {
			if n := bits.Len64(c.bits[word].Load()); n > 0 {
				seq, ok = c.number*chunkSpan+uint64(word*64+n-1), true
				break
			}
		}
	}
	return seq, ok
}

// Missing yields the numbers in [from, to) that were not ticked off, ascending, without those in
// Gaps. Call it after the run.
func (l *Ledger) Missing(from, to uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		gaps := l.Gaps(from, to)
		for seq := from; seq < to; seq++ {
			if len(gaps) > 0 && seq == gaps[0].From {
				seq, gaps = gaps[0].To-1, gaps[1:]
				continue
			}
			if seq%chunkSpan == 0 && seq+chunkSpan <= to && l.allOf(seq/chunkSpan) {
				seq += chunkSpan - 1
				continue
			}
			if !l.Has(seq) && !yield(seq) {
				return
			}
		}
	}
}

func (l *Ledger) allOf(number uint64) bool {
	if c := l.ring[number%uint64(len(l.ring))].Load(); c != nil && c.number == number {
		return c.complete()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.incomplete[number]; c != nil {
		return c.complete()
	}
	return l.isDone(number)
}

// Journal makes the ledger remember what News has not had yet, in twice the memory. It is called before the
// first Mark.
func (l *Ledger) Journal() { l.journal = true }

// News calls each with the numbers that were ticked off since the last call: of a chunk that begins with from,
// those of the bits set in words, which is valid until each returns. Numbers that are ticked off meanwhile
// may come with the next call. It is safe for concurrent use with Mark, but not with itself.
func (l *Ledger) News(each func(from uint64, words []uint64)) {
	l.mu.Lock()
	var all []*chunk
	for i := range l.ring {
		if c := l.ring[i].Load(); c != nil {
			all = append(all, c)
		}
	}
	for _, c := range l.incomplete {
		all = append(all, c)
	}
	all = append(all, l.left...)
	l.left = nil
	l.mu.Unlock()
	var news [chunkSpan / 64]uint64
	slices.SortFunc(all, func(a, b *chunk) int { return cmp.Compare(a.number, b.number) })
	for _, c := range slices.Compact(all) {
		if c.told == nil {
			c.told = new([chunkSpan / 64]uint64)
		}
		found := uint64(0)
		for i := range c.bits {
			b := c.bits[i].Load()
			news[i], c.told[i] = b&^c.told[i], b
			found |= news[i]
		}
		if found != 0 {
			each(c.number*chunkSpan, news[:])
		}
	}
}
